"""A part of a file's bytes: where it begins, where it ends, and how to go on.

Offsets and limits count bytes. In text a border that falls inside a character is moved back to its beginning, so that
slices taken one after the other at `next_offset` add up to the exact text; a slice always makes progress.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

DEFAULT_LIMIT = 64 * 1024  # bytes

_LONGEST = 4  # bytes of one character
_CONTINUATION_MASK, _CONTINUATION = 0xC0, 0x80  # a byte 10xxxxxx continues a character (RFC 3629)


class Slice(Struct, frozen=True, kw_only=True):
    """Bytes `offset` up to `end` of a file of `size` bytes."""

    data: bytes
    offset: int
    end: int
    size: int

    @property
    def truncated(self) -> bool:
        """Whether something follows."""
        return self.end < self.size

    @property
    def next_offset(self) -> int | None:
        """Where to go on, or None at the end."""
        return self.end if self.truncated else None


def window(offset: int, limit: int, size: int) -> tuple[int, int]:
    """Return where the bytes begin and end in which both slices can be cut as if the whole file were there."""
    start = max(min(offset, size) - _LONGEST, 0)
    return start, min(start + _LONGEST + limit + _LONGEST, size)


def moved(part: Slice, start: int, size: int) -> Slice:
    """Return a slice of a window as the slice of the file of `size` bytes in which the window begins at `start`."""
    return replace(part, offset=part.offset + start, end=part.end + start, size=size)


def slice_bytes(data: bytes, offset: int, limit: int) -> Slice:
    """Cut at any byte; an offset beyond the end gives an empty slice."""
    start = min(offset, len(data))
    end = min(start + limit, len(data))
    return Slice(data=data[start:end], offset=start, end=end, size=len(data))


def slice_text(data: bytes, offset: int, limit: int, *, stop: int | None = None) -> Slice:
    """Cut valid UTF-8 at characters; `stop` is an end that is not passed, itself at the border of a character."""
    last = len(data) if stop is None else stop
    start = _border(data, min(offset, last))
    end = _border(data, min(start + limit, last))
    if end == start < last:
        end = start + 1  # the limit is smaller than one character: give that one whole
        while end < last and _continues(data[end]):
            end += 1
    return Slice(data=data[start:end], offset=start, end=end, size=len(data))


def _border(data: bytes, position: int) -> int:
    while 0 < position < len(data) and _continues(data[position]):
        position -= 1
    return position


def _continues(byte: int) -> bool:
    return byte & _CONTINUATION_MASK == _CONTINUATION
