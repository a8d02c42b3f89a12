"""The option `--store`, and opening the store that it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import output
from prowess.errors import StoreError
from prowess.store import open_store
from prowess.store.tenants import DEFAULT, is_shared, shown_url

if TYPE_CHECKING:
    from prowess.catalog import Catalog
    from prowess.cli.options.catalog_options import CatalogOptions
    from prowess.store import MemorySessionStore, SharedDatabase, SharedSessionStore, SqliteSessionStore

store_option = click.option(
    "--store",
    "store_url",
    metavar="URL",
    help="Keep the session in this store: postgresql://HOST/DATABASE, or sqlite:///PATH.",
)


def opened_store(url: str, tenant: str | None) -> MemorySessionStore | SqliteSessionStore | SharedSessionStore:
    """Return the store at `url`; of a shared one, the rows of `tenant`. Raises click.BadParameter for a wrong URL."""
    try:
        return open_store(url, tenant=tenant if is_shared(url) else None)
    except StoreError as fault:
        raise click.BadParameter(printable_line(str(fault)), param_hint="--store") from None


def with_deployed_skills(skills: CatalogOptions, catalog: Catalog, store: object) -> Catalog:
    """Return a catalog with the skills that the organisation of a shared store has deployed; for others, `catalog`.

    Raises:
        DistributionError: the deployed skills cannot be brought here.
        StoreError: the store cannot be used.
    """
    # Imported here because few commands use a shared store, and `serve --help` needs no session.
    from prowess.runtime.organisation import TenantStore

    if not isinstance(store, TenantStore):
        return catalog
    # Imported here because only a shared store has deployed skills.
    from prowess.distribution.deployment.replica import ReplicaDeployment

    environment = catalog.audience.environment
    found = ReplicaDeployment(store.database, environment, lambda text: output.note(printable_line(text)))
    if (context := click.get_current_context(silent=True)) is None:
        found.start()
    else:
        context.with_resource(found)
    return skills.open(quiet=True, deployed=found.directories)


def shared_database(url: str, tenant: str | None) -> SharedDatabase:
    """Return the database of a shared store. Raises click.BadParameter if it is no shared store."""
    # Imported here because few commands use a shared store.
    import prowess.store as kinds

    if not is_shared(url):
        reason = f"{shown_url(url)} is no shared store; create one: prowess admin init --store URL"
        raise click.BadParameter(printable_line(reason), param_hint="--store")
    try:
        database = kinds.SharedDatabase(url, DEFAULT if tenant is None else tenant)
    except StoreError as fault:
        raise click.BadParameter(printable_line(str(fault)), param_hint="--store") from None
    if (context := click.get_current_context(silent=True)) is not None:
        context.call_on_close(database.close)
    return database
