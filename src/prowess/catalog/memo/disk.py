"""The memo of the rows of an index file, and the rows of a scan."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess.catalog.entry import key_of
from prowess.catalog.memo.readings import Reading
from prowess.catalog.memo.rows import directory_row, keys_of, listing_of, reading_of, skill_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import TypedDict

    from prowess.catalog.memo.readings import Listing, Memo
    from prowess.store.index_file import DirectoryRow, SkillRow

    class ChangedRows(TypedDict):
        """The arguments of `IndexFile.change`."""

        directories: list[DirectoryRow]
        skills: list[SkillRow]
        gone_directories: list[bytes]
        gone_skills: list[tuple[str, bytes, str]]


class DiskMemo:
    """The content of the rows of an index file: with `keys` only the rows of the skills with one of these keys.

    `reading(directory)` returns the result of reading the skill in `directory`, or None.

    Raises:
        UnusableIndexError: a row is damaged; also raised by `listing`.
    """

    __slots__ = ("_directories", "_keys", "_listings", "_names", "_readings", "reading")

    def __init__(
        self, directories: Sequence[DirectoryRow], skills: Iterable[SkillRow], *, keys: Collection[str] | None
    ) -> None:
        self._keys = keys
        self._directories = {os.fsdecode(row[0]): row for row in directories}
        self._listings: dict[str, Listing | None] = {}
        self._names: dict[str, list[str]] = {path: [] for path in self._directories}
        parents = {row[0]: (path, self._names[path].append) for path, row in self._directories.items()}
        self._readings = readings = dict[str, Reading]()
        self.reading = readings.get  # not a method, because a scan calls it for each skill
        for key, place, child, stamp, _, facts, data in skills:
            parent, add_name = parents[place]
            name = child or key
            if data:
                readings[f"{parent}/{name}"] = reading_of(stamp, facts, data)
            else:
                readings[f"{parent}/{name}"] = Reading(key, "SKILL.md", facts, stamp, True)  # noqa: FBT003 -- see `Reading`
            add_name(name)

    @property
    def is_partial(self) -> bool:
        """Whether the memo may lack rows that the index has."""
        return self._keys is not None

    @property
    def count(self) -> int:
        """The number of readings."""
        return len(self._readings)

    def wants(self, name: str) -> bool:
        """Whether the memo has the rows of this name, if there are any."""
        return self._keys is None or key_of(name) in self._keys

    def listing(self, directory: str) -> Listing | None:
        """Return the result of listing `directory`, or None."""
        if directory in self._listings:
            return self._listings[directory]
        row = self._directories.get(directory)
        listing = None if row is None else listing_of(row, self._names.get(directory, ()), whole=self._keys is None)
        self._listings[directory] = listing
        return listing

    def stamps(self) -> dict[str, int]:
        """Return the stamp of each reading."""
        return {path: reading.stamp for path, reading in self._readings.items()}

    def names(self, directory: str) -> tuple[str, ...]:
        """Return the keys of the reading of `directory`."""
        reading = self.reading(directory)
        return () if reading is None else keys_of(reading, directory)

    def listed(self) -> set[str]:
        """Return the directories that have a listing."""
        return {path for path, row in self._directories.items() if row[1]}


def rows_of(
    readings: Mapping[str, Reading], listings: Mapping[str, Listing]
) -> tuple[list[DirectoryRow], list[SkillRow]]:
    """Return all rows of a scan."""
    stored = {directory: reading for directory, reading in readings.items() if reading.settled}
    skills = skill_rows(stored)
    parents = dict.fromkeys((*listings, *map(_parent, stored)))
    return [directory_row(path, listings.get(path), stored) for path in parents], skills


def changes_of(memo: Memo, readings: Mapping[str, Reading], listings: Mapping[str, Listing]) -> ChangedRows | None:
    """Return the rows of a scan that differ from `memo`, which has what the file has; None if none differ."""
    stored = {directory: reading for directory, reading in readings.items() if reading.settled}
    before, listed = memo.stamps(), memo.listed()
    gone = before.keys() - stored.keys()
    changed = {path for path, reading in stored.items() if before.get(path) != reading.stamp}
    keys = {path: keys_of(stored[path], path) for path in changed}
    left = {
        path: [key for key in memo.names(path) if key not in keys.get(path, ())]
        for path in gone | (changed & before.keys())
    }
    kept = set(map(_parent, stored))  # numbered by a row, although most are not searched
    touched = {path for path, listing in listings.items() if memo.listing(path) is not listing}
    touched |= {parent for parent in map(_parent, gone | changed) if parent in listings or parent in kept}
    lost = listed - listings.keys()
    touched |= lost & kept
    if not (touched or lost or gone or changed):
        return None
    return {
        "directories": [directory_row(path, listings.get(path), stored) for path in sorted(touched)],
        "skills": skill_rows(stored, {key for some in (*keys.values(), *left.values()) for key in some}),
        "gone_directories": [os.fsencode(path) for path in lost - kept],
        "gone_skills": [(key, *_place(path, key)) for path, some in left.items() for key in some],
    }


def _parent(directory: str) -> str:
    return directory.rpartition("/")[0]


def _place(directory: str, key: str) -> tuple[bytes, str]:
    parent, _, name = directory.rpartition("/")
    return os.fsencode(parent), "" if name == key else name
