"""`prowess admin logout`: ends all logins of a person at the server of an organisation."""

from __future__ import annotations

import click

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.cli.options.governance_options import governance_log
from prowess.cli.organisation.shared_store_option import shared_store_option
from prowess.governance.acts import act
from prowess.store.shared.logins import SharedLoginStore
from prowess.store.shared.organisation import OrganisationStore
from prowess.store.tenants import shown_url


@click.command(name="logout")
@click.argument("user")
@shared_store_option
@json_option
def log_out_user(*, user: str, url: str, as_json: bool) -> int:
    """End all logins of USER in browsers, in every tenant. They hold no longer at the next request.

    It does not keep the user from logging in again: remove the tokens of the user, or the user at the issuer, before.

    \b
    Example:
      prowess admin logout ann@example.com --store postgresql:///prowess
    """  # noqa: D301 -- click needs the control character
    database = OrganisationStore(url).database
    with act(governance_log("administer"), "logout-user", {"store": shown_url(url), "logged_out": user}):
        ended = SharedLoginStore(database).remove_logins(user)
    database.close()
    if as_json:
        output.document({"user": user, "ended": ended})
    else:
        output.line(printable_line(f"Ended {counted(ended, 'login')} of {user}"))
    return exit_codes.OK
