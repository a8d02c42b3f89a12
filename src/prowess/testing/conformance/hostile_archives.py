"""Archives that every source must refuse whole, each with one fault.

Each one contains a valid skill `pdf` beside the fault, so that a reader which skips the faulty entry would accept it.
"""

from __future__ import annotations

import gzip
import io
import stat
import struct
import tarfile
import warnings
import zipfile
import zlib
from functools import cache, partial
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable

SKILL = b"---\nname: pdf\ndescription: Reads PDF files.\n---\n# Read\n"
_EXECUTABLE = 0o755
_MANY = 20_001
_MIB = 1024 * 1024


class HostileArchive(Struct, frozen=True, kw_only=True):
    """One archive. `name` describes its fault, `suffix` is `.zip` or `.tar.gz`; `make` returns its bytes."""

    name: str
    suffix: str
    make: Callable[[], bytes]


def hostile_archives() -> tuple[HostileArchive, ...]:
    """Return all of them. Making one takes up to a second, and the largest has 64 MiB."""
    zips: dict[str, Callable[[], bytes]] = {
        **{name: partial(_zip, path) for name, path in _PATHS.items()},
        **{name: partial(_zip, *pair) for name, pair in _PAIRS.items()},
        **{name: partial(_special_zip, mode) for name, mode in _ZIP_MODES.items()},
        **_ZIPS,
    }
    tars: dict[str, Callable[[], bytes]] = {
        **{name: partial(_tar, path) for name, path in _PATHS.items()},
        **{name: partial(_tar, *pair) for name, pair in _PAIRS.items()},
        **{name: partial(_special_tar, kind) for name, kind in _TAR_KINDS.items()},
        **_TARS,
    }
    return tuple(
        HostileArchive(name=f"{suffix}: {name}", suffix=suffix, make=make)
        for suffix, makers in ((".zip", zips), (".tar.gz", tars))
        for name, make in makers.items()
    )


_PATHS = {
    "an absolute path": "/tmp/prowess-escaped",  # noqa: S108 -- hostile on purpose
    "a path with ..": "../escaped",
    "a path with .. inside": "pdf/../../escaped",
    "a backslash": "..\\escaped",
    "a drive letter": "C:escaped",
    "a Windows device": "pdf/NUL",
    "the repository of git in another case": "pdf/.GIT/config",
    "the repository of git as a short name": "pdf/GIT~1/config",
    "the repository of git with a sign that macOS ignores": "pdf/.g\u200cit/config",
    "a Windows device with a suffix": "pdf/com1.txt",
    "a stream of another file": "pdf/SKILL.md:hidden",
    "a name that ends with a dot": "pdf/SKILL.md.",
    "a control character": "pdf/a\x1b[2Jb",
    "too many levels": "/".join("d" * 70) + "/f",
    "a name that is too long": "pdf/" + "n" * 300,
}
_PAIRS = {
    "the same path twice": ("pdf/a.md", "pdf/a.md"),
    "paths that differ in case": ("pdf/Read.md", "pdf/read.md"),
    "directories that differ in case": ("pdf/Docs/a.md", "pdf/docs/b.md"),
    "paths that differ in the Unicode form": ("pdf/caf\u00e9.md", "pdf/cafe\u0301.md"),
    "a file that is a directory too": ("pdf/a", "pdf/a/b.md"),
}
_TAR_KINDS = {
    "a symbolic link": tarfile.SYMTYPE,
    "a hard link": tarfile.LNKTYPE,
    "a character device": tarfile.CHRTYPE,
    "a block device": tarfile.BLKTYPE,
    "a pipe": tarfile.FIFOTYPE,
    "a contiguous file": tarfile.CONTTYPE,
    "an unknown kind": b"Q",
}
_ZIP_MODES = {
    "a symbolic link": stat.S_IFLNK | 0o777,
    "a pipe": stat.S_IFIFO | 0o644,
    "a device": stat.S_IFCHR | 0o644,
    "a socket": stat.S_IFSOCK | 0o644,
}


def _zip_of(entries: list[tuple[zipfile.ZipInfo, bytes]]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two entries with one path are intended
        for info, data in entries:
            archive.writestr(info, data)
    return out.getvalue()


def _info(path: str, mode: int = stat.S_IFREG | 0o644) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo("x")
    info.filename = info.orig_filename = path
    info.create_system = 3
    info.external_attr = mode << 16
    return info


def _zip(*paths: str) -> bytes:
    return _zip_of([(_info("pdf/SKILL.md"), SKILL), *((_info(path), b"x") for path in paths)])


def _special_zip(mode: int) -> bytes:
    return _zip_of([(_info("pdf/SKILL.md"), SKILL), (_info("pdf/special", mode), b"SKILL.md")])


def _windows_link() -> bytes:
    link = _info("pdf/special")
    link.create_system, link.external_attr = 0, 0x400  # MS-DOS; a reparse point
    return _zip_of([(_info("pdf/SKILL.md"), SKILL), (link, b"SKILL.md")])


def _tar_of(entries: list[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for info, data in entries:
            archive.addfile(info, io.BytesIO(data))
    return gzip.compress(out.getvalue())


def _member(path: str, size: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(path)
    info.size = size
    return info


def _tar(*paths: str) -> bytes:
    return _tar_of([(_member("pdf/SKILL.md", len(SKILL)), SKILL), *((_member(path, 1), b"x") for path in paths)])


def _special_tar(kind: bytes) -> bytes:
    info = tarfile.TarInfo("pdf/special")
    info.type, info.linkname = kind, "SKILL.md"
    return _tar_of([(_member("pdf/SKILL.md", len(SKILL)), SKILL), (info, b"")])


def _patched(data: bytes, old: bytes, new: bytes) -> bytes:
    """Replace bytes that must occur; both have one length."""
    assert old in data, old
    return data.replace(old, new)


def _with_nul() -> bytes:
    return _patched(_zip("pdf/a!b"), b"pdf/a!b", b"pdf/a\0b")


def _encrypted() -> bytes:
    data = bytearray(_zip("pdf/secret"))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        found = data.rfind(mark)
        data[found + at] |= 1
    return bytes(data)


def _zip_bomb() -> bytes:
    bomb = _info("pdf/bomb")
    bomb.compress_type = zipfile.ZIP_DEFLATED
    return _zip_of([(_info("pdf/SKILL.md"), SKILL), (bomb, bytes(8 * _MIB))])


def _lying_zip() -> bytes:
    """A bomb that declares 100 bytes."""
    data = bytearray(_zip_bomb())
    size = struct.pack("<L", 8 * _MIB)
    while (at := data.find(size)) >= 0:
        data[at : at + 4] = struct.pack("<L", 100)
    return bytes(data)


@cache  # for the next source: making it takes a second
def _many_in_zip() -> bytes:
    entries = [(_info(f"pdf/{number}"), b"") for number in range(_MANY)]
    return _zip_of([(_info("pdf/SKILL.md"), SKILL), *entries])


def _zip_with_second_path() -> bytes:
    info = _info("pdf/harmless")
    name = b"../../escaped"
    info.extra = struct.pack("<HHBL", 0x7075, 5 + len(name), 1, zlib.crc32(b"pdf/harmless")) + name
    return _zip_of([(_info("pdf/SKILL.md"), SKILL), (info, b"x")])


def _zip_with_two_names() -> bytes:
    """The list of entries names one file, the entry's own header another one."""
    data = _zip("pdf/good.md")
    at = data.find(b"pdf/good.md")
    return data[:at] + b"pdf/evil.md" + data[at + 11 :]


def _zip_with_prefix() -> bytes:
    return b"#!/bin/sh\n" + _zip("pdf/a")


def _zip_with_suffix() -> bytes:
    return _zip("pdf/a") + b"trailing bytes"


def _two_zips() -> bytes:
    return _zip("pdf/a") + _zip("pdf/b")


def _damaged_zip() -> bytes:
    return _patched(_zip("pdf/a"), b"# Read", b"# Evil")


def _other_method() -> bytes:
    info = _info("pdf/a")
    info.compress_type = zipfile.ZIP_BZIP2
    return _zip_of([(_info("pdf/SKILL.md"), SKILL), (info, b"x" * 100)])


def _tar_bomb() -> bytes:
    return _tar_of([(_member("pdf/SKILL.md", len(SKILL)), SKILL), (_member("pdf/bomb", 8 * _MIB), bytes(8 * _MIB))])


def _zeros_after_tar() -> bytes:
    """Gzip that unpacks to far more zeros than the limit, after the end of the archive."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    parts = [packer.compress(gzip.decompress(_tar("pdf/a")))]
    parts += [packer.compress(bytes(_MIB)) for _ in range(64)]
    return b"".join(parts) + packer.flush()


@cache  # as _many_in_zip
def _many_in_tar() -> bytes:
    entries = [(_member(f"pdf/{number}", 0), b"") for number in range(_MANY)]
    return _tar_of([(_member("pdf/SKILL.md", len(SKILL)), SKILL), *entries])


def _cut(data: bytes) -> bytes:
    return gzip.compress(gzip.decompress(data)[: 3 * 512])


def _cut_gzip() -> bytes:
    return _tar("pdf/a")[:-12]


def _damaged_header() -> bytes:
    """The second header is damaged: some programs take it for the end."""
    data = bytearray(gzip.decompress(_tar("pdf/a")))
    data[1024 + 148] ^= 1
    return gzip.compress(bytes(data))


def _two_tars() -> bytes:
    return gzip.compress(gzip.decompress(_tar("pdf/a")) + gzip.decompress(_tar("pdf/b")))


def _huge_header() -> bytes:
    """An extended header that declares 8 GiB."""
    info = _member("pdf/a", 0)
    info.type = tarfile.XHDTYPE
    block = bytearray(info.tobuf(tarfile.USTAR_FORMAT))
    block[124:136] = b"77777777777\0"
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return gzip.compress(bytes(block) + bytes(4096))


def _negative_size() -> bytes:
    """A file whose size is below zero, so that the next header would be the same one again."""
    block = bytearray(_member("pdf/a", 0).tobuf(tarfile.GNU_FORMAT))
    block[124:136] = b"\xff" * 10 + b"\xfe\x00"
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    skill = gzip.decompress(_tar())
    return gzip.compress(skill[:1024] + bytes(block) + bytes(1024))


def _sparse() -> bytes:
    info = _member("pdf/a", 0)
    info.pax_headers = {
        "GNU.sparse.major": "0",
        "GNU.sparse.minor": "1",
        "GNU.sparse.map": "0,1",
        "GNU.sparse.size": "9",
    }
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(_member("pdf/SKILL.md", len(SKILL)), io.BytesIO(SKILL))
        archive.addfile(info, io.BytesIO(b""))
    return gzip.compress(out.getvalue())


def _damaged_gzip() -> bytes:
    data = bytearray(_tar("pdf/a"))
    data[-5] ^= 1
    return bytes(data)


def _not_utf8() -> bytes:
    data = gzip.decompress(_tar("pdf/a!b"))
    at = data.find(b"pdf/a!b")
    block = bytearray(data)
    block[at : at + 7] = b"pdf/a\xffb"
    start = at - at % 512
    block[start + 148 : start + 156] = b" " * 8
    block[start + 148 : start + 156] = b"%06o\0 " % sum(block[start : start + 512])
    return gzip.compress(bytes(block))


_ZIPS: dict[str, Callable[[], bytes]] = {
    "a NUL in a path": _with_nul,
    "a link of Windows": _windows_link,
    "an encrypted entry": _encrypted,
    "more than 100 times its size": _zip_bomb,
    "a bomb that declares a small size": _lying_zip,
    "more than 20 000 files": _many_in_zip,
    "a second path in an extra field": _zip_with_second_path,
    "two names of one entry": _zip_with_two_names,
    "bytes before the archive": _zip_with_prefix,
    "bytes after the archive": _zip_with_suffix,
    "two archives in one": _two_zips,
    "bytes that do not fit their checksum": _damaged_zip,
    "another compression": _other_method,
    "more than 64 MiB": lambda: _zip("pdf/a") + bytes(64 * _MIB),
}
_TARS: dict[str, Callable[[], bytes]] = {
    "more than 100 times its size": _tar_bomb,
    "zeros without end after the archive": _zeros_after_tar,
    "more than 20 000 files": _many_in_tar,
    "an end inside a file": lambda: _cut(_tar_bomb()),
    "no end of the archive": lambda: gzip.compress(gzip.decompress(_tar("pdf/a"))[: 4 * 512]),
    "an end inside gzip": _cut_gzip,
    "a damaged header": _damaged_header,
    "two archives in one": _two_tars,
    "a header of 8 GiB": _huge_header,
    "a size below zero": _negative_size,
    "a sparse file": _sparse,
    "bytes that do not fit their checksum": _damaged_gzip,
    "a path that is not UTF-8": _not_utf8,
    "no archive at all": lambda: b"\x1f\x8bnothing",
}
