"""Mark of a file: what `stat` returns for it that changes if the file does.

A mark tells an edit only if the file had been left alone for two seconds when it was taken: a change within that time
could hide in the same time stamp. Imports nothing that a list of skills would have to pay for.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

SETTLED_NS = 2_000_000_000  # the coarsest time stamps in use (FAT) are two seconds apart

Mark = tuple[int, int, int, int, int, int]


def mark_of(found: os.stat_result) -> Mark:
    """Return what changes if a file or a directory does."""
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev, found.st_mode)


def settled_before() -> int:
    """Return the time in nanoseconds before which a last change is old enough for a mark."""
    return time.time_ns() - SETTLED_NS


def last_change(found: os.stat_result) -> int:
    """Return when a file or a directory, its mode or its owner was changed last, in nanoseconds."""
    return max(found.st_mtime_ns, found.st_ctime_ns)
