"""Questions to people in a shared store: about skills, and about single calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import asdict
from sqlalchemy import delete, or_, select
from sqlalchemy.dialects import postgresql, sqlite

from prowess.store.protocols import CallRequestRow, RequestRow
from prowess.store.shared.tables import APPROVAL_REQUESTS, CALL_REQUESTS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from sqlalchemy import Connection

    from prowess.store.shared.database import SharedDatabase

_MOST_CALLS = 1000  # of a tenant


class SharedApprovalRequestStore:
    """An `ApprovalRequestStore` for the tenant of a database."""

    def __init__(self, database: SharedDatabase) -> None:
        self.database = database
        self._mine = APPROVAL_REQUESTS.c.tenant == database.tenant

    def put_request(self, request: RequestRow, *, expected: RequestRow | None) -> bool:
        """Add a question, or replace the `expected` one, but for its digest and time; see `ApprovalRequestStore`."""
        mine = (self._mine, APPROVAL_REQUESTS.c.id == request.id)
        values = {"tenant": self.database.tenant, **asdict(request)}

        def work(db: Connection) -> bool:
            if expected is not None:
                change = APPROVAL_REQUESTS.update().where(*mine, APPROVAL_REQUESTS.c.body == expected.body)
                return db.execute(change.values(body=request.body, of_person=request.of_person)).rowcount == 1
            module = postgresql if db.dialect.name == "postgresql" else sqlite
            new = module.insert(APPROVAL_REQUESTS).values(values).on_conflict_do_nothing()
            return db.execute(new.returning(APPROVAL_REQUESTS.c.id)).first() is not None

        return self.database.run(work)

    def drop_requests(self, *, before: str, most: int) -> int:
        """Remove questions of sessions that are too old, or too many; see `ApprovalRequestStore`."""
        left = (self._mine, APPROVAL_REQUESTS.c.of_person.is_(False))
        newest = select(APPROVAL_REQUESTS.c.id).where(*left)
        newest = newest.order_by(APPROVAL_REQUESTS.c.at.desc(), APPROVAL_REQUESTS.c.id.desc())
        too_many = APPROVAL_REQUESTS.c.id.in_(newest.offset(most))
        change = delete(APPROVAL_REQUESTS).where(*left, or_(APPROVAL_REQUESTS.c.at < before, too_many))
        return self.database.run(lambda db: db.execute(change).rowcount)

    def requests(self, *, digests: Collection[str] | None = None) -> list[RequestRow]:
        """Return all questions, or those about these digests, the oldest first."""
        columns = (APPROVAL_REQUESTS.c[name] for name in RequestRow.__struct_fields__)
        about = () if digests is None else (APPROVAL_REQUESTS.c.digest.in_(digests),)
        wanted = select(*columns).where(self._mine, *about).order_by(APPROVAL_REQUESTS.c.at, APPROVAL_REQUESTS.c.id)
        rows = self.database.run(lambda db: db.execute(wanted).all(), write=False)
        return [RequestRow(**row._asdict()) for row in rows]


class SharedCallRequestStore:
    """A `CallRequestStore` for the tenant of a database. Of more than 1000 questions, the oldest are removed."""

    def __init__(self, database: SharedDatabase) -> None:
        self.database = database
        self._mine = CALL_REQUESTS.c.tenant == database.tenant

    def change_call(
        self, request_id: str, change: Callable[[str | None], CallRequestRow | None], *, at: float
    ) -> CallRequestRow | None:
        """Replace the question with this id by the result of `change`; see `CallRequestStore`."""
        mine = (self._mine, CALL_REQUESTS.c.id == request_id)

        def work(db: Connection) -> CallRequestRow | None:
            module = postgresql if db.dialect.name == "postgresql" else sqlite
            db.execute(delete(CALL_REQUESTS).where(self._mine, CALL_REQUESTS.c.expires_at <= at))
            # The row is inserted first, so that a second process waits for this transaction, also if there was none.
            empty = {"tenant": self.database.tenant, "id": request_id, "body": "", "expires_at": at}
            body: str | None = None
            while body is None:  # once more if another process has removed the row after the insert
                db.execute(module.insert(CALL_REQUESTS).values(empty).on_conflict_do_nothing())
                body = db.execute(select(CALL_REQUESTS.c.body).where(*mine).with_for_update()).scalar()
            row = change(body or None)
            if row is None:
                db.execute(delete(CALL_REQUESTS).where(*mine))
            else:
                values = {"body": row.body, "expires_at": row.expires_at}
                db.execute(CALL_REQUESTS.update().where(*mine).values(values))
                newest = select(CALL_REQUESTS.c.id).where(self._mine).order_by(CALL_REQUESTS.c.expires_at.desc())
                db.execute(delete(CALL_REQUESTS).where(self._mine, CALL_REQUESTS.c.id.in_(newest.offset(_MOST_CALLS))))
            return row

        return self.database.run(work)

    def calls(self, at: float) -> list[CallRequestRow]:
        """Return all questions that have not expired at this time."""
        columns = (CALL_REQUESTS.c[name] for name in CallRequestRow.__struct_fields__)
        wanted = select(*columns).where(self._mine, CALL_REQUESTS.c.expires_at > at).order_by(CALL_REQUESTS.c.id)
        rows = self.database.run(lambda db: db.execute(wanted).all(), write=False)
        return [CallRequestRow(**row._asdict()) for row in rows]
