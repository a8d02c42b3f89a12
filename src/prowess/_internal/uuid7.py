"""UUID version 7: identifiers that sort by the time they were made (RFC 9562, section 5.7).

48 bits of milliseconds, then 74 random bits. Within one process a later call always gives a greater identifier: in one
millisecond, and when the clock steps back, the random part is counted up (RFC 9562, section 6.2, method 2).
"""

from __future__ import annotations

import os
import threading
import time

_RANDOM_BITS = 74
_LOW_BITS = 62
_STEP_BITS = 32

_lock = threading.Lock()
_last = 0


def uuid7() -> str:
    """Return a new identifier in the usual form, 36 lower-case characters."""
    global _last  # noqa: PLW0603 -- the order of identifiers is a fact of the whole process
    drawn = (time.time_ns() // 1_000_000) << _RANDOM_BITS | _random(_RANDOM_BITS)
    with _lock:
        # The step is random too, so that one identifier does not tell the next.
        _last = drawn if drawn > _last else _last + 1 + _random(_STEP_BITS)
        number = _last
    return _spelled(number)


def _random(bits: int) -> int:
    return int.from_bytes(os.urandom((bits + 7) // 8), "big") >> (-bits % 8)


def _spelled(number: int) -> str:
    """Put version and variant between the 48 + 12 and the 62 bits of `number`."""
    high, low = number >> _LOW_BITS, number & ((1 << _LOW_BITS) - 1)
    milliseconds, rand_a = high >> 12, high & 0xFFF
    value = milliseconds << 80 | 0x7 << 76 | rand_a << 64 | 0b10 << 62 | low
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
