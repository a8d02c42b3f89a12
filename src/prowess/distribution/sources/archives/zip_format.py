"""Reads zip archives with `zipfile`, and refuses what other programs could read in another way."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
from typing import TYPE_CHECKING

from prowess._internal.files.tree_digest import MAX_ENTRIES
from prowess.distribution.sources.archives.entry import CHUNK, ArchiveEntry
from prowess.errors import LimitExceededError, UnsafePathError

if TYPE_CHECKING:
    from collections.abc import Iterator

_START, _END = b"PK\x03\x04", b"PK\x05\x06"
_END_SIZE = 22
_MAX_DIRECTORY = 16 * 1024 * 1024  # bytes of the list of entries; 20 000 entries need about 2 MiB
_IN_ZIP64 = (0xFFFF, 0xFFFFFFFF)
_ENCRYPTED = 0x1 | 0x40 | 0x2000  # flags: encrypted, strong encryption, hidden headers
_REPARSE_POINT = 0x400  # attribute of a link on Windows
_UNIX = 3
_UNICODE_PATH = 0x7075  # extra field with another spelling of the path
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}


class ZipFormat:
    """A zip archive in memory (`ArchiveFormat`)."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def __iter__(self) -> Iterator[tuple[ArchiveEntry, Iterator[bytes]]]:
        """Yield each entry and its parts."""
        _require_plain_end(self._data)
        with zipfile.ZipFile(io.BytesIO(self._data)) as archive:
            for info in archive.infolist():
                yield _entry(info), _parts(archive, info)


def _require_plain_end(data: bytes) -> None:
    """Refuse an archive whose list of entries is too large, in zip64, or not where every program looks for it."""
    at = data.rfind(_END)
    if not data.startswith((_START, _END)) or at < 0 or len(data) - at < _END_SIZE:
        raise ValueError("it does not begin and end like a zip archive")
    _, _, here, total, size, start, comment = struct.unpack("<4H2LH", data[at + 4 : at + _END_SIZE])
    if at + _END_SIZE + comment != len(data):
        raise ValueError("something follows its end, so programs could find other entries in it")
    if here in _IN_ZIP64 or total in _IN_ZIP64 or size in _IN_ZIP64 or start in _IN_ZIP64:
        raise ValueError("it is a zip64 archive, which only archives above the limits need")
    if here != total or start + size != at:
        raise ValueError("its list of entries is not directly before its end")
    if total > MAX_ENTRIES or size > _MAX_DIRECTORY:
        raise LimitExceededError("entries in the archive", MAX_ENTRIES, None)


def _entry(info: zipfile.ZipInfo) -> ArchiveEntry:
    path = info.orig_filename
    if info.flag_bits & _ENCRYPTED:
        raise ValueError(f"{path!r} is encrypted")
    if info.compress_type not in _METHODS:
        raise ValueError(f"{path!r} is compressed with a method other than deflate")
    if _has_second_path(info.extra):
        raise ValueError(f"{path!r} has a second path, so programs could unpack it to another place")
    mode = info.external_attr >> 16 if info.create_system == _UNIX else 0
    is_directory = path.endswith("/")
    if stat.S_IFMT(mode) not in {0, stat.S_IFDIR if is_directory else stat.S_IFREG}:
        raise UnsafePathError(path, "it is a link or another special file in the archive; put the file itself there")
    if info.create_system != _UNIX and info.external_attr & _REPARSE_POINT:
        raise UnsafePathError(path, "it is a link in the archive; put the file itself there")
    if is_directory and info.file_size:
        raise ValueError(f"{path!r} is a directory with bytes")
    return ArchiveEntry(path=path, size=info.file_size, is_directory=is_directory, executable=bool(mode & stat.S_IXUSR))


def _has_second_path(extra: bytes) -> bool:
    at = 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<HH", extra, at)
        if kind == _UNICODE_PATH:
            return True
        at += 4 + size
    return False


def _parts(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    with archive.open(info) as file:  # compares the entry's own header, and at the end the checksum
        while part := file.read(CHUNK):
            yield part
