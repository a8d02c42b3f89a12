"""The schema of a shared store: created, migrated and checked. Stores with another schema are not opened.

The revisions are those of alembic, whose table `alembic_version` names the one of the store. Opening a store compares
the revision only, so alembic is imported by `admin init` and `admin migrate` alone.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sqlalchemy import inspect, text

from prowess.errors import StoreError
from prowess.store.shared.row_security import ROLE
from prowess.store.tenants import EVERY, suggested_url

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

HEAD = "0004"  # the newest of `migrations`
_MIGRATIONS = os.path.join(os.path.dirname(__file__), "migrations")


def revision_of(connection: Connection) -> str | None:
    """Return the revision of the store, None if the database holds no store."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return found


def require_current(connection: Connection, url: str, tenant: str, enter: Callable[[Connection], object]) -> None:
    """Raise StoreError if the store's schema is not `HEAD`, or it has no such tenant. `enter` takes role and tenant."""
    found = revision_of(connection)
    if found is None:
        raise StoreError(url, f"there is no store yet; create it: prowess admin init --store {suggested_url(url)}")
    require_known(found, url)
    if found < HEAD:
        raise StoreError(
            url,
            f"it has the older schema {found}; back it up, then: prowess admin migrate --store {suggested_url(url)}",
        )
    if tenant == EVERY:
        return
    enter(connection)
    known = connection.execute(text("SELECT 1 FROM tenants WHERE tenant = :tenant"), {"tenant": tenant}).scalar()
    if known is None:
        raise StoreError(
            url, f"it has no tenant {tenant!r}; add it: prowess admin tenant add {tenant} --store {suggested_url(url)}"
        )


def require_known(found: str, url: str) -> None:
    """Raise StoreError if a newer Prowess has written this revision."""
    if found > HEAD:
        raise StoreError(url, f"it has schema {found}, this Prowess knows {HEAD}; upgrade Prowess")


def migrate(connection: Connection) -> None:
    """Bring the tables to `HEAD`, in the transaction of the caller. Does nothing if they are there."""
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", _MIGRATIONS.replace("%", "%%"))
    config.set_main_option("version_locations", _MIGRATIONS.replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)

    # As the commands of alembic do, which would need a file `env.py`.
    steps = lambda revision, _: scripts._upgrade_revs("head", revision)  # noqa: E731, SLF001
    with EnvironmentContext(config, scripts, fn=steps) as environment:
        environment.configure(connection=connection)
        environment.run_migrations()
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"GRANT SELECT ON alembic_version TO {ROLE}"))
