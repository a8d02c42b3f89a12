"""What the store decides for the machines of one tenant, read as one state: policies, blocks and votes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from msgspec import Struct
from sqlalchemy import func, or_, select

from prowess.store.shared.generations import generation
from prowess.store.shared.tables import BLOCKS, POLICIES, VOTES
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from prowess.store.shared.database import SharedDatabase

_BLOCK_FIELDS = ("id", "kind", "value", "reason", "by", "at")


class BundleRows(Struct, frozen=True, kw_only=True):
    """The rows that hold for a tenant, of one generation. Those of the organisation come first.

    `policies` are the tenant (`*` for the organisation), the name and the text of each; `votes` are JSON texts.
    """

    policies: Sequence[tuple[str, str, str]]
    blocks: Sequence[Mapping[str, str]]
    votes: Sequence[str]


class SharedBundleRows:
    """Reads what the machines of the tenant of a database follow. Blocking; every operation raises StoreError."""

    def __init__(self, database: SharedDatabase) -> None:
        self.database = database

    def generation(self) -> tuple[int, int]:
        """Return the generation of governance for the tenant, and the time of the database in seconds."""
        return self.database.run(self._generation, write=False)

    def read(self) -> tuple[int, int, BundleRows]:
        """Return the generation, the time of the database, and the rows of this generation."""

        def work(db: Connection) -> tuple[int, int, BundleRows]:
            # An act changes its rows and the generation in one transaction. So rows that were read between two equal
            # generations belong together.
            before, at = self._generation(db)
            while True:
                rows = self._rows(db)
                after, at = self._generation(db)
                if after == before:
                    return before, at, rows
                before = after

        return self.database.run(work, write=False)

    def _generation(self, db: Connection) -> tuple[int, int]:
        found = int(db.execute(generation(self.database.tenant)).scalar_one())
        if db.dialect.name != "postgresql":
            return found, int(time.time())
        return found, int(db.execute(select(func.floor(func.extract("epoch", func.clock_timestamp())))).scalar_one())

    def _rows(self, db: Connection) -> BundleRows:
        tenant = self.database.tenant
        policies = select(POLICIES.c.tenant, POLICIES.c.name, POLICIES.c.toml).where(
            or_(POLICIES.c.tenant == tenant, POLICIES.c.tenant == EVERY)
        )
        blocks = select(*(BLOCKS.c[name] for name in _BLOCK_FIELDS)).where(
            or_(BLOCKS.c.tenant == tenant, BLOCKS.c.tenant == EVERY)
        )
        votes = select(VOTES.c.body).where(VOTES.c.tenant == tenant).order_by(VOTES.c.number)
        found = [(row[0], row[1], row[2]) for row in db.execute(policies)]
        return BundleRows(
            policies=sorted(found, key=lambda row: (row[0] != EVERY, row[1])),
            blocks=[dict(zip(_BLOCK_FIELDS, row, strict=True)) for row in db.execute(blocks.order_by(BLOCKS.c.id))],
            votes=list(db.execute(votes).scalars()),
        )
