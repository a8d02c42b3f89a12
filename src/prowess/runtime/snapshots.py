"""What was on disk when a skill was loaded: its body and the hash of each of its files.

A store keeps digests only, so another process builds the manifest again and believes it when the digest agrees. A body
is kept under the digest it was read under: the text in the instructions is the text that was loaded, or none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from prowess._internal.tree_digest import read_tree
from prowess.errors import DigestChangedError, SkillError, UnavailableError
from prowess.runtime.state import ActiveSkill

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prowess._internal.tree_digest import TreeManifest
    from prowess.catalog import Catalog


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One skill at one moment: text, hashes and facts belong together."""

    skill: ActiveSkill
    manifest: TreeManifest
    body: str


class Snapshots:
    """Bodies and manifests of this process, for one session. Every method may read the disk and blocks."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._bodies: dict[tuple[str, str], str] = {}
        self._manifests: dict[tuple[str, str], TreeManifest] = {}

    def take(self, name: str, location: str | None = None) -> Snapshot:
        """Read a listed skill as it is now.

        Raises:
            SkillNotFoundError: the catalog does not list it.
            SkillParseError: it can no longer be read as a skill.
            UnavailableError: it changes faster than it can be read.
        """
        skill = self._catalog.skill(name, location)
        entry = self._catalog.get(name, skill.location)
        manifest, content_digest = skill.manifest, skill.manifest.content_digest
        active = ActiveSkill(
            name=entry.name,
            key=entry.key,
            location=entry.location,
            root_dir=entry.root_dir,
            digest=skill.digest,
            content_digest=content_digest,
            document_digest=skill.document_digest,
            obstacle=manifest.obstacles[0] if manifest.obstacles else None,
            properties=skill.frontmatter.properties(),
        )
        self._bodies[active.location, active.document_digest] = skill.body
        self._manifests[active.location, content_digest] = manifest
        return Snapshot(skill=active, manifest=manifest, body=skill.body)

    def body(self, skill: ActiveSkill) -> str | None:
        """Return the body that was loaded, or None where the disk no longer has it and this process never read it."""
        known = self._bodies.get((skill.location, skill.document_digest))
        if known is not None:
            return known
        try:
            found = self._catalog.skill(skill.name, skill.location)
        except SkillError:
            return None
        if found.document_digest != skill.document_digest:
            return None
        self._bodies[skill.location, skill.document_digest] = found.body
        return found.body

    def is_edited(self, skill: ActiveSkill) -> bool:
        """Tell whether the files on disk are no longer those that were loaded."""
        try:
            return _read_tree(skill.name, skill.root_dir).content_digest != skill.content_digest
        except UnavailableError:
            return False

    def manifest(self, skill: ActiveSkill) -> TreeManifest:
        """Return the hashes under which the skill was loaded.

        Raises:
            DigestChangedError: this process does not know them and the files are no longer the same.
            UnavailableError: the directory cannot be read.
        """
        known = self._manifests.get((skill.location, skill.content_digest))
        if known is not None:
            return known
        manifest = _read_tree(skill.name, skill.root_dir)
        if manifest.content_digest != skill.content_digest:
            raise DigestChangedError(skill.name, ".")
        self._manifests[skill.location, skill.content_digest] = manifest
        return manifest

    def keep_only(self, skills: Iterable[ActiveSkill]) -> None:
        """Forget what belongs to no active skill."""
        active = tuple(skills)
        bodies = {(skill.location, skill.document_digest) for skill in active}
        manifests = {(skill.location, skill.content_digest) for skill in active}
        self._bodies = {key: body for key, body in self._bodies.items() if key in bodies}
        self._manifests = {key: manifest for key, manifest in self._manifests.items() if key in manifests}


def _read_tree(name: str, root: str) -> TreeManifest:
    try:
        return read_tree(root)
    except OSError as fault:
        raise UnavailableError(f"the directory of skill {name!r} ({fault.strerror})") from fault
