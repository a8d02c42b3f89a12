"""Counts of what happened in a window of time, shared by all processes of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, update
from sqlalchemy.dialects import postgresql, sqlite

from prowess.store.shared.tables import RATE_LIMITS

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from prowess.store.shared.database import SharedDatabase

_DAY = 86400


class SharedRateLimitStore:
    """A `RateLimitStore` for the tenant of a database."""

    def __init__(self, database: SharedDatabase) -> None:
        self.database = database

    def count(self, key: str, window: int) -> int:
        """Count once more for `key` in the window, and return how often it was counted, this time included."""
        tenant, is_old = self.database.tenant, RATE_LIMITS.c.window < window - _DAY

        def work(db: Connection) -> int:
            module = postgresql if db.dialect.name == "postgresql" else sqlite
            first = module.insert(RATE_LIMITS).values(tenant=tenant, key=key, window=window, count=1)
            once_more = first.on_conflict_do_update(
                index_elements=[RATE_LIMITS.c.tenant, RATE_LIMITS.c.key, RATE_LIMITS.c.window],
                set_={"count": RATE_LIMITS.c.count + 1},
            )
            counted = db.execute(once_more.returning(RATE_LIMITS.c.count)).scalar_one()
            if counted == 1:
                db.execute(delete(RATE_LIMITS).where(RATE_LIMITS.c.tenant == tenant, is_old))
            return int(counted)

        return self.database.run(work)

    def uncount(self, key: str, window: int) -> None:
        """Take one count back."""
        is_it = (
            RATE_LIMITS.c.tenant == self.database.tenant,
            RATE_LIMITS.c.key == key,
            RATE_LIMITS.c.window == window,
            RATE_LIMITS.c.count > 0,
        )
        fewer = update(RATE_LIMITS).where(*is_it).values(count=RATE_LIMITS.c.count - 1)
        self.database.run(lambda db: db.execute(fewer))
