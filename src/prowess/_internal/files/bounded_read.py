"""Reading an open descriptor up to a limit."""

from __future__ import annotations

import os


def read_at_most(descriptor: int, most: int, chunk: int | None = None) -> bytes:
    """Return the rest of an open file, at most `most` bytes. One read asks for at most `chunk` bytes. Raises OSError.

    To detect a file that is larger than allowed, ask for one byte more than the limit.
    """
    parts: list[bytes] = []
    left = most
    while left > 0 and (part := os.read(descriptor, left if chunk is None else min(chunk, left))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
