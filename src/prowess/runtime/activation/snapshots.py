"""What was on disk when a skill was loaded: its body and the hash of each of its files.

A store keeps digests only, so another process reads the skill again and believes it if the digest agrees: the text in
the instructions is the text that was loaded, or none.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.tree_digest import read_tree
from prowess.errors import DigestChangedError, SkillError, SkillNotFoundError, UnavailableError
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

_KEPT = 64  # more than any session has active skills


class Snapshot(Struct, frozen=True, kw_only=True):
    """A skill that a session may activate: what the session stores of it, and the `source` that this was made from.

    `fields` are those of the front matter that the runtime obeys. `is_plain`: it has no hooks, no tools or order to
    look after, no commands and nothing to notice, so nothing has to be done before it comes into force.
    `hides_something`: its description holds characters that nobody sees.
    """

    skill: ActiveSkill
    source: Skill
    fields: ExtendedFields
    is_plain: bool
    hides_something: bool = False


class SkillDirectory(Struct, frozen=True, kw_only=True):
    """The directory of an active skill, for tools that read files in it."""

    skill: ActiveSkill
    snapshots: Snapshots

    @property
    def root_dir(self) -> str:
        """The real path."""
        return self.skill.root_dir

    def require_loaded(self, path: str, digest: str) -> None:
        """Compare the digest of a file with what was loaded.

        Raises:
            DigestChangedError: it was edited or added since.
        """
        record = self.snapshots.manifest(self.skill).find(path)
        if record is None or f"sha256:{record.sha256}" != digest:
            raise DigestChangedError(self.skill.name, path)


class Snapshots:
    """The skills that one session has loaded, as they were then. Methods may read the disk and block.

    The catalog owns the skills and knows whether one has changed; here each is kept for as long as it is active.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._taken: dict[str, Snapshot] = {}  # by location
        self._loaded: dict[tuple[str, str], Skill] = {}  # by location and content digest

    def take(self, name: str, location: str | None = None) -> Snapshot:
        """Read a listed skill as it is now.

        Raises:
            SkillNotFoundError: the catalog does not list it.
            SkillParseError: it can no longer be read as a skill.
            UnavailableError: it changes faster than it can be read.
        """
        skill = self._catalog.skill(name, location)
        snapshot = _snapshot(self._catalog.get(name, skill.location), skill)
        if len(self._taken) >= _KEPT:
            self._taken.pop(next(iter(self._taken)), None)
        self._taken[snapshot.skill.location] = snapshot
        self.keep(snapshot)
        return snapshot

    def retake(self, entry: SkillEntry) -> Snapshot | None:
        """Return what `take` returned before, if a few calls of `stat` show that nothing has changed since.

        None: `take` has to look for itself. Does not block.
        """
        taken = self._taken.get(entry.location)
        if taken is None or taken.source is not self._catalog.at_rest(entry):
            return None
        self.keep(taken)
        return taken

    def keep(self, snapshot: Snapshot) -> None:
        """Remember a snapshot that was taken here, or by another session."""
        self._loaded[snapshot.skill.location, snapshot.skill.content_digest] = snapshot.source

    def body(self, skill: ActiveSkill) -> str | None:
        """Return the body that was loaded; None if the disk no longer has it and this process never read it."""
        known = self._loaded.get((skill.location, skill.content_digest))
        try:
            found = self._found(skill) if known is None else known
        except SkillError:
            return None
        return found.body if found.document_digest == skill.document_digest else None

    def manifest(self, skill: ActiveSkill) -> TreeManifest:
        """Return the hashes under which the skill was loaded.

        Raises:
            DigestChangedError: this process does not know them and the files are no longer the same.
            UnavailableError: the directory cannot be read.
        """
        known = self._loaded.get((skill.location, skill.content_digest))
        if known is not None:
            return known.manifest
        manifest = _read_tree(skill.name, skill.root_dir)
        if manifest.content_digest != skill.content_digest:
            raise DigestChangedError(skill.name, ".")
        with suppress(SkillError):  # the hashes are right, whatever became of the text
            self._found(skill)
        return manifest

    def is_touched(self, skill: ActiveSkill) -> bool:
        """Tell whether SKILL.md is no longer what was loaded; it is read only if it looks different to `stat`."""
        try:
            return self._catalog.get(skill.name, skill.location).document_digest != skill.document_digest
        except (SkillNotFoundError, OSError):
            return True

    def is_edited(self, skill: ActiveSkill) -> bool:
        """Tell whether the files on disk are no longer those that were loaded."""
        try:
            return _read_tree(skill.name, skill.root_dir).content_digest != skill.content_digest
        except UnavailableError:
            return False

    def keep_only(self, skills: Iterable[ActiveSkill]) -> None:
        """Forget what belongs to no active skill."""
        active = {(skill.location, skill.content_digest) for skill in skills}
        if self._loaded.keys() != active:
            self._loaded = {key: skill for key, skill in self._loaded.items() if key in active}

    def _found(self, skill: ActiveSkill) -> Skill:
        """Return the skill as it is on the disk now, remembered if it is still the one that was loaded elsewhere."""
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


def _read_tree(name: str, root: str) -> TreeManifest:
    try:
        return read_tree(root)
    except OSError as fault:
        raise UnavailableError(f"the directory of skill {name!r}", reason=fault.strerror) from fault
