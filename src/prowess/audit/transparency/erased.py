"""Records whose body was erased: their hash stays in the log and in exports, and a record accounts for them."""

from __future__ import annotations

import base64

from msgspec import DecodeError, Struct
from msgspec.json import Decoder, encode

from prowess.audit.transparency.merkle import HASH_BYTES

ERASED_KIND = "audit.erased"  # kind of the records that state how many bodies were removed
_MARK = b'"kind":"audit.erased"'
ERASED_BEGIN = b'{"erased":'


class ErasedRecord(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of an export in place of a record: the hash of the record in base64."""

    erased: str


class _Data(Struct):
    records: int


class _Erasure(Struct):
    kind: str
    data: _Data


_erased = Decoder(ErasedRecord).decode
_erasure = Decoder(_Erasure).decode


def erased_line(leaf: bytes) -> bytes:
    """Return the line for a record that was erased."""
    return encode(ErasedRecord(erased=base64.b64encode(leaf).decode())) + b"\n"


def read_erased(line: bytes) -> bytes | None:
    """Return the hash in a line, None if it is not as `erased_line` writes it."""
    if not line.startswith(ERASED_BEGIN):
        return None
    try:
        leaf = base64.b64decode(_erased(line).erased, validate=True)
    except (DecodeError, UnicodeDecodeError, ValueError):
        return None
    return leaf if len(leaf) == HASH_BYTES and erased_line(leaf) == line else None


def erased_by(line: bytes) -> int:
    """Return how many bodies were removed according to this record, 0 if it is about something else."""
    if _MARK not in line:
        return 0
    try:
        found = _erasure(line)
    except (DecodeError, UnicodeDecodeError):
        return 0
    return found.data.records if found.kind == ERASED_KIND else 0
