"""UUID version 7: identifiers that sort by the time they were made (RFC 9562, section 5.7).

48 bits of milliseconds, 12 bits of the fraction of one, then 62 random bits. Within one process a later call always
gives a greater identifier: in one tick of that clock, and when the clock steps back, the time is counted up (RFC 9562,
section 6.2, method 3). The random bits are new for each, so that one identifier does not tell the next; they are drawn
for some in advance.
"""

from __future__ import annotations

import os
import threading
import time

_VARIANTS = "89ab" * 64  # the digit that two of the eight random bits beside it leave open

_lock = threading.Lock()
_last = 0  # in 1/4096 of a millisecond
_tails: list[str] = []  # the variant and the random bits of identifiers to come, as they are written
_DRAWN = 64  # at once: to ask the system takes as long as all the rest


def uuid7() -> str:
    """Return a new identifier in the usual form, 36 lower-case characters."""
    global _last  # noqa: PLW0603 -- the order of identifiers is a fact of the whole process
    with _lock:
        now = (time.time_ns() << 12) // 1_000_000
        if now <= _last:
            now = _last + 1
        _last = now
        if not _tails:
            _draw()
        tail = _tails.pop()
    head = f"{now:015x}"
    return f"{head[:8]}-{head[8:12]}-7{head[12:]}-{tail}"


def _draw() -> None:
    drawn = os.urandom(8 * _DRAWN)
    for start in range(0, len(drawn), 8):
        digits = drawn[start : start + 8].hex()
        _tails.append(f"{_VARIANTS[drawn[start]]}{digits[1:4]}-{digits[4:]}")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_tails.clear)  # a child that went on with them would make those of its parent
