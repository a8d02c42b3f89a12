"""The option `--store`, and opening the store that it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import printable_line
from prowess.errors import StoreError
from prowess.store import open_store
from prowess.store.tenants import DEFAULT, is_shared, shown_url

if TYPE_CHECKING:
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
