"""Reads tar archives, plain or in gzip, with `tarfile`, in one pass and up to the last byte.

`tarfile` takes a damaged header for the end of the archive. So the end must be a block of zeros, and nothing but zeros
may follow it.
"""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
from typing import TYPE_CHECKING, cast

from prowess._internal.files.tree_digest import MAX_BYTES
from prowess.distribution.sources.archives.entry import CHUNK, MAX_RATIO, ArchiveEntry
from prowess.errors import LimitExceededError, UnsafePathError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

_GZIP = b"\x1f\x8b"
_BLOCK = 512
_HEADERS = 32 * 1024 * 1024  # bytes of a stream that are not in files: headers and padding
_REGULAR = {tarfile.REGTYPE, tarfile.AREGTYPE}


def is_tar(data: bytes) -> bool:
    """Whether the bytes begin like a tar archive or like gzip."""
    return data.startswith(_GZIP) or data[257:262] == b"ustar"


class TarFormat:
    """A tar archive in memory, plain or in gzip (`ArchiveFormat`)."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def __iter__(self) -> Iterator[tuple[ArchiveEntry, Iterator[bytes]]]:
        """Yield each entry and its parts."""
        stream = _Bounded(self._data)
        with tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r:", encoding="utf-8") as archive:
            last = -1
            for member in archive:
                if member.offset <= last or member.size < 0:
                    raise ValueError("an entry begins before the one before it")
                last = member.offset
                yield _entry(member), _parts(archive, member)
            stream.require_end(archive.offset)


def _entry(member: tarfile.TarInfo) -> ArchiveEntry:
    if member.isdir():
        return ArchiveEntry(path=member.name, size=0, is_directory=True)
    if member.type not in _REGULAR or member.issparse():
        raise UnsafePathError(
            member.name, "it is a link or another special file in the archive; put the file itself there"
        )
    executable = bool(member.mode & stat.S_IXUSR)
    return ArchiveEntry(path=member.name, size=member.size, is_directory=False, executable=executable)


def _parts(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Iterator[bytes]:
    file = archive.extractfile(member)
    left = member.size
    while file is not None and left > 0:
        part = file.read(min(CHUNK, left))
        if not part:
            raise ValueError("it ends inside a file")
        left -= len(part)
        yield part


class _Bounded:
    """The unpacked stream, as a file that `tarfile` reads. It refuses to read further than the limits allow."""

    def __init__(self, data: bytes) -> None:
        packed = io.BytesIO(data)
        self._file = gzip.GzipFile(fileobj=packed) if data.startswith(_GZIP) else packed
        self._most = min(MAX_BYTES, MAX_RATIO * len(data)) + _HEADERS

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= CHUNK:
            raise LimitExceededError("bytes of a header in the archive", CHUNK, None)
        self._require(self._file.tell() + size)
        return self._file.read(size)

    def seek(self, position: int, whence: int = 0) -> int:
        if whence or position < 0:
            raise ValueError("an entry begins before the start")
        self._require(position)
        return self._file.seek(position)

    def tell(self) -> int:
        return self._file.tell()

    def _require(self, position: int) -> None:
        if position > self._most:
            raise LimitExceededError("unpacked bytes of the archive", self._most, None)

    def require_end(self, position: int) -> None:
        """Require a block of zeros, and only zeros after it. Reading to the end checks the checksum of gzip."""
        self.seek(position)
        size = 0
        while part := self.read(CHUNK):
            if part.strip(b"\0"):
                raise ValueError("a header is not valid, or something follows its end")
            size += len(part)
        if size < _BLOCK:
            raise ValueError("it ends too early")
