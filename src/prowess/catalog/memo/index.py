"""The index on disk: what earlier scans of a set of sources read, so that unchanged files need not be opened.

The index is a file below the cache directory, one for each ordered set of sources. It never changes an answer: the scan
looks at the disk, and uses a row only if `stat` shows that its file or directory is unchanged. If the index is missing,
damaged, in use by a writer or switched off, everything is read.

An index is built after a scan that found many skills. A scan that found changes replaces the rows of these skills
alone.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeVar
from zlib import crc32

import prowess
from prowess._internal.places import cache_home
from prowess.catalog.memo.disk import DiskMemo, changes_of, rows_of
from prowess.catalog.memo.readings import LookInFullError, NoMemo
from prowess.store.index_faults import BusyIndexError, UnusableIndexError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from prowess.catalog.memo.readings import Memo
    from prowess.catalog.scan import Scan
    from prowess.catalog.sources import CatalogSource
    from prowess.store.index_file import IndexFile

FORM = 1  # form of the rows; another form is another file
LEAST_SKILLS = 256  # below, opening every file takes no longer than opening an index
_FOLDER = "index"
_T = TypeVar("_T")


def is_switched_off() -> bool:
    """Whether the environment switches every index off: `PROWESS_NO_INDEX` has a value other than 0."""
    return os.environ.get("PROWESS_NO_INDEX", "0") not in {"", "0"}


class Index:
    """The index of one set of sources. `path` is that of its file, which may not exist.

    `unread` states why the file was not used at the last attempt, `unwritten` why it was not written; both are None if
    there was no problem. `change` is what the last `save` did. A file is built if a scan found `least` skills.
    """

    MISSING = "there is no index yet"

    def __init__(self, sources: Sequence[CatalogSource]) -> None:
        kinds = [f"{type(source).__name__}\0{source.named}" for source in sources]
        version = f"{FORM}\0{prowess.__version__}\0{sys.version_info[:2]}\0{sys.hash_info.width}"
        self._identity = os.fsencode("\0".join((version, *kinds)))
        name = f"{crc32(self._identity):08x}{crc32(self._identity[::-1]):08x}.sqlite"
        self.path = os.path.join(cache_home(), _FOLDER, name)
        self.least = LEAST_SKILLS
        self.unread: str | None = None
        self.unwritten: str | None = None
        self.change: Literal["built", "updated"] | None = None
        self._state: Literal["missing", "unusable", "busy", "loaded"] = "missing"
        self._file: IndexFile | None = None

    @property
    def file(self) -> IndexFile:
        """The file with the rows."""
        if self._file is None:
            # Imported here: a catalog without an index does not need SQLite.
            from prowess.store.index_file import IndexFile

            self._file = IndexFile(self.path, self._identity)
        return self._file

    @property
    def exists(self) -> bool:
        """Whether there is a file, usable or not."""
        return os.path.lexists(self.path)

    @property
    def is_current(self) -> bool:
        """Whether the file has what the last `load` or `save` had."""
        return self._state == "loaded"

    def load(self, keys: Collection[str] | None = None) -> Memo:
        """Return the memo of all rows; with `keys`, of all directories and of the skills with one of these keys.

        If the index cannot be used, the memo keeps nothing.
        """
        self.unread, self._state = None, "loaded"
        if not os.path.lexists(self.path):
            self.unread, self._state = self.MISSING, "missing"
            return NoMemo()
        try:
            return self.file.read(keys, partial(DiskMemo, keys=keys))
        except UnusableIndexError as fault:
            self.unread, self._state = str(fault), "busy" if isinstance(fault, BusyIndexError) else "unusable"
            return NoMemo()

    def used_by(self, look: Callable[[Memo], _T]) -> _T:
        """Return the result of `look`, which gets the memo of all rows."""
        try:
            return look(self.load())
        except UnusableIndexError as fault:
            self._distrust(fault)
            return look(NoMemo())

    def used_for(self, keys: Collection[str], look: Callable[[Memo], _T]) -> _T | None:
        """Return the result of `look`, which gets a memo with the rows of `keys`; None if these are not enough."""
        try:
            memo = self.load(keys)
            return look(memo) if memo.is_partial else None
        except UnusableIndexError as fault:
            self._distrust(fault)
        except LookInFullError:
            pass
        return None

    def _distrust(self, fault: UnusableIndexError) -> None:
        """Replace the file at the next `save`: a row that was loaded is damaged."""
        self.unread, self._state = str(fault), "unusable"

    def save(self, memo: Memo, scan: Scan) -> None:
        """Write what `scan`, which used `memo`, found. Failures are ignored; `unwritten` states them."""
        self.change = self.unwritten = None
        if self._state == "busy" or (self._state == "loaded" and _is_as_before(memo, scan)):
            return
        learnt = scan.learnt
        listed = {path: entry.reading for path, entry in scan.entries.items() if path not in learnt.unindexed}
        readings, listings = {**learnt.unlisted, **listed}, learnt.listings
        if self._state == "missing" and len(readings) < self.least:
            return
        try:
            if self._state != "loaded":
                self.file.build(*rows_of(readings, listings))
                self.change = "built"
            elif (changes := changes_of(memo, readings, listings)) is not None:
                self.file.change(**changes)
                self.change = "updated"
            self._state = "loaded"
        except UnusableIndexError as fault:
            self.unwritten, self._state = str(fault), "busy"  # nothing is written until the next `load`

    def remove(self) -> bool:
        """Delete the file; return whether there was one. Raises UnusableIndexError."""
        return self.file.remove()

    def counts(self) -> dict[str, int]:
        """Return the numbers of skills and directories in the file, and of other rows by kind; empty if unusable."""
        try:
            return self.file.counts()
        except UnusableIndexError:
            return {}


def _is_as_before(memo: Memo, scan: Scan) -> bool:
    """Whether the scan read nothing new, and found as many skills and the same listings as `memo` has."""
    learnt = scan.learnt
    count = len(scan.entries) - sum(path in scan.entries for path in learnt.unindexed)
    count += sum(path not in scan.entries for path in learnt.unlisted)
    return (
        all(
            (kept := memo.reading(path)) is not None and kept.stamp == reading.stamp
            for path, reading in learnt.readings.items()
        )
        and count == memo.count
        and len(memo.listed()) == len(learnt.listings)
        and all(memo.listing(path) is listing for path, listing in learnt.listings.items())
    )
