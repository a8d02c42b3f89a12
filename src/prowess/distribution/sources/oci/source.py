"""A repository in a container registry as a source of skills: one skill, or an index of several.

Versions are the tags that are semantic versions (`1.2.0`, `v1.2.0`; a tag has `_` in the place of `+`). Without one,
the tag `latest` is used. The manifest's digest is the artifact in the lock; the layer is checked by the manifest.
"""

from __future__ import annotations

import json
import os
from itertools import islice
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess._internal.files.open_flags import Closing
from prowess.distribution.sources.archives.unpacking import unpack_archive
from prowess.distribution.sources.directory import copy_skill
from prowess.distribution.sources.fetched_skill import version_of_copy
from prowess.distribution.sources.http.client import HttpClient
from prowess.distribution.sources.oci import manifest as oci
from prowess.distribution.sources.oci.registry import Repository
from prowess.distribution.sources.protocol import OFFLINE, Offer, Signature
from prowess.errors import DistributionError, UnavailableError
from prowess.lockfile.version_ranges import is_semantic, newest_first

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.distribution.sources.oci.manifest import Descriptor, Manifest
    from prowess.distribution.sources.protocol import Access, Fetched
    from prowess.distribution.sources.staged_tree import StagedTree
    from prowess.lockfile.source_reference import SourceReference

_MAX_SKILLS = 1000  # in one index
_MAX_REFERRERS = 32  # manifests, and signatures in all of them
_MAX_BUNDLE = 1 << 20  # bytes of a signature


class OciSource(Closing):
    """The skills of one repository (`SkillSource`)."""

    def __init__(self, reference: SourceReference, scratch: str, access: Access) -> None:
        self.reference = reference
        self.problems: tuple[str, ...] = ()
        self._scratch, self._offline = scratch, access.offline
        self._client = HttpClient(allowed_hosts=access.redirect_hosts)
        self._repository = Repository(reference.location, self._client)
        self._tags: dict[str, str] | None = None

    @property
    def contacted(self) -> tuple[str, ...]:
        """See `SkillSource`."""
        return self._client.contacted

    def versions(self) -> tuple[str, ...]:
        """See `SkillSource`."""
        return tuple(version for version in newest_first(self._versions()) if version is not None)

    def offers(self, version: str | None = None) -> tuple[Offer, ...]:
        """See `SkillSource`. The version may also be a tag or the digest of a manifest."""
        known = self._versions()
        if version is None:
            newest = next(iter(self.versions()), None)
            tag = "latest" if newest is None else known[newest]
        else:
            tag = known.get(version.removeprefix("v"), version)
        found = self._repository.manifest(tag)
        if found is None:
            there = ", ".join(self.versions()) or "none"
            raise DistributionError(
                f"{self.reference.source} has no version {version or tag!r}; versions there: {there}"
            )
        stated = next((text for text, of in known.items() if of == tag), None)
        manifest = oci.parse_manifest(found[0], f"the manifest {tag} of {self.reference.source}")
        problems: list[str] = []
        offers = sorted(self._offers(manifest, found[1], stated, problems), key=lambda offer: offer.name)
        self.problems = tuple(problems)
        return tuple(offers)

    def fetch(self, offer: Offer, into: str) -> Fetched:
        """See `SkillSource`."""
        digest = offer.revision or ""
        what = f"{offer.name} from {self.reference.source}"
        layer = oci.parse_manifest(self._manifest(digest), what).only_layer(what)
        signatures = tuple(self._signatures(digest))  # first, so that nothing was written if this fails
        staged = unpack_layer(self._repository.blob(layer), into, offer.name, scratch=self._scratch, what=what)
        version = version_of_copy(staged.directory, offer.name, offer.version, what)
        found = replace(offer, version=version)
        return staged.fetched(found, self.reference.source, artifact=digest, signatures=signatures)

    def close(self) -> None:
        """End connections."""
        self._client.close()

    def _versions(self) -> dict[str, str]:
        """Return the tag of each version."""
        if self._offline:
            raise UnavailableError(self.reference.source, None, *OFFLINE)
        if self._tags is None:
            tags = self._repository.tags()
            named = {tag.removeprefix("v").replace("_", "+"): tag for tag in sorted(tags, reverse=True)}
            self._tags = {version: tag for version, tag in named.items() if is_semantic(version)}
        return self._tags

    def _manifest(self, digest: str) -> bytes:
        found = self._repository.manifest(digest)
        if found is None:
            raise DistributionError(f"{self.reference.source} has no manifest {digest}")
        return found[0]

    def _offers(self, manifest: Manifest, digest: str, version: str | None, problems: list[str]) -> Iterator[Offer]:
        if not manifest.manifests:
            yield self._offer(manifest, digest, version)
            return
        for row in manifest.manifests[:_MAX_SKILLS]:
            if row.media_type != oci.MANIFEST_TYPE or not (row.artifact_type or oci.NAME in row.annotations):
                problems.append(f"{row.digest}: left out, because its index does not call it an artifact")
                continue
            below = oci.parse_manifest(self._manifest(row.digest), f"{row.digest} of {self.reference.source}")
            yield self._offer(below, row.digest, None)
        if len(manifest.manifests) > _MAX_SKILLS:
            problems.append(f"and {len(manifest.manifests) - _MAX_SKILLS} more, which were not read")

    def _offer(self, manifest: Manifest, digest: str, version: str | None) -> Offer:
        return offer_of(manifest, digest, version, self.reference.location)

    def _signatures(self, digest: str) -> Iterator[Signature]:
        for layer in islice(self._bundles(digest), _MAX_REFERRERS):
            yield Signature(kind="bundle", data=self._repository.blob(layer))

    def _bundles(self, digest: str) -> Iterator[Descriptor]:
        for row in self._repository.referrers(digest)[:_MAX_REFERRERS]:
            kind = f"a signature of {self.reference.source}"
            for layer in oci.parse_manifest(self._manifest(row.digest), kind).layers:
                if layer.media_type.startswith(oci.BUNDLE_TYPES) and layer.size <= _MAX_BUNDLE:
                    yield layer


def offer_of(manifest: Manifest, digest: str, version: str | None, location: str) -> Offer:
    """Return what a manifest of `registry/path` states. `version` is that of its tag, if it has one."""
    above, _, last = location.rpartition("/")
    stated = manifest.annotations
    return Offer(
        name=stated.get(oci.NAME) or last,
        package=above.rpartition("/")[2] or None,
        version=version or stated.get(oci.VERSION) or None,
        revision=digest,
        description=stated.get(oci.DESCRIPTION, ""),
        requires=_requires(stated.get(oci.REQUIRES)),
    )


def unpack_layer(data: bytes, into: str, name: str, *, scratch: str, what: str) -> StagedTree:
    """Unpack the bytes of a layer, whose digest was checked, to `into/<name>`.

    The skill is the root of the layer or its only directory.

    Raises:
        UnsafePathError, LimitExceededError, DistributionError: see `unpack_archive`.
    """
    wrapper = f"layer-{len(os.listdir(scratch))}"
    root = unpack_archive(data, scratch, wrapper, what=what).directory
    entries = os.listdir(root)
    if len(entries) == 1 and os.path.isdir(os.path.join(root, entries[0])):
        root = os.path.join(root, entries[0])
    return copy_skill(root, into, name)


def _requires(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    is_list = isinstance(found, list) and all(isinstance(item, str) for item in found)
    return tuple(found) if is_list else None
