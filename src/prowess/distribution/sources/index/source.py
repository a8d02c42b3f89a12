"""A site with an index of skills as a source, or a directory with the same layout.

An artifact is used only if it has the digest in the index. Version 0.1 has no digests; its files are fetched one by
one, and the lock's digest of the tree protects later installs. If the user trusts the root of the registry, the index
is the signed one (`prowess.distribution.deployment.trusted_registries`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, urljoin

from msgspec.structs import replace

from prowess._internal.files.open_flags import Closing
from prowess._internal.text.canonical_json import sha256_of
from prowess._internal.text.url_host import host_of_url
from prowess.distribution.deployment.trusted_registries import verified_site
from prowess.distribution.sources.archives.entry import MAX_PACKED
from prowess.distribution.sources.archives.unpacking import unpack_archive
from prowess.distribution.sources.directory import with_version
from prowess.distribution.sources.fetched_skill import version_of_copy
from prowess.distribution.sources.http.client import MAX_DOCUMENT
from prowess.distribution.sources.index.document import parse_index
from prowess.distribution.sources.index.site import DirectorySite, HttpSite
from prowess.distribution.sources.protocol import Offer
from prowess.distribution.sources.staged_tree import StagedTree
from prowess.errors import DistributionError, IntegrityError
from prowess.lockfile.version_ranges import newest_first

if TYPE_CHECKING:
    from prowess.distribution.sources.index.document import IndexArtifact, IndexEntry, LegacyEntry, SkillIndex
    from prowess.distribution.sources.index.site import Site
    from prowess.distribution.sources.protocol import Access, Fetched
    from prowess.lockfile.source_reference import SourceReference


class IndexSource(Closing):
    """The skills of one index (`SkillSource`). The index is read once."""

    def __init__(self, reference: SourceReference, scratch: str, access: Access) -> None:
        del scratch  # archives are unpacked in memory
        self.reference = reference
        self.problems: tuple[str, ...] = ()
        location = reference.location
        site: Site = DirectorySite(location) if reference.is_local else HttpSite(location, access)
        self._site = verified_site(site, location, access)
        self._package = None if reference.is_local else host_of_url(location)
        self._read: tuple[SkillIndex, str] | None = None

    @property
    def contacted(self) -> tuple[str, ...]:
        """See `SkillSource`."""
        return self._site.contacted

    def versions(self) -> tuple[str, ...]:
        """See `SkillSource`."""
        entries = self._index()[0].entries
        stated = {artifact.version for entry in entries for artifact in entry.artifacts}
        return tuple(version for version in newest_first(stated) if version is not None)

    def offers(self, version: str | None = None) -> tuple[Offer, ...]:
        """See `SkillSource`. A digest of an artifact is a version too."""
        index, _ = self._index()
        self.problems = index.problems
        chosen = [self._offer(entry, artifact) for entry in index.entries for artifact in _artifacts(entry, version)]
        legacy = [Offer(name=each.name, package=self._package, description=each.description) for each in index.legacy]
        if version is None:
            chosen += legacy
        elif not chosen:
            every = [self._offer(entry, artifact) for entry in index.entries for artifact in entry.artifacts]
            with_version((*every, *legacy), version, str(self.reference))  # raises, and names the versions there are
        return tuple(sorted(chosen, key=lambda offer: offer.name))

    def fetch(self, offer: Offer, into: str) -> Fetched:
        """See `SkillSource`."""
        index, base = self._index()
        for entry in index.legacy:
            if entry.name == offer.name:
                staged = self._stage_files(entry, base, into)
                return self._fetched(offer, staged, None)
        for known in index.entries:
            for artifact in known.artifacts:
                if known.name == offer.name and artifact.digest == offer.revision:
                    return self._fetched(offer, self._stage(offer, artifact, base, into), artifact.digest)
        raise DistributionError(f"{self.reference} has no skill {offer.name!r} in this version")

    def close(self) -> None:
        """End connections."""
        self._site.close()

    def _index(self) -> tuple[SkillIndex, str]:
        if self._read is None:
            file = self._site.index(MAX_DOCUMENT)
            self._read = parse_index(file.data, file.url), file.url
        return self._read

    def _offer(self, entry: IndexEntry, artifact: IndexArtifact) -> Offer:
        return Offer(
            name=entry.name,
            package=self._package,
            version=artifact.version,
            revision=artifact.digest,
            description=entry.description,
            requires=artifact.requires,
            yanked=artifact.yanked,
        )

    def _stage(self, offer: Offer, artifact: IndexArtifact, base: str, into: str) -> StagedTree:
        file = self._site.read(artifact.url, base, MAX_PACKED)
        if artifact.type == "archive":
            return unpack_archive(file.data, into, offer.name, what=file.url, digest=artifact.digest)
        if (actual := sha256_of(file.data)) != artifact.digest:
            raise IntegrityError(file.url, artifact.digest, actual)
        with StagedTree(into, offer.name) as staged:
            staged.write("SKILL.md", [file.data], executable=False)
        return staged

    def _stage_files(self, entry: LegacyEntry, base: str, into: str) -> StagedTree:
        left = MAX_PACKED
        with StagedTree(into, entry.name) as staged:
            for path in entry.files:
                data = self._site.read(urljoin(f"{entry.name}/", quote(path)), base, left).data
                left -= len(data)
                staged.write(path, [data], executable=False)
        return staged

    def _fetched(self, offer: Offer, staged: StagedTree, artifact: str | None) -> Fetched:
        what = f"{offer.name} from {self.reference.source}"
        version = version_of_copy(staged.directory, offer.name, offer.version, what)
        return staged.fetched(replace(offer, version=version), self.reference.source, artifact=artifact)


def _artifacts(entry: IndexEntry, version: str | None) -> tuple[IndexArtifact, ...]:
    """Return the artifact with this version or digest, by default the newest that was not yanked."""
    if version is not None:
        return tuple(artifact for artifact in entry.artifacts if version in {artifact.version, artifact.digest})[:1]
    usable = [artifact for artifact in entry.artifacts if not artifact.yanked] or list(entry.artifacts)
    newest = newest_first({artifact.version for artifact in usable})[0]
    return (next(artifact for artifact in usable if artifact.version == newest),)
