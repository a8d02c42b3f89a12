"""One file of an archive, and the limits of an archive."""

from __future__ import annotations

import gzip
import struct
import tarfile
import zipfile
import zlib
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_PACKED = 64 * 1024 * 1024  # bytes of an archive
MAX_RATIO = 100  # unpacked bytes for each packed byte
CHUNK = 1 << 20
# What the readers and the standard library raise for damaged archives, beside errors of Prowess.
DAMAGED = (
    EOFError,
    IndexError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
    ValueError,
    gzip.BadGzipFile,
    struct.error,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
)


class ArchiveEntry(Struct, frozen=True, kw_only=True):
    """An entry as the archive declares it. `size` is in bytes, 0 for a directory."""

    path: str
    size: int
    is_directory: bool
    executable: bool = False


class ArchiveFormat(Protocol):
    """Reads one format. Each iteration reads the archive again from the start.

    The parts of an entry must be read before the next entry is taken, or are skipped. At the end everything that
    follows the last entry has been checked.
    """

    def __iter__(self) -> Iterator[tuple[ArchiveEntry, Iterator[bytes]]]:
        """Yield each entry and the parts of its bytes.

        Raises:
            UnsafePathError: an entry is a link or another special file.
            LimitExceededError: a header is too large.
            Exception: one of `DAMAGED`: the archive is encrypted or damaged; the message states how.
        """
        ...
