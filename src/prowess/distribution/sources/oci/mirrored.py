"""Reads a mirror: an OCI image layout with everything that a lock names, and the lock itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.distribution.sources.oci import manifest as oci
from prowess.distribution.sources.oci.layout import ImageLayout
from prowess.distribution.sources.oci.source import unpack_layer
from prowess.distribution.sources.protocol import Fetched, Signature
from prowess.errors import DistributionError, IntegrityError
from prowess.lockfile import parse_lock

if TYPE_CHECKING:
    from prowess.lockfile import LockedSkill, Lockfile

TREE = "io.agentskills.skill.tree"
LOCK_TYPE = "application/vnd.prowess.lock.v1+toml"
SIGNATURE_TYPE = "application/vnd.prowess.signatures.v1"
SIGNATURE_LAYER = "application/vnd.prowess.signature."  # the kind of the signature follows
LOCK_KEY = ("", LOCK_TYPE)


class Mirror:
    """A mirror in a directory. Nothing is contacted."""

    def __init__(self, directory: str) -> None:
        self._layout = ImageLayout(directory)
        self._found = {mirrored_key(manifest): manifest for _, manifest in read_manifests(self._layout)}
        if not self._found:
            raise DistributionError(f"{self._layout.directory} is no mirror; `prowess mirror --to DIR` writes one")

    def lock(self) -> Lockfile | None:
        """Return the lock that was mirrored, or None. Raises IntegrityError, LockfileError."""
        manifest = self._found.get(LOCK_KEY)
        if manifest is None:
            return None
        what = f"the lock in {self._layout.directory}"
        return parse_lock(self._layout.blob(manifest.only_layer(what)), what)

    def fetch(self, skill: LockedSkill, into: str, scratch: str) -> Fetched:
        """Write a locked skill to `into/<name>` and return it with the signatures that its source had.

        Raises:
            DistributionError: the mirror does not have it.
            IntegrityError: the mirror has other bytes than the lock names.
        """
        what = f"{skill.name} in the mirror {self._layout.directory}"
        manifest = self._found.get((skill.name, skill.tree))
        if manifest is None:
            raise DistributionError(
                f"the mirror {self._layout.directory} does not have {skill.name} ({skill.tree}); "
                "run `prowess mirror` again where the skill is installed"
            )
        data = self._layout.blob(manifest.only_layer(what))
        staged = unpack_layer(data, into, skill.name, scratch=scratch, what=what)
        files = staged.manifest
        if files.content_digest != skill.tree:
            raise IntegrityError(what, skill.tree, files.content_digest)
        signed = self._found.get((skill.name, f"{SIGNATURE_TYPE} {skill.tree}"))
        layers = () if signed is None else signed.layers
        return Fetched(
            name=skill.name,
            package=skill.package or None,
            version=skill.version,
            source=skill.source,
            path=skill.path or "",
            commit=skill.commit,
            artifact=skill.artifact,
            manifest=files,
            directory=staged.directory,
            signatures=tuple(self._signature(row) for row in layers),
        )

    def _signature(self, row: oci.Descriptor) -> Signature:
        return Signature(kind=row.media_type.removeprefix(SIGNATURE_LAYER), data=self._layout.blob(row))


def read_manifests(layout: ImageLayout) -> list[tuple[oci.Descriptor, oci.Manifest]]:
    """Return each row of a layout's index with its manifest. Raises IntegrityError, DistributionError."""
    return [
        (row, oci.parse_manifest(layout.blob(row), f"{row.digest} in {layout.directory}")) for row in layout.manifests()
    ]


def mirrored_key(manifest: oci.Manifest) -> tuple[str, str]:
    """Return name and tree of a mirrored skill or of its signatures, or `LOCK_KEY`.

    Both are in the manifest, because tools that carry a layout drop the annotations of its index.
    """
    if manifest.artifact_type == LOCK_TYPE:
        return LOCK_KEY
    tree = manifest.annotations.get(TREE, "")
    is_signature = manifest.artifact_type == SIGNATURE_TYPE
    return manifest.annotations.get(oci.NAME, ""), f"{SIGNATURE_TYPE} {tree}" if is_signature else tree
