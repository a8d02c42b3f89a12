"""The option `--store` of commands that work on a shared store."""

from __future__ import annotations

import click

from prowess.store.tenants import POSTGRESQL, SQLITE, is_shared, shown_url, url_fault


def _checked_url(context: click.Context, parameter: click.Parameter, value: str) -> str:
    del parameter
    if value.startswith(POSTGRESQL) or (value.startswith(SQLITE) and len(value) > len(SQLITE)):
        if fault := url_fault(value):
            raise click.BadParameter(fault)
        if context.command.name == "init" or is_shared(value):
            return value
        raise click.BadParameter(f"{shown_url(value)} is no shared store; create one: prowess admin init --store URL")
    raise click.BadParameter("a shared store is postgresql://HOST/DATABASE or sqlite:///PATH")


shared_store_option = click.option(
    "--store",
    "url",
    required=True,
    metavar="URL",
    callback=_checked_url,
    help="The shared store: postgresql://HOST/DATABASE, or sqlite:///PATH for one tenant.",
)
