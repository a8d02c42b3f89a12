"""Tokens in a shared store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, or_, select, update

from prowess.store.protocols import Token
from prowess.store.shared.tables import TENANTS, TOKENS
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

    from prowess.store.shared.database import SharedDatabase

_SECONDS = 60.0  # between two notes of the last use of a token
_COLUMNS = tuple(TOKENS.c[name] for name in Token.__struct_fields__)


class SharedTokenStore:
    """A `TokenStore` for the tenant of a database; for the tenant `*`, the tokens of all tenants."""

    def __init__(self, database: SharedDatabase) -> None:
        self.database = database
        self._mine = () if database.tenant == EVERY else (TOKENS.c.tenant == database.tenant,)

    def add_token(self, token: Token, digest: bytes) -> bool:
        """Add a token; return False if its tenant does not exist."""
        known = select(TENANTS.c.tenant).where(TENANTS.c.tenant == token.tenant)
        values = {name: getattr(token, name) for name in Token.__struct_fields__}

        def work(db: Connection) -> bool:
            if token.tenant != EVERY and db.execute(known).first() is None:
                return False
            db.execute(insert(TOKENS).values(digest=digest, **values))
            return True

        return self.database.run(work)

    def use_token(self, digest: bytes, at: float) -> Token | None:
        """Return the token and note its use, once a minute; None if it is unknown or has expired."""
        alive = or_(TOKENS.c.expires_at.is_(None), TOKENS.c.expires_at > at)
        this = (*self._mine, TOKENS.c.digest == digest, alive)
        known = select(*_COLUMNS).where(*this)
        row = self.database.run(lambda db: db.execute(known).first(), write=False)
        if row is not None and (row.used_at is None or abs(at - row.used_at) >= _SECONDS):
            # Reads do not wait for the disk, or for who writes.
            used = update(TOKENS).where(*this).values(used_at=at).returning(*_COLUMNS)
            row = self.database.run(lambda db: db.execute(used).first())
        return None if row is None else _token(row)

    def tokens(self) -> list[Token]:
        """Return all tokens, the oldest first."""
        wanted = select(*_COLUMNS).where(*self._mine).order_by(TOKENS.c.created_at, TOKENS.c.id)
        return [_token(row) for row in self.database.run(lambda db: db.execute(wanted).all(), write=False)]

    def tokens_after(self, token_id: str | None, limit: int) -> list[Token]:
        """Return the first `limit` tokens whose id is above `token_id`; ids grow with the time."""
        later = () if token_id is None else (TOKENS.c.id > token_id,)
        wanted = select(*_COLUMNS).where(*self._mine, *later).order_by(TOKENS.c.id).limit(limit)
        return [_token(row) for row in self.database.run(lambda db: db.execute(wanted).all(), write=False)]

    def token(self, token_id: str) -> Token | None:
        """Return the token with this id, None if there is none."""
        wanted = select(*_COLUMNS).where(*self._mine, TOKENS.c.id == token_id)
        row = self.database.run(lambda db: db.execute(wanted).first(), write=False)
        return None if row is None else _token(row)

    def remove_token(self, token_id: str) -> bool:
        """Remove a token; return False if there is none with this id."""
        change = delete(TOKENS).where(*self._mine, TOKENS.c.id == token_id)
        return self.database.run(lambda db: db.execute(change).rowcount == 1)


def _token(row: Row[tuple[object, ...]]) -> Token:
    return Token(**row._asdict())
