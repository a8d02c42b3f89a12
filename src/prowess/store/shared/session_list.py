"""Lists the sessions in a shared store, and their events, for people who look at them from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from sqlalchemy import and_, or_, select

from prowess.store.protocols import KeptEvent
from prowess.store.shared.tables import EVENTS, SESSIONS
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from sqlalchemy import Row

    from prowess.store.shared.database import SharedDatabase

_COLUMNS = tuple(SESSIONS.c[name] for name in ("tenant", "session_id", "version", "state", "touched_at", "created_at"))


class ListedSession(Struct, frozen=True, kw_only=True):
    """A stored session. `state` is JSON text, not parsed; both times are in seconds since the epoch."""

    tenant: str
    id: str
    version: int
    state: str
    touched_at: float
    created_at: float


class SharedSessionList:
    """The sessions of the tenant of a database; with the tenant `*`, those of all tenants. Blocking.

    Raises:
        StoreError: by every operation, if the store cannot be reached or read.
    """

    def __init__(self, database: SharedDatabase) -> None:
        self._database = database
        self._mine = () if database.tenant == EVERY else (SESSIONS.c.tenant == database.tenant,)

    def sessions(self, limit: int, before: tuple[float, str, str] | None = None) -> list[ListedSession]:
        """Return the sessions that were made last, the newest first, after the time, tenant and id of `before`.

        The time of the last touch is no order for pages: a session that is used meanwhile would be skipped.
        """
        at, tenant, session_id = SESSIONS.c.created_at, SESSIONS.c.tenant, SESSIONS.c.session_id
        wanted = select(*_COLUMNS).where(*self._mine).order_by(at.desc(), tenant, session_id)
        if before is not None:
            in_tenant = and_(at == before[0], tenant == before[1], session_id > before[2])
            wanted = wanted.where(or_(at < before[0], and_(at == before[0], tenant > before[1]), in_tenant))
        rows = self._database.run(lambda db: db.execute(wanted.limit(limit)).all(), write=False)
        return [_session(row) for row in rows]

    def session(self, session_id: str) -> ListedSession | None:
        """Return a session, None if there is none with this id."""
        wanted = select(*_COLUMNS).where(*self._mine, SESSIONS.c.session_id == session_id).order_by(SESSIONS.c.tenant)
        row = self._database.run(lambda db: db.execute(wanted).first(), write=False)
        return None if row is None else _session(row)

    def events(self, tenant: str, session_id: str, after: int, limit: int) -> list[KeptEvent]:
        """Return the first `limit` events of a session with a number above `after`."""
        mine = () if self._database.tenant == EVERY else (EVENTS.c.tenant == self._database.tenant,)
        this = (EVENTS.c.tenant == tenant, EVENTS.c.session_id == session_id, EVENTS.c.sequence > after)
        wanted = select(EVENTS.c.sequence, EVENTS.c.body).where(*mine, *this).order_by(EVENTS.c.sequence).limit(limit)
        rows = self._database.run(lambda db: db.execute(wanted).all(), write=False)
        return [KeptEvent(sequence=row[0], body=row[1]) for row in rows]


def _session(row: Row[*tuple[Any, ...]]) -> ListedSession:
    tenant, session_id, version, state, touched_at, created_at = row
    return ListedSession(
        tenant=tenant, id=session_id, version=version, state=state, touched_at=touched_at, created_at=created_at
    )
