"""The option `--store`, and opening the store that it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import printable_line
from prowess.errors import StoreError
from prowess.store import open_store
from prowess.store.tenants import is_shared

if TYPE_CHECKING:
    from prowess.store import MemorySessionStore, SharedSessionStore, SqliteSessionStore

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
