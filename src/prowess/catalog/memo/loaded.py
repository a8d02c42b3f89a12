"""Skills that were read in full, kept while their files are unchanged."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess._internal.files.file_mark import stamp_of_mark
from prowess.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prowess._internal.files.tree_digest import TreeReading
    from prowess._internal.files.tree_stamp import TreeStamp
    from prowess.catalog.entry import SkillEntry
    from prowess.format.skill import Skill

_READ_ATTEMPTS = 3
_KEPT_SKILLS = 256  # the oldest is dropped
_MARKED = 64  # `at_rest` checks at most this many files and directories


class FullReading:
    """A skill that was read in full, its catalog entry, and the `stat` values of its files at the last read.

    `stamp` covers all files of the skill, `document` only SKILL.md. `entry` is None until the front matter of the skill
    has been compared with an entry and was equal.
    """

    __slots__ = ("document", "entry", "skill", "stamp")

    document: int
    stamp: TreeStamp | None

    def __init__(self, skill: Skill, files: TreeReading) -> None:
        self.skill = skill
        self.entry: SkillEntry | None = None
        self.see(files)

    def see(self, files: TreeReading) -> None:
        """Replace the stored `stat` values by newer ones of the same files."""
        self.stamp = files.stamp
        self.document = stamp_of_mark(files.kept[os.path.basename(self.skill.location)].mark)


class LoadedSkills:
    """The skills of one catalog that were read in full, by directory."""

    def __init__(self) -> None:
        self._skills: dict[str, FullReading] = {}

    def at_rest(self, entry: SkillEntry) -> Skill | None:
        """Return the skill that was read for this entry if `stat` shows no change since, or None."""
        known = self._skills.get(entry.root_dir)
        if known is None or known.entry is not entry or known.stamp is None or len(known.stamp.marks) > _MARKED:
            return None
        return known.skill if known.stamp.holds() else None

    def read(self, entry: SkillEntry) -> FullReading:
        """Read a skill, all its files from one state of the disk; or return the last reading if no file has changed.

        Raises:
            OSError: the directory is gone or cannot be read.
            SkillParseError: SKILL.md is broken, or a file is not as the skill's package recorded it.
            UnavailableError: the skill is being written to while it is read.
        """
        # Imported here: a listing does not need the full reader.
        from prowess.format.reading import read_files, skill_of_files

        directory = entry.root_dir

        def read() -> TreeReading:
            if entry.recorded is None:
                return read_files(directory)
            return entry.recorded.compared(directory, read_files(directory, allow_hard_links=True))

        files = read()
        known = self._skills.get(directory)
        if known is not None and known.skill.manifest == files.manifest:
            known.see(files)
            return known
        for _ in range(_READ_ATTEMPTS):
            skill = skill_of_files(directory, files, profile="lenient")
            again = files if files.stamp is not None and files.stamp.holds() else read()
            # If the manifest is the same before and after, and the parsed SKILL.md is among the hashed files, no file
            # changed during the reading.
            if files.manifest == again.manifest and os.path.basename(skill.location) in again.kept:
                return self._keep(directory, FullReading(skill, again))
            files = again
        raise UnavailableError(f"skill {entry.name!r}", 1, "it is being written to")

    def drop_unlisted(self, entries: Iterable[SkillEntry]) -> None:
        """Keep only the skills of `entries`."""
        listed = {entry.root_dir for entry in entries}
        self._skills = {path: known for path, known in self._skills.items() if path in listed}

    def _keep(self, directory: str, known: FullReading) -> FullReading:
        if len(self._skills) >= _KEPT_SKILLS:
            self._skills.pop(next(iter(self._skills)), None)
        self._skills[directory] = known
        return known
