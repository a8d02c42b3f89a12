"""Writes archives whose bytes depend on the files alone, whatever the system and the version of Python.

Entries are written in the given order, without times and owners. The bytes are stored and not compressed, because zlib
and zlib-ng compress to different bytes. The headers of a tar are written here, because those of `tarfile` differ by
version. This module imports the standard library alone, so a test can run it in every Python at hand.
"""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_BLOCK = 512
_STORED = 0xFFFF  # bytes in one stored block of deflate
_NAME, _PREFIX = 100, 155  # bytes of a path in a tar header
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # the first time that a zip can hold
_UNIX = 3


class ArchivedFile(Protocol):
    """One file of an archive. `path` is relative with `/`."""

    @property
    def path(self) -> str: ...  # noqa: D102 -- see the class

    @property
    def executable(self) -> bool: ...  # noqa: D102 -- as above

    @property
    def data(self) -> bytes: ...  # noqa: D102 -- as above


def tar_gz_of(files: Iterable[ArchivedFile], prefix: str, *, compress: bool = False) -> bytes:
    """Return a tar archive (ustar) in gzip. Each path begins with `prefix`."""
    parts: list[bytes] = []
    for file in files:
        path = f"{prefix}{file.path}".encode()
        parts += _tar_entry(path, file.data, 0o755 if file.executable else 0o644)
    parts.append(bytes(2 * _BLOCK))
    return _gzip(b"".join(parts), compress=compress)


def _tar_entry(path: bytes, data: bytes, mode: int) -> Iterator[bytes]:
    fitted = _split(path)
    if fitted is None:  # longer than a ustar header allows: the path is in an extended header (pax) before the file
        record = _pax_record(path)
        yield from _tar_block(b"", b"pax", record, 0o644, b"x")
        fitted = b"", path[:_NAME]
    yield from _tar_block(*fitted, data, mode, b"0")


def _tar_block(prefix: bytes, name: bytes, data: bytes, mode: int, kind: bytes) -> Iterator[bytes]:
    def header(checksum: bytes) -> bytes:
        fields = (name, b"%07o\0" % mode, b"%07o\0" % 0, b"%07o\0" % 0, b"%011o\0" % len(data), b"%011o\0" % 0)
        tail = (checksum, kind, b"", b"ustar\x0000", b"", b"", b"%07o\0" % 0, b"%07o\0" % 0, prefix)
        return struct.pack("100s8s8s8s12s12s8s1s100s8s32s32s8s8s155s12x", *fields, *tail)

    yield header(b"%06o\0 " % sum(header(b" " * 8)))
    yield data
    yield bytes(-len(data) % _BLOCK)


def _split(path: bytes) -> tuple[bytes, bytes] | None:
    """Return prefix and name of a path for a ustar header; None if it does not fit."""
    if len(path) <= _NAME:
        return b"", path
    at = path.rfind(b"/", 0, _PREFIX + 1)
    return (path[:at], path[at + 1 :]) if at > 0 and 0 < len(path) - at - 1 <= _NAME else None


def _pax_record(path: bytes) -> bytes:
    """Return `LENGTH path=PATH LF`, of which LENGTH is a part."""
    rest = len(b" path=\n") + len(path)
    length = rest + len(str(rest))
    length = rest + len(str(length))
    return b"%d path=%s\n" % (length, path)


def _gzip(data: bytes, *, compress: bool) -> bytes:
    head = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"  # no time, no name, system unknown
    tail = struct.pack("<LL", zlib.crc32(data), len(data))
    if compress:
        packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
        return head + packer.compress(data) + packer.flush() + tail
    return b"".join((head, *_stored_blocks(data), tail))


def _stored_blocks(data: bytes) -> Iterator[bytes]:
    for start in range(0, max(len(data), 1), _STORED):
        block = data[start : start + _STORED]
        is_last = start + _STORED >= len(data)
        yield struct.pack("<BHH", is_last, len(block), len(block) ^ _STORED)
        yield block


def zip_of(files: Iterable[ArchivedFile], prefix: str, *, compress: bool = False) -> bytes:
    """Return a zip archive. Each path begins with `prefix`."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for file in files:
            entry = zipfile.ZipInfo(f"{prefix}{file.path}", _EARLIEST)
            entry.create_system = _UNIX
            entry.external_attr = (stat.S_IFREG | (0o755 if file.executable else 0o644)) << 16
            archive.writestr(entry, file.data, zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED, 9)
    return whole.getvalue()
