"""Records of a tenant as they arrive, before they have a place in the log: for pages that people watch.

Nothing here is proved. A record that has no place yet has the number 0 and no hash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.audit.record import read_line, waiting_record
from prowess.audit.transparency.central_log import with_name
from prowess.audit.transparency.sequencer import event_of
from prowess.store.shared.audit_rows import PAGE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.audit.record import AuditRecord
    from prowess.audit.selection import RecordFilter
    from prowess.store.shared.audit_rows import InboxRow, LogRow, SharedAuditRows

_MOST = 500  # rows of one look
_BACKLOG = 200  # records before the first look


class ArrivedRecord(Struct, frozen=True, kw_only=True):
    """A record with its id, which it keeps when it gets its place."""

    id: str
    record: AuditRecord


class ArrivingRecords:
    """Yields each record of a tenant once, in the order in which they arrive. Blocking; for one thread at a time."""

    def __init__(self, rows: SharedAuditRows) -> None:
        self._rows = rows
        self._after: int | None = None
        self._waiting: set[str] = set()  # ids of rows of the inbox that were yielded
        self._people: dict[str, str] = {}

    def look(self) -> list[ArrivedRecord]:
        """Return the records that arrived since the last look; at first, some of the last. Raises StoreError."""
        if self._after is None:
            end = self._rows.end()
            self._after = max(0, (0 if end is None else end.size) - _BACKLOG)
        waiting, placed = self._rows.arrived(self._after, _MOST)
        found: list[ArrivedRecord] = []
        for row in placed:
            self._after = row.sequence
            if row.id in self._waiting:
                self._waiting.discard(row.id)
            elif (arrived := self._named(row)) is not None:
                found.append(arrived)
        known = self._waiting | {row.id for row in placed}
        for one in waiting:
            if one.id not in known and (arrived := self._named(one)) is not None:
                self._waiting.add(one.id)
                found.append(arrived)
        return found

    def _named(self, row: InboxRow | LogRow) -> ArrivedRecord | None:
        if row.person is not None and row.person not in self._people:
            self._people = self._rows.people()
        return _arrived(row, self._people)


def latest_records(rows: SharedAuditRows, wanted: RecordFilter, count: int) -> tuple[list[ArrivedRecord], str | None]:
    """Return the last `count` records that match, the newest first, and the id of the last record of all.

    The records are fewer if they are long: together they have at most `PAGE_BYTES`, or are one.

    Raises:
        StoreError: the store cannot be used.
    """
    end, people = rows.end(), rows.people()
    last = 0 if end is None else end.size
    waiting, placed = rows.arrived(last, _MOST)
    known = {row.id for row in placed}
    found: list[ArrivedRecord] = []
    newest: str | None = None
    size = 0
    for row in _backwards(rows, [*placed, *(one for one in waiting if one.id not in known)], last):
        newest = row.id if newest is None else newest
        arrived = _arrived(row, people)
        if arrived is not None and wanted.fits(arrived.record):
            size += len(row.body or b"")
            if found and (len(found) == count or size > PAGE_BYTES):
                break
            found.append(arrived)
    return found, newest


def _backwards(rows: SharedAuditRows, first: list[InboxRow | LogRow], last: int) -> Iterator[InboxRow | LogRow]:
    yield from reversed(first)
    yield from rows.backwards(1, last)


def _arrived(row: InboxRow | LogRow, people: dict[str, str]) -> ArrivedRecord | None:
    """Return the record of a row, None if it was erased or cannot be read."""
    if row.body is None:
        return None
    try:
        record = read_line(row.body) if hasattr(row, "sequence") else waiting_record(event_of(row.body), row.at)
    except (ValueError, TypeError, RecursionError):
        return None
    return ArrivedRecord(id=row.id, record=with_name(record, people))
