"""Generation of governance for a tenant: a number that grows with each act that holds for it or for every tenant.

After an act it is at least the time in milliseconds since the epoch. So it does not repeat after a restore of a backup,
whose number is older than what running sessions and machines have seen.

A session reads it together with its row. So an act holds in every process at the next call after its transaction, and
no call needs a query more.
"""

from __future__ import annotations

import time
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
    """Raise the generation of a tenant by one, at least to the present time in milliseconds, in this transaction.

    Each act of governance does it. The tenant `*` is for acts that hold for all tenants.
    """
    is_postgresql = db.dialect.name == "postgresql"
    now = time.time_ns() // 1_000_000
    if is_postgresql:  # several machines use it, so its clock counts
        epoch = func.extract("epoch", func.clock_timestamp())
        now = db.execute(select(cast(func.floor(epoch * 1000), BigInteger))).scalar_one()
    module, larger = (postgresql, func.greatest) if is_postgresql else (sqlite, func.max)
    first = module.insert(GENERATIONS).values(tenant=tenant, generation=now)
    changed = larger(GENERATIONS.c.generation + 1, now)
    db.execute(first.on_conflict_do_update(index_elements=[GENERATIONS.c.tenant], set_={"generation": changed}))
