"""Rows of the audit log of one tenant: the inbox of its writers, and the log that a sequencer made of it.

Writers insert into the inbox in any order and without waiting for each other. `sequence` gives one process at a time
the right to continue the log, until its transaction ends; so a sequencer that is killed leaves nothing behind.
"""

from __future__ import annotations

import zlib
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct
from sqlalchemy import bindparam, delete, func, insert, select, text, type_coerce, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.types import NullType

from prowess.errors import StoreError
from prowess.store.shared.database import BINARY
from prowess.store.shared.tables import AUDIT_INBOX, AUDIT_LOGS, AUDIT_PEOPLE, AUDIT_RECORDS, AUDIT_TILES, ORGANISATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sqlalchemy import Column, ColumnElement, Connection, Row, Select, Table

    from prowess.store.shared.database import SharedDatabase

_T = TypeVar("_T")
_PAGE = 1000
_LONG_PAGE = 4000
PAGE_BYTES = 8 * 1024 * 1024  # of bodies in a page; the last one can have 4 MB more
_LOCK = text("SELECT pg_try_advisory_xact_lock(:space, :tenant)")
_MOST_TRIES = 5  # each is lost only to an erasure of the same user between two statements
_LOCK_SPACE = 0x50574C47  # "PWLG"


class InboxRow(Struct, frozen=True, kw_only=True):
    """A record without a place. `id` sorts by time; `person` is the pseudonym of its user, None if it has none."""

    id: str
    at: str
    person: str | None
    body: bytes


class LogRow(Struct, frozen=True, kw_only=True):
    """A record of the log. `leaf` is its hash in the tree; `body` is None if it was erased."""

    sequence: int
    id: str
    at: str
    person: str | None
    leaf: bytes
    body: bytes | None


class LogEnd(Struct, frozen=True, kw_only=True):
    """The end of the log: the number of records, the hash of the last one, and the signed checkpoint."""

    size: int
    last: str | None
    checkpoint: str


_INBOX_COLUMNS = [AUDIT_INBOX.c[name] for name in InboxRow.__struct_fields__]
_LOG_COLUMNS = [AUDIT_RECORDS.c[name] for name in LogRow.__struct_fields__]


class SharedAuditRows:
    """The audit rows of one tenant. Every operation blocks and raises StoreError if the store cannot be used."""

    def __init__(self, database: SharedDatabase, tenant: str | None = None) -> None:
        self.database, self.tenant = database, database.tenant if tenant is None else tenant

    def add(self, rows: Sequence[InboxRow]) -> frozenset[str]:
        """Add rows to the inbox. On return they are durable. A row whose id is there already is not added again.

        A row whose pseudonym was erased is not added; these pseudonyms are returned. An erasure waits until the rows of
        its user are there, so that it finds them.
        """
        values = [{"tenant": self.tenant, **_fields(row)} for row in rows]
        named = [row for row in values if row["person"] is not None]
        nameless = [row for row in values if row["person"] is None]

        def work(db: Connection) -> frozenset[str]:
            if nameless:
                db.execute(_insert(db, AUDIT_INBOX).on_conflict_do_nothing(), nameless)
            if not named:
                return frozenset()
            statement = _ADD_NAMED[db.dialect.name == "postgresql"]
            added = db.execute(statement, named if len(named) > 1 else named[0])
            if added.rowcount == len(named):
                return frozenset()
            used = {str(row["person"]) for row in named}
            there = select(AUDIT_PEOPLE.c.pseudonym).where(self._of(AUDIT_PEOPLE), AUDIT_PEOPLE.c.pseudonym.in_(used))
            return frozenset(used.difference(db.execute(there).scalars()))

        return self.database.run(work)

    def has(self, row_id: str) -> bool:
        """Return whether a row with this id was added, wherever it is now."""

        def work(db: Connection) -> bool:
            tables = (AUDIT_INBOX, AUDIT_RECORDS)
            found = (select(one.c.id).where(self._of(one), one.c.id == row_id) for one in tables)
            return any(db.execute(wanted).first() is not None for wanted in found)

        return self.database.run(work, write=False)

    def pseudonym(self, user: str, proposed: str) -> str:
        """Return the pseudonym of a user: the stored one, or `proposed`, which is stored.

        Raises:
            StoreError: also if the pseudonym is erased as often as it is looked for.
        """
        known = select(AUDIT_PEOPLE.c.pseudonym).where(self._of(AUDIT_PEOPLE), AUDIT_PEOPLE.c.user == user)

        def work(db: Connection) -> str:
            row = {"tenant": self.tenant, "pseudonym": proposed, "user": user}
            for _ in range(_MOST_TRIES):
                db.execute(_insert(db, AUDIT_PEOPLE).on_conflict_do_nothing(), [row])
                if (found := db.execute(known).scalar()) is not None:
                    return str(found)
            raise StoreError(self.database.url, "the name of a user is erased again and again; try again")

        return self.database.run(work)

    def people(self) -> dict[str, str]:
        """Return the names of all users by their pseudonyms."""
        wanted = select(AUDIT_PEOPLE.c.pseudonym, AUDIT_PEOPLE.c.user).where(self._of(AUDIT_PEOPLE))
        rows = self.database.run(lambda db: db.execute(wanted).all(), write=False)
        return {row[0]: row[1] for row in rows}

    def end(self) -> LogEnd | None:
        """Return the end of the log, None if it has no record yet."""
        return self.database.run(lambda db: Sequencing(db, self.tenant).end(), write=False)

    def public_key(self) -> str:
        """Return the public key of the organisation, as the store states it."""
        wanted = select(ORGANISATIONS.c.public_key)
        return str(self.database.run(lambda db: db.execute(wanted).scalar_one(), write=False))

    def has_bodies_before(self, time: str) -> bool:
        """Return whether a record from before a time has a body that can be erased."""
        wanted = select(AUDIT_RECORDS.c.sequence).where(self._of(AUDIT_RECORDS), *_erasable_before(time)).limit(1)
        return self.database.run(lambda db: db.execute(wanted).first(), write=False) is not None

    def waiting(self) -> int:
        """Return the number of rows in the inbox."""
        counted = select(func.count()).select_from(AUDIT_INBOX).where(self._of(AUDIT_INBOX))
        return self.database.run(lambda db: int(db.execute(counted).scalar_one()), write=False)

    def tile(self, level: int, number: int) -> bytes:
        """Return the hashes of one tile, empty if there is none."""
        return self.database.run(lambda db: Sequencing(db, self.tenant).tile(level, number), write=False)

    def records(self, first: int, last: int) -> Iterator[LogRow]:
        """Yield the records from number `first` to `last`. A page of them is in memory."""
        for page in self.pages(first, last):
            yield from page

    def pages(self, first: int, last: int) -> Iterator[list[LogRow]]:
        """Yield the records from number `first` to `last`, in pages that are bounded by number and bytes."""
        while first <= last and (page := self._page(AUDIT_RECORDS.c.sequence.between(first, last))):
            yield page
            first = page[-1].sequence + 1

    def backwards(self, first: int, last: int) -> Iterator[LogRow]:
        """Yield the records from number `last` back to `first`. A page of them is in memory."""
        numbers = AUDIT_RECORDS.c.sequence
        while first <= last and (page := self._page(numbers.between(first, last), is_descending=True)):
            yield from page
            last = page[-1].sequence - 1

    def numbered(self, numbers: Sequence[int]) -> Iterator[LogRow]:
        """Yield the records with these numbers, which must be in order. A page of them is in memory."""
        for begin in range(0, len(numbers), _PAGE):
            some, after = numbers[begin : begin + _PAGE], 0
            wanted = AUDIT_RECORDS.c.sequence.in_(some)
            while after < some[-1] and (page := self._page(wanted, AUDIT_RECORDS.c.sequence > after)):
                yield from page
                after = page[-1].sequence

    def _page(self, *conditions: ColumnElement[bool], is_descending: bool = False) -> list[LogRow]:
        mine = (self._of(AUDIT_RECORDS), *conditions)
        wanted = _bounded(_LOG_COLUMNS, mine, AUDIT_RECORDS.c.sequence, _PAGE, is_descending=is_descending)
        return _log_rows(self.database.run(partial(_all, wanted), write=False))

    def arrived(self, after: int, most: int) -> tuple[list[InboxRow], list[LogRow]]:
        """Return the last `most` rows of the inbox, and the first `most` records with a number above `after`.

        Both are fewer if their bodies are long. A row that gets its place between the two statements is in both lists.
        """
        waiting = _bounded(_INBOX_COLUMNS, (self._of(AUDIT_INBOX),), AUDIT_INBOX.c.id, most, is_descending=True)
        above = (self._of(AUDIT_RECORDS), AUDIT_RECORDS.c.sequence > after)
        placed = _bounded(_LOG_COLUMNS, above, AUDIT_RECORDS.c.sequence, most)

        def work(db: Connection) -> tuple[list[InboxRow], list[LogRow]]:
            return _inbox_rows(_all(waiting, db))[::-1], _log_rows(_all(placed, db))

        return self.database.run(work, write=False)

    def span(self, size: int, since: str | None, until: str | None) -> tuple[int, int]:
        """Return the first and the last number of records from a time, `until` exclusive; `(1, 0)` if there is none."""
        if since is None and until is None:
            return 1, size
        number = AUDIT_RECORDS.c.sequence
        wanted = select(func.min(number), func.max(number)).where(self._of(AUDIT_RECORDS), number <= size)
        if since is not None:
            wanted = wanted.where(AUDIT_RECORDS.c.at >= since)
        if until is not None:
            wanted = wanted.where(AUDIT_RECORDS.c.at < until)
        first, last = self.database.run(lambda db: db.execute(wanted).one(), write=False)
        return (1, 0) if first is None else (int(first), int(last))

    def bodies(self, first: int, last: int) -> Iterator[Sequence[tuple[int, bytes, bytes | None]]]:
        """Yield number, leaf and body of the records from number `first` to `last`, in pages. Faster than `pages`.

        While a page is used, another thread waits for the database to send the next one.
        """
        with ThreadPoolExecutor(1) as thread:
            coming = thread.submit(self._bodies, first, last)
            while page := coming.result():
                coming = thread.submit(self._bodies, page[-1][0] + 1, last)
                yield page

    def _bodies(self, first: int, last: int) -> Sequence[tuple[int, bytes, bytes | None]]:
        columns = [
            AUDIT_RECORDS.c.sequence,
            type_coerce(AUDIT_RECORDS.c.leaf, NullType),
            type_coerce(AUDIT_RECORDS.c.body, NullType),
        ]
        mine = (self._of(AUDIT_RECORDS), AUDIT_RECORDS.c.sequence.between(first, last))
        wanted = _bounded(columns, mine, AUDIT_RECORDS.c.sequence, _LONG_PAGE).execution_options(**BINARY)
        return self.database.run(partial(_plain, wanted), write=False)

    def sequence(self, work: Callable[[Sequencing], _T]) -> _T | None:
        """Return the result of `work`, committed; None, without calling it, if another process continues the log."""

        def locked(db: Connection) -> _T | None:
            if db.dialect.name == "postgresql":
                key = {"space": _LOCK_SPACE, "tenant": zlib.crc32(self.tenant.encode()) - 2**31}
                if not db.execute(_LOCK, key).scalar_one():
                    return None
            return work(Sequencing(db, self.tenant))

        return self.database.run(locked)

    def _of(self, table: Table) -> ColumnElement[bool]:
        return table.c.tenant == self.tenant


def waiting_tenants(database: SharedDatabase) -> list[str]:
    """Return the tenants with rows in the inbox that the tenant of `database` sees. Blocks, and raises StoreError."""
    wanted = select(AUDIT_INBOX.c.tenant).distinct()
    return sorted(database.run(lambda db: db.execute(wanted).scalars().all(), write=False))


class Sequencing:
    """One transaction that continues the log."""

    def __init__(self, db: Connection, tenant: str) -> None:
        self._db, self._tenant = db, tenant

    def end(self) -> LogEnd | None:
        """Return the end of the log."""
        wanted = select(AUDIT_LOGS.c.size, AUDIT_LOGS.c.last, AUDIT_LOGS.c.checkpoint)
        row = self._db.execute(wanted.where(AUDIT_LOGS.c.tenant == self._tenant)).first()
        return None if row is None else LogEnd(size=row[0], last=row[1], checkpoint=row[2])

    def take(self, most: int) -> list[InboxRow]:
        """Remove up to `most` rows from the inbox, the oldest first. Return those that are not in the log already.

        They are fewer if their bodies are long.
        """
        mine = AUDIT_INBOX.c.tenant == self._tenant
        found = _inbox_rows(_all(_bounded(_INBOX_COLUMNS, (mine,), AUDIT_INBOX.c.id, most), self._db))
        ids = [row.id for row in found]
        self._db.execute(delete(AUDIT_INBOX).where(mine, AUDIT_INBOX.c.id.in_(ids)))
        there = select(AUDIT_RECORDS.c.id).where(AUDIT_RECORDS.c.tenant == self._tenant, AUDIT_RECORDS.c.id.in_(ids))
        known = set(self._db.execute(there).scalars())
        return [row for row in found if row.id not in known]

    def body(self, number: int) -> bytes | None:
        """Return the body of one record, None if it was erased or there is none."""
        records = AUDIT_RECORDS.c
        wanted = select(records.body).where(records.tenant == self._tenant, records.sequence == number)
        found: bytes | None = self._db.execute(wanted).scalar()
        return found

    def tile(self, level: int, number: int) -> bytes:
        """Return the hashes of one tile, empty if there is none."""
        wanted = select(AUDIT_TILES.c.hashes).where(
            AUDIT_TILES.c.tenant == self._tenant, AUDIT_TILES.c.level == level, AUDIT_TILES.c.number == number
        )
        return bytes(self._db.execute(wanted).scalar() or b"")

    def put(self, records: Sequence[LogRow], tiles: dict[tuple[int, int], bytes], end: LogEnd) -> None:
        """Add records, write changed tiles, and set the end of the log."""
        rows = [{"tenant": self._tenant, **_fields(record)} for record in records]
        if rows:
            self._db.execute(insert(AUDIT_RECORDS), rows)
        for (level, number), hashes in tiles.items():
            row = {"tenant": self._tenant, "level": level, "number": number, "hashes": hashes}
            self._replace(AUDIT_TILES, row, ["tenant", "level", "number"])
        self._replace(AUDIT_LOGS, {"tenant": self._tenant, **_fields(end)}, ["tenant"])

    def erasable(self, after: int, *, person: str | None = None, before: str | None = None) -> list[LogRow]:
        """Return a page of the records of a person, or from before a time, that have a body and a number above `after`.

        They are chosen by columns, which are not signed.
        """
        records = AUDIT_RECORDS.c
        wanted = [records.tenant == self._tenant, records.body.is_not(None), records.sequence > after]
        wanted += [] if person is None else [records.person == person]
        wanted += [] if before is None else _erasable_before(before)
        return _log_rows(_all(_bounded(_LOG_COLUMNS, wanted, records.sequence, _PAGE), self._db))

    def erase(self, numbers: Sequence[int]) -> int:
        """Remove the bodies of the records with these numbers. Return how many had one."""
        mine = (AUDIT_RECORDS.c.tenant == self._tenant, AUDIT_RECORDS.c.body.is_not(None))
        change = update(AUDIT_RECORDS).where(*mine, AUDIT_RECORDS.c.sequence.in_(numbers))
        return self._db.execute(change.values(body=None)).rowcount

    def forget(self, user: str) -> str | None:
        """Remove the pseudonym of a user. Return it, None if there is none."""
        mine = (AUDIT_PEOPLE.c.tenant == self._tenant, AUDIT_PEOPLE.c.user == user)
        found: str | None = self._db.execute(
            delete(AUDIT_PEOPLE).where(*mine).returning(AUDIT_PEOPLE.c.pseudonym)
        ).scalar()
        return found

    def _replace(self, table: Table, row: dict[str, object], key: list[str]) -> None:
        rest = {name: value for name, value in row.items() if name not in key}
        self._db.execute(_insert(self._db, table).values(row).on_conflict_do_update(index_elements=key, set_=rest))


def _adding_named(*, is_postgresql: bool) -> postgresql.Insert | sqlite.Insert:
    """Return the statement that adds a row if its pseudonym is known, and locks the pseudonym until it is there."""
    kind = postgresql.insert if is_postgresql else sqlite.insert
    given = [bindparam(column.name, type_=column.type) for column in AUDIT_INBOX.columns]
    known = select(*given).where(
        AUDIT_PEOPLE.c.tenant == bindparam("tenant"), AUDIT_PEOPLE.c.pseudonym == bindparam("person")
    )
    found = known.with_for_update(read=True, key_share=True, of=AUDIT_PEOPLE)
    statement = kind(AUDIT_INBOX).from_select(list(AUDIT_INBOX.columns.keys()), found).on_conflict_do_nothing()
    return statement.execution_options(preserve_rowcount=True)


_ADD_NAMED = tuple(_adding_named(is_postgresql=one) for one in (False, True))
ERASURE = "erasure-"  # begin of the ids of records about erasures, which are not erased


def _erasable_before(time: str) -> tuple[ColumnElement[bool], ...]:
    records = AUDIT_RECORDS.c
    return records.at < time, records.body.is_not(None), ~records.id.startswith(ERASURE)


def _bounded(
    columns: Sequence[ColumnElement[Any]],
    conditions: Sequence[ColumnElement[bool]],
    key: Column[Any],
    most: int,
    *,
    is_descending: bool = False,
) -> Select[Any]:
    """Return the query of the first `most` rows in the order of a column, up to the one that reaches `PAGE_BYTES`.

    The database adds up the lengths of bodies without reading them.
    """
    size = func.coalesce(func.length(key.table.c.body), 0)
    order = key.desc() if is_descending else key.asc()
    near = select(key.label("key"), size.label("size")).where(*conditions).order_by(order).limit(most).subquery()
    place = near.c.key.desc() if is_descending else near.c.key.asc()
    summed = select(near.c.key, (func.sum(near.c.size).over(order_by=place) - near.c.size).label("before")).subquery()
    fitting = summed.c.before < PAGE_BYTES
    if is_descending:
        within = key >= select(func.min(summed.c.key)).where(fitting).scalar_subquery()
    else:
        within = key <= select(func.max(summed.c.key)).where(fitting).scalar_subquery()
    return select(*columns).where(*conditions, within).order_by(order).limit(most)


def _log_rows(rows: Iterable[Row[Any]]) -> list[LogRow]:
    return [LogRow(**dict(zip(LogRow.__struct_fields__, row, strict=True))) for row in rows]


def _inbox_rows(rows: Iterable[Row[Any]]) -> list[InboxRow]:
    return [InboxRow(**dict(zip(InboxRow.__struct_fields__, row, strict=True))) for row in rows]


def _insert(db: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    return postgresql.insert(table) if db.dialect.name == "postgresql" else sqlite.insert(table)


def _all(wanted: Select[Any], db: Connection) -> Sequence[Row[Any]]:
    return db.execute(wanted).all()


def _plain(wanted: Select[Any], db: Connection) -> Sequence[tuple[int, bytes, bytes | None]]:
    """Return rows as the driver made them. `Row` objects of SQLAlchemy cost as much again."""
    return db.execute(wanted).cursor.fetchall()


def _fields(row: Struct) -> dict[str, object]:
    return {name: getattr(row, name) for name in row.__struct_fields__}
