"""What the last scan of this process saw: the memo for the next scan, and checks with `stat` alone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess._internal.files.file_mark import stamp_of
from prowess.catalog.memo.rows import keys_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from prowess.catalog.entry import SkillEntry
    from prowess.catalog.memo.readings import Learnt, Listing, Reading

_SLICE = 256  # entries that `is_current` examines beside the given ones


class MemoryMemo:
    """The memo of the last scan of this process."""

    __slots__ = ("_entries", "_listings", "_unindexed", "_unlisted")
    is_partial = False

    def __init__(
        self,
        entries: Iterable[SkillEntry],
        unlisted: Mapping[str, Reading],
        unindexed: Collection[str],
        listings: Mapping[str, Listing],
    ) -> None:
        self._entries = {entry.root_dir: entry for entry in entries}
        self._unlisted = unlisted
        self._unindexed = unindexed
        self._listings = listings

    @property
    def count(self) -> int:
        """The number of readings."""
        indexed = len(self._entries) - sum(path in self._entries for path in self._unindexed)
        return indexed + sum(path not in self._entries for path in self._unlisted)

    def wants(self, name: str) -> bool:  # noqa: ARG002 -- the shape of `Memo`
        """Return True."""
        return True

    def entry(self, directory: str) -> SkillEntry | None:
        """Return the entry of the skill in `directory`, or None."""
        return self._entries.get(directory)

    def reading(self, directory: str) -> Reading | None:
        """Return the result of reading the skill in `directory`, or None."""
        entry = self._entries.get(directory)
        return self._unlisted.get(directory) if entry is None else entry.reading

    def listing(self, directory: str) -> Listing | None:
        """Return the result of listing `directory`, or None."""
        return self._listings.get(directory)

    def stamps(self) -> dict[str, int]:
        """Return the stamp of each settled reading."""
        listed = {path: entry.reading for path, entry in self._entries.items() if path not in self._unindexed}
        readings = {**self._unlisted, **listed}
        return {path: reading.stamp for path, reading in readings.items() if reading.settled}

    def names(self, directory: str) -> tuple[str, ...]:
        """Return the keys of the reading of `directory`."""
        reading = self.reading(directory)
        return () if reading is None else keys_of(reading, directory)

    def listed(self) -> set[str]:
        """Return the directories that have a settled listing."""
        return {path for path, listing in self._listings.items() if listing.settled}


class Seen:
    """The state that one scan saw. `entries` are all that it found, also those outside of the scope."""

    __slots__ = ("_at", "_entries", "_listings", "_targets", "_unindexed", "_unlisted")

    def __init__(self, entries: Sequence[SkillEntry], learnt: Learnt) -> None:
        self._entries = entries
        self._unlisted, self._unindexed = learnt.unlisted, learnt.unindexed
        self._listings, self._targets = learnt.listings, learnt.targets
        self._at = 0

    @property
    def searched(self) -> Iterable[str]:
        """The real paths of the directories that were searched for skills."""
        return self._listings

    @property
    def links(self) -> Iterable[str]:
        """The paths of the links that were found in searched directories, also of those without a target."""
        return self._targets

    @property
    def skills(self) -> Iterable[str]:
        """The real paths of the directories with a SKILL.md, also of those that are not listed."""
        return (*(entry.root_dir for entry in self._entries), *self._unlisted)

    def memo(self) -> MemoryMemo:
        """Return the memo for the next scan."""
        return MemoryMemo(self._entries, self._unlisted, self._unindexed, self._listings)

    def is_current(self, shown: Iterable[SkillEntry]) -> bool:
        """Whether `stat` shows no change of `shown`, of the searched directories and links, and of a slice of the rest.

        The slice moves on with each call, so that after some calls every entry was examined.
        """
        return (
            all(self._is_listed(directory, listing) for directory, listing in self._listings.items())
            and all(target_of(path) == target for path, target in self._targets.items())
            and all(entry.is_current() for entry in shown)
            and all(entry.is_current() for entry in self._next_slice())
        )

    @staticmethod
    def _is_listed(directory: str, listing: Listing) -> bool:
        try:
            return listing.settled and stamp_of(os.lstat(directory)) == listing.stamp
        except OSError:
            return False

    def _next_slice(self) -> Sequence[SkillEntry]:
        found = self._entries[self._at : self._at + _SLICE]
        self._at = 0 if len(found) < _SLICE else self._at + _SLICE
        return found


def target_of(path: str) -> str | None:
    """Return the real path of the directory that a link leads to, or None if it leads to no directory."""
    return os.path.realpath(path) if os.path.isdir(path) else None
