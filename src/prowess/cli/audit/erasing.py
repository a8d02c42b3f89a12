"""`prowess admin erase`: removes the bodies of audit records, and keeps their hashes."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import click
from msgspec.structs import asdict

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.audit.caller import Caller
from prowess.audit.record import time_text
from prowess.audit.selection import moment
from prowess.audit.transparency.sequencer import erase
from prowess.cli import exit_codes, output
from prowess.cli.audit.central import central_log, signer_of
from prowess.cli.options import json_option
from prowess.cli.options.governance_options import governance_log
from prowess.errors import StoreError
from prowess.governance.acts import act
from prowess.policy.packages.package_rules import seconds_of
from prowess.store.shared.logins import SharedLoginStore
from prowess.store.tenants import DEFAULT, shown_url

_SECONDS = 30.0  # of waiting for a sequencer


def _before(context: click.Context, parameter: click.Parameter, text: str | None) -> str | None:
    del context, parameter
    if text is None:
        return None
    try:
        seconds = seconds_of(text)
        if seconds is None:
            return moment(text, end=False)
        return time_text(datetime.now(UTC) - timedelta(seconds=seconds))
    except (ValueError, OverflowError, OSError):
        raise click.BadParameter(f"{text!r} is neither a date or time nor an age such as 400d") from None


@click.command(name="erase")
@click.option("--store", "url", required=True, metavar="URL", help="The shared store.")
@click.option("--tenant", default=DEFAULT, show_default=True, metavar="NAME", help="The tenant of the records.")
@click.option("--user", metavar="NAME", help="Erase the records of this user, and the name itself.")
@click.option(
    "--before", metavar="TIME", callback=_before, help="Erase records from before this time, or older than 400d."
)
@click.option("--key", "key_file", metavar="FILE", help="The key of the organisation, if it is not on this machine.")
@json_option
def erase_records(
    *, url: str, tenant: str, user: str | None, before: str | None, key_file: str | None, as_json: bool
) -> int:
    """Remove audit records of a user, or old ones, from the store.

    The hashes of the records stay in the log, so every checkpoint and proof still holds. A record in the log states how
    many were removed, and by whom. The log has no name of a user but a pseudonym, and the name is removed as well, with
    the logins of the user.
    Exports that were made before, and backups, still have the records.

    \b
    Example:
      prowess admin erase --store postgresql:///prowess --tenant acme --user ann
      prowess admin erase --store postgresql:///prowess --before 400d
    """  # noqa: D301 -- click needs the control character
    if (user is None) == (before is None):
        raise click.UsageError("give either --user or --before")
    signer, until = signer_of(url, key_file), time.monotonic() + _SECONDS
    by = {name: value for name, value in asdict(Caller.here()).items() if name in {"user", "uid", "host"}}
    # The record does not name the user: it would stay in this machine's log.
    facts = {"store": shown_url(url), "tenant": tenant, "by_user": user is not None, "before": before}
    with act(governance_log("administer"), "erase", facts), central_log(url, tenant) as rows:
        while (count := erase(rows, signer, by=by, user=user, before=before)) is None:
            if time.monotonic() > until:
                raise StoreError(shown_url(url), "other processes continue the log all the time; try again")
            time.sleep(0.05)
        if user is not None:
            SharedLoginStore(rows.database).remove_logins(user)
    if as_json:
        output.document({"store": shown_url(url), "tenant": tenant, "records": count})
    else:
        output.line(printable_line(f"{counted(count, 'record')} of the tenant {tenant} erased; the hashes stay"))
    return exit_codes.OK
