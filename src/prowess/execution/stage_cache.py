"""Stages that nobody uses do not stay: they are dropped by the time of their last use and by their size together.

A use is a new time stamp on the stage's directory, given under a lock; the sweep, once a day, moves what is too old or
too much aside under the same lock and deletes it afterwards. So a process that found its stage cannot lose it to the
sweep of another, and one whose stage was moved makes it again. Whoever cannot write the cache changes nothing in it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time

from msgspec import Struct

from prowess._internal.uuid7 import uuid7

MAX_AGE_SECONDS = 30 * 86_400.0
MAX_BYTES = 1024 * 1024 * 1024
SWEEP_SECONDS = 86_400.0

_BUSY_SECONDS = 3600.0  # no run lasts longer, so what was used before that is in nobody's hands
_LEFT_SECONDS = 86_400.0  # of copies that were begun, or set aside, by a process that was killed
_WAIT_SECONDS = 1.0
_ASIDE = ".old-"


class _Stage(Struct, frozen=True, kw_only=True):
    name: str
    used_at: float
    size: int


def note_use(home: str, name: str) -> None:
    """Say that the stage `name` below `home` is used now, whether it is there yet or not; sweep when that is due."""
    doomed: list[str] = []
    lock = f"{home}.lock"
    # A cache that cannot be written, or that somebody holds for long, is swept another time.
    # Imported here, not at the top: the room must be importable where files cannot be locked.
    from prowess._internal.files.file_lock import locked

    with contextlib.suppress(OSError), locked(lock, wait_seconds=_WAIT_SECONDS):
        with contextlib.suppress(FileNotFoundError):
            os.utime(os.path.join(home, name))
        now = time.time()
        if now - os.stat(lock).st_mtime > SWEEP_SECONDS:
            os.utime(lock)
            doomed = [_set_aside(home, stage) for stage in _too_much(home, now)]
    for path in doomed:
        shutil.rmtree(path, ignore_errors=True)


def _too_much(home: str, now: float) -> list[str]:
    """Return the names below `home` to delete."""
    names = os.listdir(home)
    doomed = [
        name for name in names if name[0] == "." and now - os.lstat(os.path.join(home, name)).st_mtime > _LEFT_SECONDS
    ]
    stages = [
        _Stage(name=name, used_at=os.lstat(os.path.join(home, name)).st_mtime, size=_size(os.path.join(home, name)))
        for name in names
        if name[0] != "."
    ]
    total = 0
    for stage in sorted(stages, key=lambda stage: stage.used_at, reverse=True):
        total += stage.size
        age = now - stage.used_at
        if age > MAX_AGE_SECONDS or (total > MAX_BYTES and age > _BUSY_SECONDS):
            doomed.append(stage.name)
    return doomed


def _set_aside(home: str, name: str) -> str:
    aside = os.path.join(home, f"{_ASIDE}{uuid7()}")
    os.rename(os.path.join(home, name), aside)
    return aside


def _size(directory: str) -> int:
    return sum(
        os.lstat(os.path.join(parent, name)).st_size for parent, _, files in os.walk(directory) for name in files
    )
