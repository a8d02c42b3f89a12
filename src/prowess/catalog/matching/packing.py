"""Postings as bytes, for the index file, and back."""

from __future__ import annotations

import zlib
from array import array
from itertools import accumulate, chain
from operator import sub
from typing import TYPE_CHECKING

from prowess.catalog.matching.postings import Posting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SMALL = 60  # bytes; shorter data does not get smaller


def packed(posting: Posting) -> bytes:
    """Return a posting as bytes."""
    numbers = packed_numbers(posting.items)
    return len(posting.items).to_bytes(4, "little") + bytes(posting.levels) + bytes(posting.fields) + numbers


def unpacked(data: bytes) -> Posting:
    """Return the posting of `packed` bytes. Raises ValueError for other bytes."""
    count = int.from_bytes(data[:4], "little")
    posting = Posting()
    posting.levels, posting.fields = bytearray(data[4 : 4 + count]), bytearray(data[4 + count : 4 + 2 * count])
    posting.items = unpacked_numbers(data[4 + 2 * count :])
    if not len(posting.items) == len(posting.levels) == len(posting.fields) > 0:
        message = "not a posting"
        raise ValueError(message)
    return posting


def packed_numbers(numbers: Sequence[int]) -> bytes:
    """Return ascending numbers as bytes: the differences, with two or four bytes each."""
    steps = [*map(sub, numbers, chain((0,), numbers))]
    form = "H" if max(steps, default=0) < 1 << 16 else "I"
    return form.encode() + array(form, steps).tobytes()


def unpacked_numbers(data: bytes) -> array[int]:
    """Return the numbers of `packed_numbers`. Raises ValueError for other bytes."""
    if data[:1] not in {b"H", b"I"}:
        message = "not a list of numbers"
        raise ValueError(message)
    steps = array(data[:1].decode())
    steps.frombytes(data[1:])
    return array("I", accumulate(steps))


def bucket_of(key: str, buckets: int) -> str:
    """Return the name of the bucket of a key."""
    return str(zlib.crc32(key.encode("utf-8", "surrogatepass")) % buckets)


def bucketed(rows: Mapping[str, bytes], buckets: int) -> dict[str, bytes]:
    """Return rows with their keys as fewer rows, because each row takes some bytes of its own."""
    parts: dict[str, list[bytes]] = {}
    for key, data in sorted(rows.items()):
        name = key.encode("utf-8", "surrogatepass")
        part = len(name).to_bytes(2, "little") + len(data).to_bytes(4, "little") + name + data
        parts.setdefault(bucket_of(key, buckets), []).append(part)
    return {bucket: _shrunk(b"".join(some)) for bucket, some in parts.items()}


def unbucketed(data: bytes) -> dict[str, bytes]:
    """Return the rows of a bucket with their keys. Raises ValueError or `zlib.error` for other bytes."""
    data, at = _grown(data), 0
    found: dict[str, bytes] = {}
    while at < len(data):
        middle = at + 6 + int.from_bytes(data[at : at + 2], "little")
        end = middle + int.from_bytes(data[at + 2 : at + 6], "little")
        found[data[at + 6 : middle].decode("utf-8", "surrogatepass")] = data[middle:end]
        at = end
    return found


def packed_texts(texts: Sequence[str]) -> bytes:
    """Return texts without line ends as bytes."""
    return _shrunk("\n".join(texts).encode("utf-8", "surrogatepass"))


def unpacked_texts(data: bytes) -> list[str]:
    """Return the texts of `packed_texts`. Raises ValueError or `zlib.error` for other bytes."""
    return _grown(data).decode("utf-8", "surrogatepass").split("\n")


def _shrunk(data: bytes) -> bytes:
    smaller = zlib.compress(data, 6) if len(data) > _SMALL else data
    return b"z" + smaller if len(smaller) < len(data) else b"-" + data


def _grown(data: bytes) -> bytes:
    return zlib.decompress(data[1:]) if data[:1] == b"z" else data[1:]
