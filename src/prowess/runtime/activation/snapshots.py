"""Snapshots of skills as they were loaded: the body and the hash of every file.

A session store keeps only digests. Another process therefore reads the skill again and accepts it only if the digest
matches: the instructions contain the text that was loaded, or no text.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.tree_digest import read_stamped_tree, read_tree
from prowess.errors import DigestChangedError, SkillError, SkillNotFoundError, SkillParseError, UnavailableError
from prowess.format.fields.extended_fields import extended_fields
from prowess.format.limits import may_hold_commands
from prowess.runtime.state import ActiveSkill

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prowess._internal.files.tree_digest import TreeManifest
    from prowess.catalog import Catalog
    from prowess.catalog.entry import SkillEntry
    from prowess.format.fields.extended_fields import ExtendedFields
    from prowess.format.skill import Skill

_KEPT = 64  # snapshots; more than any session has active skills


class Snapshot(Struct, frozen=True, kw_only=True):
    """A skill that a session may activate: the part that the session stores, and the `source` it was made from.

    `fields` are the front matter fields that the runtime obeys. `is_plain` means that activation needs no preparation:
    the skill has no hooks, no required tools, no order, no commands and no notices. `hides_something` means that its
    description contains invisible characters.
    """

    skill: ActiveSkill
    source: Skill
    fields: ExtendedFields
    is_plain: bool
    hides_something: bool = False


class SkillDirectory(Struct, frozen=True, kw_only=True):
    """The directory of an active skill, for tools that read its files."""

    skill: ActiveSkill
    snapshots: Snapshots

    @property
    def root_dir(self) -> str:
        """The real path, without symbolic links."""
        return self.skill.root_dir

    def allows_hard_links(self) -> bool:
        """Whether the skill's package recorded its files. Raise DigestChangedError if the loaded files are unknown."""
        return self.snapshots.manifest(self.skill).is_recorded

    def require_loaded(self, path: str, digest: str) -> None:
        """Check the digest (`sha256:…`) of a file. Raise DigestChangedError if it was edited or added since loaded."""
        record = self.snapshots.manifest(self.skill).find(path)
        if record is None or f"sha256:{record.sha256}" != digest:
            raise DigestChangedError(self.skill.name, path)


class Snapshots:
    """Cache of the skills of one session as they were loaded. Methods may read the disk and block.

    The catalog owns the skills and knows whether one has changed. This cache keeps each skill while it is active.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._taken: dict[str, Snapshot] = {}  # by location
        self._loaded: dict[tuple[str, str], Skill] = {}  # by location and content digest

    def take(self, name: str, location: str | None = None) -> Snapshot:
        """Read a listed skill as it is on disk now.

        Raises:
            SkillNotFoundError: the catalog does not list the skill.
            SkillParseError: the files are no longer a readable skill.
            UnavailableError: the files change faster than they can be read.
        """
        skill = self._catalog.skill(name, location)
        snapshot = _snapshot(self._catalog.get(name, skill.location), skill)
        if len(self._taken) >= _KEPT:
            self._taken.pop(next(iter(self._taken)), None)
        self._taken[snapshot.skill.location] = snapshot
        self.keep(snapshot)
        return snapshot

    def retake(self, entry: SkillEntry) -> Snapshot | None:
        """Return the last result of `take` if a few `stat` calls show no change, else None. Does not block."""
        taken = self._taken.get(entry.location)
        if taken is None or taken.source is not self._catalog.at_rest(entry):
            return None
        self.keep(taken)
        return taken

    def keep(self, snapshot: Snapshot) -> None:
        """Remember a snapshot that this session or another one has taken."""
        self._loaded[snapshot.skill.location, snapshot.skill.content_digest] = snapshot.source

    def body(self, skill: ActiveSkill) -> str | None:
        """Return the body that was loaded; None if this process does not have it and the disk has another one."""
        known = self._loaded.get((skill.location, skill.content_digest))
        try:
            found = self._found(skill) if known is None else known
        except SkillError:
            return None
        return found.body if found.document_digest == skill.document_digest else None

    def manifest(self, skill: ActiveSkill) -> TreeManifest:
        """Return the hashes that the skill was loaded with. Raise UnavailableError if the directory cannot be read.

        Raise DigestChangedError if this process does not have the hashes and the files have changed.
        """
        known = self._loaded.get((skill.location, skill.content_digest))
        if known is not None:
            return known.manifest
        manifest = self._read_tree(skill)
        if manifest.content_digest != skill.content_digest:
            raise DigestChangedError(skill.name, ".")
        with suppress(SkillError):  # the hashes are valid even if the skill cannot be parsed
            self._found(skill)
        return manifest

    def is_touched(self, skill: ActiveSkill) -> bool:
        """Whether SKILL.md differs from the loaded one. The file is read only if its `stat` signature has changed."""
        try:
            return self._catalog.get(skill.name, skill.location).document_digest != skill.document_digest
        except (SkillNotFoundError, OSError):
            return True

    def is_edited(self, skill: ActiveSkill) -> bool:
        """Whether the files on disk differ from the loaded ones. Reads all files; False if they cannot be read."""
        try:
            return self._read_tree(skill).content_digest != skill.content_digest
        except UnavailableError:
            return False
        except DigestChangedError:  # its package recorded other files
            return True

    def keep_only(self, skills: Iterable[ActiveSkill]) -> None:
        """Drop all cached skills except these."""
        active = {(skill.location, skill.content_digest) for skill in skills}
        if self._loaded.keys() != active:
            self._loaded = {key: skill for key, skill in self._loaded.items() if key in active}

    def _read_tree(self, skill: ActiveSkill) -> TreeManifest:
        """Return the hashes of the files on disk, as the catalog reads this skill."""
        try:
            try:
                recorded = self._catalog.get(skill.name, skill.location).recorded
            except SkillNotFoundError:
                recorded = None
            if recorded is None:
                return read_tree(skill.root_dir)
            reading = read_stamped_tree(skill.root_dir, allow_hard_links=True)
            return recorded.compared(skill.root_dir, reading).manifest
        except SkillParseError:  # its package recorded other files
            raise DigestChangedError(skill.name, ".") from None
        except OSError as fault:
            raise UnavailableError(f"the directory of skill {skill.name!r}", reason=fault.strerror) from fault

    def _found(self, skill: ActiveSkill) -> Skill:
        """Read the skill from disk now, and cache it if it is the one that was loaded elsewhere."""
        found = self._catalog.skill(skill.name, skill.location)
        if found.manifest.content_digest == skill.content_digest:
            self._loaded[skill.location, skill.content_digest] = found
        return found


def _snapshot(entry: SkillEntry, skill: Skill) -> Snapshot:
    manifest = skill.manifest
    active = ActiveSkill(
        name=entry.name,
        key=entry.key,
        location=entry.location,
        root_dir=entry.root_dir,
        digest=skill.digest,
        content_digest=manifest.content_digest,
        document_digest=skill.document_digest,
        obstacle=manifest.obstacles[0] if manifest.obstacles else None,
        properties=skill.frontmatter.properties(),
        conflicts=() if skill.sidecar.composition is None else skill.sidecar.composition.conflicts,
    )
    sidecar, fields = skill.sidecar, extended_fields(active.properties)
    bound = sidecar.tools is not None or sidecar.composition is not None or bool(sidecar.faults)
    hooked = bool(fields.hooks.entries) or not fields.hooks.complete
    hides = entry.hides_something
    plain = not (bound or hooked or hides or may_hold_commands(skill.body))
    return Snapshot(skill=active, source=skill, fields=fields, is_plain=plain, hides_something=hides)
