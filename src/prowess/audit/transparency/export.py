"""Export files: records with a signed checkpoint, which can be verified without the log that they come from.

The first line of the file is the header, each further line one record. A complete export has the records exactly as
they were hashed, from the first to the last. In a filtered export each record has its place and its path in the Merkle
tree. A file has one spelling: each byte is either hashed, signed, or compared with how it would be written.
"""

from __future__ import annotations

import base64
import os
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO

from msgspec import DecodeError, Raw, Struct
from msgspec.json import Decoder, encode

from prowess._internal.files.open_flags import NEW_FILE
from prowess.audit.transparency.merkle import inclusion_proof

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from prowess.audit.transparency.merkle import Subtrees

FORMAT = 1
MAX_HEADER_BYTES = 2 * 1024 * 1024


class NotAnExportError(ValueError):
    """The file is no export that this version can read; the message is the reason."""


class ExportHeader(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The first line of an export.

    `checkpoint` is a signed note. A filtered export is not `complete`; `records` is the number of its records, and
    `last` the place of the last one in the log, counted from 0.
    """

    prowess_export: int
    checkpoint: str
    complete: bool
    records: int | None = None
    last: int | None = None


class ProvedRecord(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A record in a filtered export, with its place in the log, counted from 0, and its path to the root."""

    index: int
    path: tuple[str, ...]
    record: Raw


_header = Decoder(ExportHeader).decode
_proved = Decoder(ProvedRecord).decode


def header_line(header: ExportHeader) -> bytes:
    """Return the first line of an export."""
    return encode(header) + b"\n"


def read_header(line: bytes) -> ExportHeader:
    """Read the first line. Raises NotAnExportError if it is not exactly as `header_line` writes it."""
    try:
        header = _header(line)
    except (DecodeError, UnicodeDecodeError):
        raise NotAnExportError("it does not begin with the header of an export") from None
    if header.prowess_export != FORMAT:
        raise NotAnExportError(f"its format is {header.prowess_export}; this version reads {FORMAT}, update Prowess")
    if header_line(header) != line:
        raise NotAnExportError("its header is not as it was written")
    return header


def read_header_of(path: str) -> ExportHeader:
    """Read the header of a file. Raises NotAnExportError if it is no export, and OSError."""
    with open(path, "rb") as stream:
        return read_header(stream.readline(MAX_HEADER_BYTES))


def proved_lines(tree: Subtrees, size: int, records: Iterable[tuple[int, bytes]]) -> Iterator[bytes]:
    """Yield the lines of records, given by their places and bytes, with their paths in the tree of `size` records."""
    for index, record in records:
        path = tuple(base64.b64encode(one).decode() for one in inclusion_proof(tree, index, size))
        yield encode(ProvedRecord(index=index, path=path, record=Raw(record))) + b"\n"


def read_proved(line: bytes) -> tuple[int, Sequence[bytes], bytes] | None:
    """Return place, path and bytes of a record, or None if the line is not as `proved_lines` writes it."""
    try:
        found = _proved(line)
        path = [base64.b64decode(one, validate=True) for one in found.path]
    except (DecodeError, UnicodeDecodeError, ValueError):
        return None
    return None if encode(found) + b"\n" != line else (found.index, path, bytes(found.record))


def write_export(path: str, header: ExportHeader, lines: Iterable[bytes]) -> None:
    """Write an export with mode 0600. After a failure there is the old file or none. Raises OSError."""

    def write(stream: BinaryIO) -> None:
        stream.write(header_line(header))
        stream.writelines(lines)

    write_whole(path, write)


def write_whole(path: str, write: Callable[[BinaryIO], None]) -> None:
    """Let `write` write a file with mode 0600. After a failure there is the old file or none. Raises OSError."""
    directory, name = os.path.split(os.path.abspath(path))
    draft = os.path.join(directory, f".{name}.{os.urandom(6).hex()}.tmp")
    try:
        with open(os.open(draft, NEW_FILE, 0o600), "wb") as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise
