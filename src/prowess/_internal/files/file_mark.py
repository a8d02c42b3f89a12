"""Mark of a file: the `stat` values that change when the file changes; and stamp, the mark in 64 bits.

A mark detects every later edit only if the last change of the file was more than two seconds before the mark was taken.
A second edit within that time could leave the time stamps as they are. This module imports little, so that listing
skills stays fast.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

SETTLED_NS = 2_000_000_000  # the coarsest time stamps in use (FAT) are two seconds apart

Mark = tuple[int, int, int, int, int, int]


def mark_of(found: os.stat_result) -> Mark:
    """Return the values that change when a file or a directory changes."""
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev, found.st_mode)


def stamp_of_mark(mark: Mark) -> int:
    """Return the hash of a mark, which takes less memory. It is never 0, and the same in every process of one Python.

    Two different marks have the same stamp with a probability of 2^-61.
    """
    return hash(mark) or 1


def stamp_of(found: os.stat_result) -> int:
    """Return `stamp_of_mark(mark_of(found))`."""
    # `mark_of` inlined: a scan computes one for each skill.
    return hash((found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev, found.st_mode)) or 1


def settled_before() -> int:
    """Return the latest time of a last change, in nanoseconds, for which a mark taken now can be trusted."""
    return time.time_ns() - SETTLED_NS


def last_change(found: os.stat_result) -> int:
    """Return the time in nanoseconds of the last change to a file or directory, or to its mode or owner."""
    return max(found.st_mtime_ns, found.st_ctime_ns)
