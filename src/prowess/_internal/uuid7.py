"""UUID version 7: identifiers that sort by the time they were made (RFC 9562, section 5.7).

48 bits of milliseconds, then 74 random bits. Within one process a later call always gives a greater identifier: in one
millisecond, and when the clock steps back, the random part is counted up (RFC 9562, section 6.2, method 2).
"""

from __future__ import annotations

import os
import threading
import time

_RANDOM_BITS = 74
_LOW_BITS = 62  # of them, behind the variant; the 12 others stand before it
_LOW = (1 << _LOW_BITS) - 1
_VARIANT = 0b10 << _LOW_BITS
_DRAWN = 10  # bytes, of which the last bits are too many
_SURPLUS = _DRAWN * 8 - _RANDOM_BITS
_STEP = (1 << 32) - 1

_lock = threading.Lock()
_last = 0


def uuid7() -> str:
    """Return a new identifier in the usual form, 36 lower-case characters."""
    global _last  # noqa: PLW0603 -- the order of identifiers is a fact of the whole process
    number = (time.time_ns() // 1_000_000) << _RANDOM_BITS | int.from_bytes(os.urandom(_DRAWN), "big") >> _SURPLUS
    with _lock:
        if number <= _last:
            # The step is random too, so that one identifier does not tell the next.
            number = _last + 1 + (number & _STEP)
        _last = number
    head, tail = f"{number >> _LOW_BITS:015x}", f"{number & _LOW | _VARIANT:016x}"
    return f"{head[:8]}-{head[8:12]}-7{head[12:]}-{tail[:4]}-{tail[4:]}"
