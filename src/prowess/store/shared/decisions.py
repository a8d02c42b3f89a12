"""Policies and blocks of an organisation in a shared store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import case, delete, or_, select
from sqlalchemy.dialects import postgresql, sqlite

from prowess.store.protocols import BlockRow, PolicyRow
from prowess.store.shared.generations import advance, generation
from prowess.store.shared.tables import BLOCKS, POLICIES
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Select, Table

    from prowess.store.shared.database import SharedDatabase

_OF_POLICIES = tuple(POLICIES.c[name] for name in PolicyRow.__struct_fields__)
_OF_BLOCKS = tuple(BLOCKS.c[name] for name in BlockRow.__struct_fields__)


class SharedPolicyStore:
    """A `PolicyStore` for the tenant of a database; for the tenant `*`, of all tenants."""

    def __init__(self, database: SharedDatabase) -> None:
        self.database = database

    def put_policy(self, name: str, toml: str, *, by: str, at: str) -> tuple[PolicyRow, int]:
        """Add a policy, or replace the tenant's own one of this name. Return it, and the generation that has it."""
        values = {"tenant": self.database.tenant, "name": name, "number": 1, "toml": toml, "by": by, "at": at}
        again = {"number": POLICIES.c.number + 1, "toml": toml, "by": by, "at": at}

        def work(db: Connection) -> tuple[PolicyRow, int]:
            module = postgresql if db.dialect.name == "postgresql" else sqlite
            new = module.insert(POLICIES).values(values)
            put = new.on_conflict_do_update(index_elements=[POLICIES.c.tenant, POLICIES.c.name], set_=again)
            row = db.execute(put.returning(*_OF_POLICIES)).one()
            return PolicyRow(**row._asdict()), _advanced(db, self.database.tenant, self.database.tenant)

        return self.database.run(work)

    def policies(self) -> list[PolicyRow]:
        """Return all policies: the organisation's first, then by name."""
        wanted = _policies(self.database.tenant)
        rows = self.database.run(lambda db: db.execute(wanted).all(), write=False)
        return [PolicyRow(**row._asdict()) for row in rows]

    def remove_policy(self, name: str) -> int | None:
        """Remove the tenant's own policy. Return the generation without it; None if there is none of this name."""
        own = (POLICIES.c.tenant == self.database.tenant, POLICIES.c.name == name)

        def work(db: Connection) -> int | None:
            if db.execute(delete(POLICIES).where(*own)).rowcount != 1:
                return None
            return _advanced(db, self.database.tenant, self.database.tenant)

        return self.database.run(work)


class SharedBlockStore:
    """A `BlockStore` for the tenant of a database; for the tenant `*`, of all tenants."""

    def __init__(self, database: SharedDatabase) -> None:
        self.database = database

    def add_block(self, block: BlockRow) -> int | None:
        """Add a block. Return the generation that has it; None if the tenant has one with the same subject."""
        values = {name: getattr(block, name) for name in BlockRow.__struct_fields__}

        def work(db: Connection) -> int | None:
            module = postgresql if db.dialect.name == "postgresql" else sqlite
            same = [BLOCKS.c.tenant, BLOCKS.c.subject]
            new = module.insert(BLOCKS).values(values).on_conflict_do_nothing(index_elements=same)
            if db.execute(new.returning(BLOCKS.c.id)).first() is None:
                return None
            return _advanced(db, block.tenant, self.database.tenant)

        return self.database.run(work)

    def blocks(self) -> list[BlockRow]:
        """Return all blocks, the oldest first."""
        wanted = _blocks(self.database.tenant)
        rows = self.database.run(lambda db: db.execute(wanted).all(), write=False)
        return [BlockRow(**row._asdict()) for row in rows]

    def remove_block(self, block_id: str) -> int | None:
        """Remove a block. Return the generation without it; None if the tenant has none with this id."""
        tenant = self.database.tenant
        own = () if tenant == EVERY else (BLOCKS.c.tenant == tenant,)

        def work(db: Connection) -> int | None:
            found = db.execute(delete(BLOCKS).where(*own, BLOCKS.c.id == block_id).returning(BLOCKS.c.tenant)).first()
            return None if found is None else _advanced(db, found[0], tenant)

        return self.database.run(work)


def generation_of(database: SharedDatabase) -> int:
    """Return the generation of governance for the tenant of the database. Raises StoreError."""
    wanted = generation(database.tenant)
    return int(database.run(lambda db: db.execute(wanted).scalar_one(), write=False))


def _policies(tenant: str) -> Select[tuple[object, ...]]:
    first = case((POLICIES.c.tenant == EVERY, 0), else_=1)
    return select(*_OF_POLICIES).where(*_seen(POLICIES, tenant)).order_by(first, POLICIES.c.tenant, POLICIES.c.name)


def _blocks(tenant: str) -> Select[tuple[object, ...]]:
    return select(*_OF_BLOCKS).where(*_seen(BLOCKS, tenant)).order_by(BLOCKS.c.at, BLOCKS.c.id)


def _seen(table: Table, tenant: str) -> tuple[ColumnElement[bool], ...]:
    """Return the condition for rows that hold for a tenant: its own, and the organisation's."""
    return () if tenant == EVERY else (or_(table.c.tenant == tenant, table.c.tenant == EVERY),)


def _advanced(db: Connection, changed: str, seen_by: str) -> int:
    """Count an act that holds for the tenant `changed`, and return the generation for the tenant `seen_by`."""
    advance(db, changed)
    return int(db.execute(generation(seen_by)).scalar_one())
