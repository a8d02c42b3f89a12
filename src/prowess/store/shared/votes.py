"""Votes of people about skills in a shared store. They are only added."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, select
from sqlalchemy.dialects import postgresql, sqlite

from prowess.store.shared.generations import advance, generation
from prowess.store.shared.tables import VOTES

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from prowess.store.shared.database import SharedDatabase


class SharedVoteStore:
    """A `VoteStore` for the tenant of a database."""

    def __init__(self, database: SharedDatabase) -> None:
        self.database = database
        self._mine = VOTES.c.tenant == database.tenant

    def add_vote(self, body: str, *, number: int) -> bool:
        """Add a vote with the next number. Return False if the number is taken, or not the next one."""
        values = {"tenant": self.database.tenant, "number": number, "body": body}
        newest = select(func.coalesce(func.max(VOTES.c.number), 0)).where(self._mine)

        def work(db: Connection) -> bool:
            module = postgresql if db.dialect.name == "postgresql" else sqlite
            if db.execute(newest).scalar_one() != number - 1:
                return False
            new = module.insert(VOTES).values(values).on_conflict_do_nothing().returning(VOTES.c.number)
            if db.execute(new).first() is None:
                return False
            advance(db, self.database.tenant)
            return True

        return self.database.run(work)

    def votes(self) -> list[str]:
        """Return all votes, in their order."""
        return self.numbered_votes()[1]

    def numbered_votes(self) -> tuple[int, list[str]]:
        """Return the number of the last vote and all votes. Rows may be missing below it."""
        wanted = select(VOTES.c.number, VOTES.c.body).where(self._mine).order_by(VOTES.c.number)
        rows = self.database.run(lambda db: db.execute(wanted).all(), write=False)
        return (rows[-1][0] if rows else 0), [body for _, body in rows]

    def generation(self) -> int:
        """Return the generation of governance for the tenant."""
        wanted = generation(self.database.tenant)
        return int(self.database.run(lambda db: db.execute(wanted).scalar_one(), write=False))

    def close(self) -> None:
        """Close the connections."""
        self.database.close()
