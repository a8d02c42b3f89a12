"""Who deployed skills, in a shared store. Rows are only added: who deployed a skill counts as an author of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import or_, select
from sqlalchemy.dialects import postgresql, sqlite

from prowess.store.shared.tables import DEPLOYERS
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy import Connection

    from prowess.store.shared.database import SharedDatabase


class SharedDeployerStore:
    """A `DeployerStore` for the tenant of a database."""

    def __init__(self, database: SharedDatabase) -> None:
        self.database = database

    def add_deployer(self, digests: Collection[str], user: str) -> None:
        """Remember that a person deploys the skills with these digests."""
        rows = [{"tenant": self.database.tenant, "digest": digest, "user": user} for digest in set(digests)]

        def work(db: Connection) -> None:
            module = postgresql if db.dialect.name == "postgresql" else sqlite
            if rows:
                db.execute(module.insert(DEPLOYERS).on_conflict_do_nothing(), rows)

        self.database.run(work)

    def deployers(self, digest: str) -> list[str]:
        """Return who deployed the skill with a digest, for the tenant or for the organisation."""
        seen = or_(DEPLOYERS.c.tenant == self.database.tenant, DEPLOYERS.c.tenant == EVERY)
        wanted = select(DEPLOYERS.c.user).where(seen, DEPLOYERS.c.digest == digest).distinct()
        return sorted(self.database.run(lambda db: db.execute(wanted).scalars().all(), write=False))
