"""Generation of governance for a tenant: how many acts of governance hold for it, its own and the organisation's.

A session reads it together with its row. So an act holds in every process at the next call after its transaction, and
no call needs a query more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, Select, cast, func, or_, select
from sqlalchemy.dialects import postgresql, sqlite

from prowess.store.shared.tables import GENERATIONS
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from sqlalchemy import Connection


def generation(tenant: str) -> Select[int]:
    """Select the generation for a tenant."""
    counted = func.coalesce(func.sum(GENERATIONS.c.generation), 0)
    return select(cast(counted, BigInteger)).where(or_(GENERATIONS.c.tenant == tenant, GENERATIONS.c.tenant == EVERY))


def advance(db: Connection, tenant: str) -> None:
    """Count an act of governance, in its transaction. The tenant `*` is for acts that hold for all tenants."""
    module = postgresql if db.dialect.name == "postgresql" else sqlite
    first = module.insert(GENERATIONS).values(tenant=tenant, generation=1)
    once_more = {"generation": GENERATIONS.c.generation + 1}
    db.execute(first.on_conflict_do_update(index_elements=[GENERATIONS.c.tenant], set_=once_more))
