"""Merging locks on disk: for git as its merge driver, and after a merge that left conflict markers."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Literal

from msgspec import Struct

from prowess._internal.text.terminal_text import counted
from prowess.diagnostics import Location
from prowess.distribution.locks.git import conflict_stages
from prowess.errors import LockfileError
from prowess.lockfile.conflicts import conflict_sides, has_conflicts
from prowess.lockfile.lock import Lockfile
from prowess.lockfile.merging import merge_locks
from prowess.lockfile.places import lock_bytes, write_lock
from prowess.lockfile.text import parse_lock


class MendedLock(Struct, frozen=True, kw_only=True):
    """A lock that was merged. `origin` is git's stages, or the text with the markers, with or without its base."""

    lock: Lockfile
    origin: Literal["stages", "text with base", "text"]

    def __str__(self) -> str:
        return f"merged from {_ORIGINS[self.origin]}: {counted(len(self.lock.skills), 'skill')}"


_ORIGINS = {
    "stages": "git's three stages",
    "text with base": "the conflict in the text",
    "text": "both sides of the conflict in the text; without a base, a skill that one side removed is kept",
}


def merge_lock_files(base: str, ours: str, theirs: str) -> Lockfile:
    """Merge three locks on disk, and write the result to `ours`. An empty file is a lock without a block.

    Raises:
        LockfileError: a file is no lock; nothing was written.
        MissingExtraError: two versions have to be compared, and the extra `install` is missing; nothing was written.
        OSError: a file cannot be read or written.
    """
    merged = merge_locks(*(_read(path) for path in (base, ours, theirs)))
    write_lock(ours, merged)
    return merged


def mend_lock(path: str) -> MendedLock | None:
    """Merge both sides of a lock with an unfinished merge, and write the result. None if there is nothing to mend.

    There is one if the lock has conflict markers, or if git could not merge it and the file is still one of the sides.

    Raises:
        LockfileError: a side is no lock; nothing was written.
        MissingExtraError: two versions have to be compared, and the extra `install` is missing; nothing was written.
        OSError: the lock cannot be read or written.
    """
    if (data := lock_bytes(path)) is None:
        return None
    marked = has_conflicts(data)
    mended = _from_stages(path, None if marked else data)
    if mended is None and marked:
        mended = _from_text(path, data)
    if mended is not None:
        write_lock(path, mended.lock)
    return mended


def _from_stages(path: str, text: bytes | None) -> MendedLock | None:
    """Merge git's stages. If the file has a `text` without markers that is none of the sides, a person has merged."""
    if (stages := conflict_stages(path)) is None or (text is not None and text not in {stages.ours, stages.theirs}):
        return None
    sides = [
        parse_lock(data, f"{path} ({side})") if data else Lockfile()
        for side, data in (("base", stages.base), ("ours", stages.ours), ("theirs", stages.theirs))
    ]
    return MendedLock(lock=merge_locks(*sides), origin="stages")


def _from_text(path: str, data: bytes) -> MendedLock:
    sides = conflict_sides(data, path)
    try:
        ours, theirs = parse_lock(sides.ours), parse_lock(sides.theirs)
    except LockfileError as fault:
        at = next(number for number, line in enumerate(data.splitlines(), 1) if has_conflicts(line))
        reason = (
            f"one side of the conflict is no lock by itself ({fault.reason}); write the three versions to files with "
            "`git show COMMIT:prowess.lock`, and merge them with `prowess lock merge BASE OURS THEIRS`"
        )
        raise LockfileError(Location(path=path, line=at), reason) from None
    base = None
    if sides.base is not None:
        with suppress(LockfileError):  # git's style `zdiff3` leaves lines out of it
            base = parse_lock(sides.base)
    merged = merge_locks(base or Lockfile(), ours, theirs)
    return MendedLock(lock=merged, origin="text" if base is None else "text with base")


def _read(path: str) -> Lockfile:
    data = lock_bytes(path)
    if data is None:
        raise FileNotFoundError(2, os.strerror(2), path)
    return parse_lock(data, path) if data else Lockfile()
