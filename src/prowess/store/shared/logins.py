"""Logins of browsers in a shared store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, and_, cast, delete, exists, func, insert, or_, select, update

from prowess.store.protocols import LoginRow
from prowess.store.shared.tables import GENERATIONS, LOGINS, TOKENS
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Row, Select

    from prowess.store.shared.database import SharedDatabase


class SharedLoginStore:
    """A `LoginStore` for the tenant of a database; for the tenant `*`, the logins of all tenants."""

    def __init__(self, database: SharedDatabase) -> None:
        self.database = database
        self._mine = () if database.tenant == EVERY else (LOGINS.c.tenant == database.tenant,)

    def add_login(self, digest: bytes, row: LoginRow) -> None:
        """Add a login; `token_role` and `generation` of `row` are not used."""
        kept = {name: getattr(row, name) for name in ("tenant", "user", "body", "token_id", "expires_at")}
        new = insert(LOGINS).values(digest=digest, **kept)
        self.database.run(lambda db: db.execute(new))

    def login(self, digest: bytes, at: float) -> LoginRow | None:
        """Return the login with this digest, None if there is none at the time `at`."""
        wanted = self._wanted(digest, at)
        row = self.database.run(lambda db: db.execute(wanted).first(), write=False)
        return None if row is None else _login(row)

    def extend_login(self, digest: bytes, expires_at: float) -> None:
        """Let a login end at `expires_at`, unless it ends later already, or is gone."""
        is_wanted = (*self._mine, LOGINS.c.digest == digest, LOGINS.c.expires_at < expires_at)
        change = update(LOGINS).where(*is_wanted).values(expires_at=expires_at)
        self.database.run(lambda db: db.execute(change))

    def take_login(self, digest: bytes, at: float) -> LoginRow | None:
        """Remove the login and return it, None as `login` does. Of several callers, one gets it."""
        wanted = self._wanted(digest, at)
        gone = delete(LOGINS).where(*self._mine, LOGINS.c.digest == digest)

        def work(db: Connection) -> LoginRow | None:
            row = db.execute(wanted).first()
            return _login(row) if db.execute(gone).rowcount == 1 and row is not None else None

        return self.database.run(work)

    def remove_logins(self, user: str) -> int:
        """Remove every login of a user. Return their number."""
        gone = delete(LOGINS).where(*self._mine, LOGINS.c.user == user)
        return self.database.run(lambda db: int(db.execute(gone).rowcount))

    def expire_logins(self, before: float) -> int:
        """Remove every login that ended before the time `before`. Return their number."""
        gone = delete(LOGINS).where(*self._mine, LOGINS.c.expires_at < before)
        return self.database.run(lambda db: int(db.execute(gone).rowcount))

    def _wanted(
        self, digest: bytes, at: float
    ) -> Select[tuple[str, str, float, str | None, str | None, str | None, int]]:
        """Select a login with its token and the generation: one statement, so one moment."""
        its_token = and_(TOKENS.c.tenant == LOGINS.c.tenant, TOKENS.c.id == LOGINS.c.token_id)
        is_alive = or_(TOKENS.c.expires_at.is_(None), TOKENS.c.expires_at > at)
        has_token: ColumnElement[bool] = exists().where(its_token, is_alive).correlate(LOGINS)
        role = select(TOKENS.c.role).where(its_token).correlate(LOGINS).scalar_subquery()
        of_tenant = or_(GENERATIONS.c.tenant == LOGINS.c.tenant, GENERATIONS.c.tenant == EVERY)
        counted = select(cast(func.coalesce(func.sum(GENERATIONS.c.generation), 0), BigInteger)).where(of_tenant)
        generation = counted.correlate(LOGINS).scalar_subquery()
        return select(
            LOGINS.c.tenant,
            LOGINS.c.body,
            LOGINS.c.expires_at,
            LOGINS.c.user,
            LOGINS.c.token_id,
            role.label("token_role"),
            generation.label("generation"),
        ).where(
            *self._mine,
            LOGINS.c.digest == digest,
            LOGINS.c.expires_at > at,
            or_(LOGINS.c.token_id.is_(None), has_token),
        )


def _login(row: Row[tuple[str, str, float, str | None, str | None, str | None, int]]) -> LoginRow:
    return LoginRow(**row._asdict())
