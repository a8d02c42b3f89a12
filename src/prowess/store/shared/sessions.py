"""Sessions and events in a shared store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from anyio import CancelScope, to_thread
from sqlalchemy import bindparam, case, delete, exists, func, literal, select, update
from sqlalchemy.dialects import postgresql, sqlite

from prowess.store.protocols import KeptEvent, SessionRow
from prowess.store.shared.generations import generation
from prowess.store.shared.tables import EVENTS, SESSIONS

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

    from prowess.store.shared.database import SharedDatabase

_LARGEST = 2**63 - 1
_TRIMMED_EVERY = 16  # events between two trims, so up to this many more than `keep` remain


class SharedSessionStore:
    """A `SessionStore` and `EventStore` for one tenant of a shared store. Call `close` when done, or use `with`."""

    def __init__(self, database: SharedDatabase) -> None:
        self.database = database
        self._tenant = database.tenant
        self._build(SESSIONS.c.tenant == database.tenant)

    def _build(self, mine: ColumnElement[bool]) -> None:
        """Build the statements that run in each call once. `mine` is the condition for the tenant."""
        self._mine = mine
        this = SESSIONS.c.session_id == bindparam("id", type_=SESSIONS.c.session_id.type)
        # One statement, so a session learns about a new generation without another round trip.
        self._get = select(
            SESSIONS.c.version,
            SESSIONS.c.state,
            SESSIONS.c.touched_at,
            generation(self._tenant).scalar_subquery().label("generation"),
        ).where(self._mine, this)
        self._replace = (
            update(SESSIONS)
            .where(self._mine, this, SESSIONS.c.version == bindparam("expected"))
            .values({name: bindparam(f"new_{name}") for name in ("version", "state", "touched_at")})
        )

    @property
    def url(self) -> str:
        """The URL without credentials."""
        return self.database.url

    async def create(self, row: SessionRow) -> bool:
        """Add a row; return False if the id exists."""
        return await self.database.do(lambda db: self._create(db, row))

    def _create(self, db: Connection, row: SessionRow) -> bool:
        module = postgresql if db.dialect.name == "postgresql" else sqlite
        values = {
            "tenant": self._tenant,
            "session_id": row.session_id,
            "version": row.version,
            "state": row.state,
            "touched_at": row.touched_at,
            "created_at": row.touched_at,
        }
        new = module.insert(SESSIONS).values(values).on_conflict_do_nothing().returning(SESSIONS.c.version)
        return db.execute(new).first() is not None

    async def get(self, session_id: str) -> SessionRow | None:
        """Return the row, or None."""
        return await to_thread.run_sync(self.peek, session_id)

    def peek(self, session_id: str) -> SessionRow | None:
        """Return the row, or None. Blocks."""
        found = self.database.run(lambda db: db.execute(self._get, {"id": session_id}).first(), write=False)
        if found is None:
            return None
        version, state, touched_at, number = found
        return SessionRow(
            session_id=session_id, version=version, state=state, touched_at=touched_at, generation=int(number)
        )

    async def replace(self, row: SessionRow, *, expected_version: int) -> bool:
        """Replace the row if it has `expected_version`; return whether it was replaced."""
        values = {
            "id": row.session_id,
            "expected": expected_version,
            "new_version": row.version,
            "new_state": row.state,
            "new_touched_at": row.touched_at,
        }
        return await self.database.do(lambda db: db.execute(self._replace, values).rowcount == 1)

    async def touch(self, session_id: str, at: float) -> bool:
        """Set the time of the last touch to `at`, unless the stored time is later. Return False if there is no row."""
        later = case((SESSIONS.c.touched_at < at, at), else_=SESSIONS.c.touched_at)
        change = update(SESSIONS).where(self._mine, SESSIONS.c.session_id == session_id).values(touched_at=later)
        return await self.database.do(lambda db: db.execute(change).rowcount == 1)

    async def delete(self, session_id: str) -> bool:
        """Remove the row; return False if there is none."""
        change = delete(SESSIONS).where(self._mine, SESSIONS.c.session_id == session_id)
        return await self.database.do(lambda db: db.execute(change).rowcount == 1)

    async def expire(self, before: float) -> list[str]:
        """Remove rows last touched before the time `before`, and old events of removed sessions. Return row ids."""
        old = delete(SESSIONS).where(self._mine, SESSIONS.c.touched_at < before).returning(SESSIONS.c.session_id)
        mine = EVENTS.c.tenant == self._tenant
        session = exists().where(self._mine, SESSIONS.c.session_id == EVENTS.c.session_id)
        orphans = delete(EVENTS).where(mine, EVENTS.c.at < before, ~session)

        def work(db: Connection) -> list[str]:
            gone = sorted(db.execute(old).scalars())
            db.execute(orphans)
            return gone

        return await self.database.do(work)

    async def count(self) -> int:
        """Return the number of rows."""
        counted = select(func.count()).select_from(SESSIONS).where(self._mine)
        return await self.database.do(lambda db: db.execute(counted).scalar_one(), write=False)

    async def append_event(self, session_id: str, body: str, *, at: float, keep: int) -> int:
        """Append one event and return its number."""
        return await self.database.do(lambda db: self._append(db, session_id, body, at, keep))

    def _append(self, db: Connection, session_id: str, body: str, at: float, keep: int) -> int:
        module = postgresql if db.dialect.name == "postgresql" else sqlite
        mine = (EVENTS.c.tenant == self._tenant, EVENTS.c.session_id == session_id)
        next_row = select(
            literal(self._tenant),
            literal(session_id, EVENTS.c.session_id.type),
            func.coalesce(func.max(EVENTS.c.sequence), 0) + 1,
            literal(at),
            literal(body, EVENTS.c.body.type),
        ).where(*mine)
        columns = ["tenant", "session_id", "sequence", "at", "body"]
        new = module.insert(EVENTS).from_select(columns, next_row).on_conflict_do_nothing()
        # The insert waits for another one with this number. If that one is committed, the next number is tried.
        while (sequence := db.execute(new.returning(EVENTS.c.sequence)).scalar()) is None:
            pass
        if sequence % _TRIMMED_EVERY == 0:
            db.execute(delete(EVENTS).where(*mine, EVENTS.c.sequence <= sequence - keep))
        return int(sequence)

    async def events_after(self, session_id: str, sequence: int, limit: int) -> list[KeptEvent]:
        """Return the first `limit` events with a number above `sequence`."""
        wanted = (
            select(EVENTS.c.sequence, EVENTS.c.body)
            .where(
                EVENTS.c.tenant == self._tenant,
                EVENTS.c.session_id == session_id,
                EVENTS.c.sequence > min(sequence, _LARGEST),
            )
            .order_by(EVENTS.c.sequence)
            .limit(min(limit, _LARGEST))
        )
        rows = await self.database.do(lambda db: db.execute(wanted).all(), write=False)
        return [KeptEvent(sequence=row[0], body=row[1]) for row in rows]

    async def last_event(self, session_id: str) -> int:
        """Return the highest event number, or 0."""
        wanted = select(func.coalesce(func.max(EVENTS.c.sequence), 0)).where(
            EVENTS.c.tenant == self._tenant, EVENTS.c.session_id == session_id
        )
        return await self.database.do(lambda db: int(db.execute(wanted).scalar_one()), write=False)

    async def close(self) -> None:
        """Close the connections. Later operations raise `StoreError`."""
        await to_thread.run_sync(self.database.close)

    def __enter__(self) -> Self:
        """Return the store; `with` and `async with` close it at the end."""
        return self

    def __exit__(self, *failure: object) -> None:
        self.database.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: object) -> None:
        with CancelScope(shield=True):
            await self.close()
