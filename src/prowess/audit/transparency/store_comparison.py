"""Compares what a store keeps beside the records of a log with the records: time, person, and tiles of the tree.

The checkpoint signs the bodies alone. Times select and erase by the columns, and the log is continued by the tiles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import DecodeError, Struct
from msgspec.json import Decoder

from prowess.audit.chain_walk import AuditFinding
from prowess.audit.transparency.erased import ERASED_KIND
from prowess.audit.transparency.merkle import leaf_hash
from prowess.audit.transparency.tiles import extended

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.store.shared.audit_rows import LogRow, SharedAuditRows

_PSEUDONYM = "person-"
_BY_THE_LOG = {ERASED_KIND, "log.unreadable"}  # they have no user, or that of the act


class _Data(Struct):
    user: object = None


class _Stored(Struct):
    at: str
    kind: str
    data: _Data


_stored = Decoder(_Stored).decode


def difference(row: LogRow) -> str | None:
    """Return the name of the column that is not as the body states, None if there is none or the body was erased.

    `body` if the body is not the one of the hash.
    """
    if row.body is None:
        return None
    if leaf_hash(row.body) != row.leaf:
        return "body"
    try:
        body = _stored(row.body)
    except (DecodeError, UnicodeDecodeError):
        return "body"
    if body.at != row.at:
        return "at"
    user = body.data.user
    named = user if isinstance(user, str) and user.startswith(_PSEUDONYM) else None
    return "person" if body.kind not in _BY_THE_LOG and named != row.person else None


def store_faults(rows: SharedAuditRows, size: int) -> Iterator[AuditFinding]:
    """Yield the faults of the first `size` records of a log. Raises StoreError.

    It does not verify the records: an export of all of them does.
    """
    tiles: dict[tuple[int, int], bytes] = {}
    read = 0
    for page in rows.pages(1, size):
        for row in page:
            if (name := difference(row)) is not None:
                text = f"record {row.sequence}: the column {name!r} of the store is not as the record was signed"
                yield AuditFinding(kind="changed", message=text, record=row.sequence)
        leaves = [row.leaf if row.body is None else leaf_hash(row.body) for row in page]
        tiles.update(extended(lambda level, number: tiles.get((level, number), b""), read, leaves))
        read += len(page)
    for (level, number), hashes in tiles.items():
        if not rows.tile(level, number).startswith(hashes):  # the log may have been continued meanwhile
            text = f"tile {number} of level {level} of the tree in the store was changed or removed"
            yield AuditFinding(kind="changed", message=text)
