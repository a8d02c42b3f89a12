"""UUID version 7: identifiers that sort by the time they were made (RFC 9562, section 5.7).

48 bits of milliseconds are followed by 12 bits for the fraction of a millisecond, then by 62 random bits. Within one
process, each new identifier is greater than the one before: if the clock did not advance or went back, the last time is
incremented (RFC 9562, section 6.2, method 3). The random bits are new for each identifier, so that one identifier does
not reveal the next.
"""

from __future__ import annotations

import os
import threading
import time

_lock = threading.Lock()
_last = 0  # in 1/4096 of a millisecond


def uuid7() -> str:
    """Return a new identifier in the usual form, 36 lower-case characters."""
    global _last  # noqa: PLW0603 -- the order of identifiers concerns the whole process
    with _lock:
        now = (time.time_ns() << 12) // 1_000_000
        if now <= _last:
            now = _last + 1
        _last = now
    head, tail = f"{now:015x}", f"{int.from_bytes(os.urandom(8)) >> 2 | 1 << 63:016x}"
    return f"{head[:8]}-{head[8:12]}-7{head[12:]}-{tail[:4]}-{tail[4:]}"
