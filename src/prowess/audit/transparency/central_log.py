"""The audit log of one tenant in a shared store.

`SharedAuditLog` is for those who record: a record is durable when `append` returns, and gets its place in the log later
from a sequencer. The other functions read records that have a place. The log knows users by pseudonyms, whose names are
in a table of their own.
"""

from __future__ import annotations

import secrets
import threading
from typing import TYPE_CHECKING

from msgspec import DecodeError, Struct
from msgspec.json import Decoder
from msgspec.structs import replace

from prowess._internal.text.canonical_json import NotJsonError
from prowess._internal.uuid7 import uuid7
from prowess.audit.record import MAX_LINE_BYTES, AuditRecord, time_text, waiting_record
from prowess.audit.selection import RecordFilter, RecordPage, cursor_number
from prowess.audit.transparency.checkpoint import Checkpoint, read_checkpoint
from prowess.audit.transparency.erased import erased_line
from prowess.audit.transparency.export import FORMAT, ExportHeader, header_line, proved_lines
from prowess.audit.transparency.log_walk import LogWalk
from prowess.audit.transparency.merkle import leaf_hash
from prowess.audit.transparency.sequencer import OWN_KINDS, event_bytes
from prowess.audit.transparency.tiles import TileTree
from prowess.errors import AuditError, AuditReadError, LimitExceededError, StoreError
from prowess.store.shared.audit_rows import PAGE_BYTES, InboxRow, LogRow, SharedAuditRows

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from prowess.audit.record import AuditEvent
    from prowess.store.shared.database import SharedDatabase

_MOST_BYTES = MAX_LINE_BYTES - 4096  # place, hashes and time are added
_MOST_TRIES = 5  # each is lost only to an erasure of the same user


class PlacedEvent(Struct, frozen=True, kw_only=True):
    """An event with its time, and an id that sorts by it."""

    id: str
    at: str
    event: AuditEvent


_record = Decoder(AuditRecord).decode


class SharedAuditLog:
    """An `AuditLog` for a tenant of a shared store. Many processes may write at once.

    Records that `append` returns have the place 0 and no hash, because they get both later.
    """

    is_central = True  # a record is with the organisation when `append` returns

    def __init__(self, database: SharedDatabase) -> None:
        self._rows = SharedAuditRows(database)
        self._lock = threading.Lock()
        self._pseudonyms: dict[str, str] = {}

    def append(self, event: AuditEvent) -> AuditRecord:
        """Write one record. On return it is durable. Blocks.

        Raises:
            AuditError: the record was not written, or it is not known whether it was.
        """
        at = time_text()
        if event.kind.startswith(OWN_KINDS):
            raise AuditError(self._rows.database.url, f"kind {event.kind!r} is reserved for the log itself")
        self.add_placed([PlacedEvent(id=uuid7(), at=at, event=event)])
        return waiting_record(event, at)

    def add_placed(self, events: Sequence[PlacedEvent]) -> None:
        """Write events whose ids and times are given, also of the log's own kinds: for the collector of machines' logs.

        On return they are durable. An event whose id is there already is not written again.

        Raises:
            AuditError: they were not written, or it is not known whether they were.
        """
        url = self._rows.database.url
        try:
            for _ in range(_MOST_TRIES):
                rows = [self._row(one) for one in events]
                erased = self._rows.add(rows) if rows else frozenset()
                if not erased:
                    return
                self._forget(erased)
            raise AuditError(url, "the pseudonym of its user was erased again and again; try again")
        except StoreError as fault:
            raise AuditError(url, fault.reason) from fault
        except NotJsonError as fault:
            raise AuditError(url, f"this event cannot be recorded: {fault}") from fault
        except LimitExceededError as fault:
            raise AuditError(url, "this event cannot be recorded: its data is nested too deep") from fault

    def _row(self, placed: PlacedEvent) -> InboxRow:
        event = placed.event
        user = event.data.get("user")
        person = self._pseudonym(user) if isinstance(user, str) else None
        body = event_bytes(event if person is None else replace(event, data={**event.data, "user": person}))
        if len(body) > _MOST_BYTES:
            reason = f"this event cannot be recorded: it has more than {_MOST_BYTES} bytes"
            raise AuditError(self._rows.database.url, reason)
        return InboxRow(id=placed.id, at=placed.at, person=person, body=body)

    def close(self) -> None:
        """Close the connections to the store."""
        self._rows.database.close()

    def _forget(self, erased: Collection[str]) -> None:
        with self._lock:
            self._pseudonyms = {user: name for user, name in self._pseudonyms.items() if name not in erased}

    def _pseudonym(self, user: str) -> str:
        with self._lock:
            if user not in self._pseudonyms:
                self._pseudonyms[user] = self._rows.pseudonym(user, f"person-{secrets.token_hex(8)}")
            return self._pseudonyms[user]


def newest(rows: SharedAuditRows, wanted: RecordFilter, count: int) -> list[AuditRecord]:
    """Return the last `count` records that match, in order, with the names of users. Raises StoreError."""
    found: list[AuditRecord] = []
    cursor: str | None = None
    while len(found) < count:
        page = newest_before(rows, wanted, count - len(found), cursor)
        found += page.records
        if (cursor := page.next) is None:
            break
    return found[::-1]


def newest_before(rows: SharedAuditRows, wanted: RecordFilter, limit: int, cursor: str | None) -> RecordPage:
    """Return the last `limit` matching records before `cursor`, the newest first, with the names of users.

    They are fewer if they are long: together they have at most `PAGE_BYTES`, or are one.

    Raises:
        AuditReadError: the cursor is not one of a store.
        StoreError: the store cannot be used.
    """
    people, (first, last) = rows.people(), _span(rows, wanted)
    if cursor is not None:
        last = min(last, cursor_number(rows.database.url, cursor) - 1)
    return _page(rows.backwards(first, last), people, wanted, limit, last + 1)


def page_of_store(rows: SharedAuditRows, wanted: RecordFilter, limit: int, cursor: str | None) -> RecordPage:
    """Return the first `limit` matching records after `cursor`, which is the number of a record.

    They are fewer if they are long, as in `newest_before`.

    Raises:
        AuditReadError: the cursor is not one of a store.
        StoreError: the store cannot be used.
    """
    people, (first, last) = rows.people(), _span(rows, wanted)
    after = cursor_number(rows.database.url, cursor)
    return _page(rows.records(max(first, after + 1), last), people, wanted, limit, after)


def _page(
    rows: Iterator[LogRow], people: Mapping[str, str], wanted: RecordFilter, limit: int, cursor: int
) -> RecordPage:
    found: list[AuditRecord] = []
    damaged = size = 0
    for row in rows:
        record = _intact(row, people)
        damaged += row.body is not None and record is None
        if row.body is None or record is None or not wanted.fits(record):
            continue
        size += len(row.body)
        if found and (len(found) == limit or size > PAGE_BYTES):
            return RecordPage(records=tuple(found), damaged=damaged, next=str(cursor))
        found.append(record)
        cursor = row.sequence
    return RecordPage(records=tuple(found), damaged=damaged, next=None)


def _span(rows: SharedAuditRows, wanted: RecordFilter) -> tuple[int, int]:
    """Return the first and the last number of records that can be in the time that is wanted."""
    end = rows.end()
    return (1, 0) if end is None else rows.span(end.size, wanted.since, wanted.until)


def checkpoint_of(rows: SharedAuditRows) -> Checkpoint:
    """Return the last checkpoint. Raises AuditReadError if no record has a place yet, and StoreError."""
    end = rows.end()
    if end is None:
        waiting = rows.waiting()
        advice = "run `prowess audit checkpoint --store URL`" if waiting else "nothing was recorded"
        raise AuditReadError(rows.database.url, f"no record of tenant {rows.tenant!r} has a place yet; {advice}")
    return read_checkpoint(end.checkpoint)


class LogExport(Struct, frozen=True, kw_only=True):
    """An export of a log up to `checkpoint`: the number of its records, and its lines, which are read as they are used.

    `complete` is false if records were selected.
    """

    checkpoint: Checkpoint
    records: int
    complete: bool
    header: ExportHeader
    lines: Iterator[bytes]

    def all_lines(self) -> Iterator[bytes]:
        """Yield the header and all further lines. Raises StoreError."""
        yield header_line(self.header)
        yield from self.lines


def export_lines(rows: SharedAuditRows, wanted: RecordFilter) -> LogExport:
    """Return an export of the log up to its last checkpoint.

    Raises:
        AuditReadError: no record has a place yet.
        StoreError: the store cannot be used.
    """
    checkpoint = checkpoint_of(rows)
    header = ExportHeader(prowess_export=FORMAT, checkpoint=str(checkpoint), complete=wanted.leaves_all)
    if wanted.leaves_all:
        lines, records = _lines(rows, checkpoint.size), checkpoint.size
    else:
        chosen = list(_chosen(rows, wanted, checkpoint.size))
        tree, found = TileTree(rows.tile, rows.database.url), _numbered(rows, chosen)
        lines, records = proved_lines(tree, checkpoint.size, found), len(chosen)
        header = replace(header, records=records, last=chosen[-1] - 1 if chosen else None)
    return LogExport(checkpoint=checkpoint, records=records, complete=wanted.leaves_all, header=header, lines=lines)


def stored_records(
    rows: SharedAuditRows,
    *,
    since: str | None = None,
    until: str | None = None,
    check: Callable[[], None] | None = None,
) -> Iterator[AuditRecord]:
    """Yield all records with a body, in order, with the names of users. `since` and `until` as in `RecordFilter`.

    `check` is called for each page of the store, and may raise.

    Raises:
        AuditReadError: the records are not those of the last checkpoint; raised at the end.
        StoreError: the store cannot be used.
    """
    people, url = rows.people(), rows.database.url
    wanted, walk = RecordFilter(since=since, until=until), LogWalk(rows, since=since, until=until, check=check)
    for body, number in walk:
        try:
            record = _record(body)
        except DecodeError:
            raise AuditReadError(url, f"record {number} was changed; run `prowess audit verify`") from None
        if wanted.fits(record):
            yield with_name(record, people)
    if not walk.is_unchanged:
        raise AuditReadError(url, "its records are not those of the signed checkpoint; run `prowess audit verify`")


def _lines(rows: SharedAuditRows, size: int) -> Iterator[bytes]:
    for row in rows.records(1, size):
        yield erased_line(row.leaf) if row.body is None else row.body + b"\n"


def _chosen(rows: SharedAuditRows, wanted: RecordFilter, size: int) -> Iterator[int]:
    people = rows.people()
    for row in rows.records(1, size):
        if row.body is not None and wanted.fits(_required(row, people, rows)):
            yield row.sequence


def _numbered(rows: SharedAuditRows, numbers: Sequence[int]) -> Iterator[tuple[int, bytes]]:
    """Yield place and body of records. Raises AuditReadError if one is no longer there."""
    left = iter(numbers)
    for row in rows.numbered(numbers):
        if row.body is None or row.sequence != next(left):
            raise AuditReadError(rows.database.url, f"record {row.sequence} was erased meanwhile; export again")
        yield row.sequence - 1, row.body


def _required(row: LogRow, people: Mapping[str, str], rows: SharedAuditRows) -> AuditRecord:
    """Return the record of a row with a body. Raises AuditReadError if it is not the one whose hash is in the log."""
    if (record := _intact(row, people)) is None:
        raise AuditReadError(rows.database.url, f"record {row.sequence} was changed; run `prowess audit verify`")
    return record


def _intact(row: LogRow, people: Mapping[str, str]) -> AuditRecord | None:
    """Return the record of a row with the name of its user; None if it was erased or changed."""
    if row.body is None or leaf_hash(row.body) != row.leaf:
        return None
    try:
        return with_name(_record(row.body), people)
    except (DecodeError, UnicodeDecodeError):
        return None


def with_name(record: AuditRecord, people: Mapping[str, str]) -> AuditRecord:
    """Return a record of a store with the name of its user, if that was not erased."""
    user = record.data.get("user")
    return (
        replace(record, data={**record.data, "user": people[user]})
        if isinstance(user, str) and user in people
        else record
    )
