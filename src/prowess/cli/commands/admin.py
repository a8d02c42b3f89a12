"""`prowess admin`: the shared store of an organisation, its tenants and its tokens."""

from __future__ import annotations

import time

import click

from prowess._internal.text.terminal_text import counted, printable_line
from prowess._internal.text.user_names import NOT_PLAIN, is_plain_name
from prowess.cli import exit_codes, output
from prowess.cli.audit.erasing import erase_records
from prowess.cli.options import json_option
from prowess.cli.options.governance_options import governance_log
from prowess.cli.organisation.logging_out import log_out_user
from prowess.cli.organisation.serving import serve_organisation
from prowess.cli.organisation.shared_store_option import shared_store_option
from prowess.cli.organisation.units import server_unit
from prowess.errors import SignatureError
from prowess.governance.acts import act, person
from prowess.governance.organisation import add_token, found_organisation, key_path, organisation_key
from prowess.policy.packages.package_rules import seconds_of
from prowess.policy.roles import PERMITTED
from prowess.store.shared.organisation import OrganisationStore, migrate_store
from prowess.store.shared.tokens import SharedTokenStore
from prowess.store.tenants import DEFAULT, EVERY, shown_url, suggested_url, tenant_name_fault

ROLES = (*PERMITTED, "machine")
_MOST_SECONDS = 100 * 365 * 86400


@click.group(name="admin")
def command() -> None:
    """Administer the store that the machines of an organisation share.

    Example: prowess admin init --store postgresql:///prowess
    """


command.add_command(erase_records)
command.add_command(serve_organisation)
command.add_command(server_unit)
command.add_command(log_out_user)


@command.command()
@shared_store_option
@click.option("--origin", metavar="NAME", help="Name of the organisation in its signatures (default: made of its key).")
@json_option
def init(*, url: str, origin: str | None, as_json: bool) -> int:
    """Create a shared store, the signing key of the organisation, and a token of an administrator.

    The database must exist and be empty; an SQLite file is created. The private key is written to
    PROWESS_HOME/organisation, with mode 0600: keep a backup of it elsewhere. The token is shown once.

    \b
    Example:
      prowess admin init --store postgresql:///prowess --origin acme.example
    """  # noqa: D301 -- click needs the control character
    try:
        with act(governance_log("administer"), "init", {"store": shown_url(url), "origin": origin}):
            made = found_organisation(url, origin, person())
    except SignatureError as fault:
        if origin is None:
            raise
        raise click.BadParameter(printable_line(fault.reason), param_hint="--origin") from None
    if as_json:
        output.document(
            {
                "store": shown_url(url),
                "origin": made.origin,
                "tenant": DEFAULT,
                "public_key": made.public_key,
                "token": made.administrator.text,
            }
        )
        return exit_codes.OK
    output.line(f"Created the store of {made.origin}, with the tenant {DEFAULT}")
    output.line(f"public key   {made.public_key}")
    output.line(f"private key  {printable_line(made.key_path)}")
    output.line(f"token        {made.administrator.text}")
    output.note("the token is not shown again; back the private key up elsewhere, because nothing can replace it")
    return exit_codes.OK


@command.command()
@shared_store_option
@json_option
def migrate(*, url: str, as_json: bool) -> int:
    """Update the tables of a store to this version of Prowess. Make a backup before.

    \b
    Example:
      prowess admin migrate --store postgresql:///prowess
    """  # noqa: D301 -- click needs the control character
    with act(governance_log("administer"), "migrate", {"store": shown_url(url)}):
        before, after = migrate_store(url)
    if as_json:
        output.document({"store": shown_url(url), "before": before, "after": after})
    elif before == after:
        output.line(f"The store has the schema {after} already")
    else:
        output.line(f"Updated the store from schema {before} to {after}")
    return exit_codes.OK


@command.command()
@shared_store_option
@json_option
def status(*, url: str, as_json: bool) -> int:
    """Show the organisation of a store, its tenants, and whether its signing key is on this machine.

    Exits with 3 if the key is not here, or cannot be used.

    \b
    Example:
      prowess admin status --store postgresql:///prowess
    """  # noqa: D301 -- click needs the control character
    store = OrganisationStore(url)
    organisation, tenants = store.organisation(), store.tenants()
    store.database.close()
    fault = None
    try:
        organisation_key(organisation)
    except SignatureError as lost:
        fault = str(lost)
    if as_json:
        output.document(
            {
                "store": shown_url(url),
                "origin": organisation.origin,
                "public_key": organisation.public_key,
                "tenants": list(tenants),
                "key": {"path": key_path(organisation), "fault": fault},
            }
        )
    else:
        output.line(f"origin       {organisation.origin}")
        output.line(f"public key   {organisation.public_key}")
        output.line(f"tenants      {', '.join(tenants)}")
        if fault is None:
            output.line(f"private key  {printable_line(key_path(organisation))}")
        else:
            output.error(printable_line(fault))
    return exit_codes.OK if fault is None else exit_codes.DENIED


@command.group()
def tenant() -> None:
    """Add tenants. `prowess admin status` lists them.

    Example: prowess admin tenant add acme --store postgresql:///prowess
    """


@tenant.command("add")
@click.argument("name")
@shared_store_option
@json_option
def tenant_add(*, name: str, url: str, as_json: bool) -> int:
    """Add the tenant NAME. Its skills, sessions, approvals and records are invisible to other tenants.

    Exits with 1 if there is one of this name.

    \b
    Example:
      prowess admin tenant add acme --store postgresql:///prowess
    """  # noqa: D301 -- click needs the control character
    if fault := tenant_name_fault(name):
        raise click.BadParameter(fault, param_hint="NAME")
    store = OrganisationStore(url)
    with act(governance_log("administer"), "tenant", {"store": shown_url(url), "tenant": name}):
        added = store.add_tenant(name)
    store.database.close()
    if as_json:
        output.document({"tenant": name, "added": added})
    elif added:
        output.line(f"Added the tenant {name}")
    if not added:
        output.error(f"there is a tenant {name} already; `prowess admin status` lists them")
    return exit_codes.OK if added else exit_codes.FAILED


@command.group()
def token() -> None:
    """Add tokens for people and machines, list and remove them.

    Example: prowess admin token list --store postgresql:///prowess
    """


@token.command("add")
@shared_store_option
@click.option("--tenant", "tenant_name", required=True, metavar="NAME", help="Its tenant; * for the organisation.")
@click.option("--role", required=True, type=click.Choice(ROLES), help="What it may do.")
@click.option("--user", required=True, metavar="NAME", help="Whose token it is.")
@click.option("--team", metavar="NAME", help="The team of the user.")
@click.option("--expires", metavar="TIME", help="When it ends: 12h, 90d (default: never).")
@json_option
def token_add(
    *, url: str, tenant_name: str, role: str, user: str, team: str | None, expires: str | None, as_json: bool
) -> int:
    """Add a token, and show it once. The store keeps only its SHA-256.

    A token with the role machine is for enrolment: with it, a machine can fetch its bundle and send records, and
    nothing else.

    \b
    Example:
      prowess admin token add --store postgresql:///prowess --tenant acme --role approver --user ann --expires 90d
    """  # noqa: D301 -- click needs the control character
    seconds = None if expires is None else seconds_of(expires)
    if expires is not None and (seconds is None or not 0 < seconds <= _MOST_SECONDS):
        raise click.BadParameter("a time is a number above 0 and s, m, h or d: 90d", param_hint="--expires")
    if tenant_name != EVERY and (fault := tenant_name_fault(tenant_name)):
        raise click.BadParameter(fault, param_hint="--tenant")
    if tenant_name == EVERY and role == "machine":
        raise click.BadParameter("a machine belongs to one tenant; name it", param_hint="--tenant")
    if not user.strip():
        raise click.BadParameter("a token belongs to somebody", param_hint="--user")
    if not is_plain_name(user):
        raise click.BadParameter(NOT_PLAIN, param_hint="--user")
    facts = {"store": shown_url(url), "tenant": tenant_name, "role": role, "user": user, "team": team}
    with act(governance_log("administer"), "token", facts):
        made = add_token(url, tenant=tenant_name, role=role, user=user, team=team, seconds=seconds)
    if made is None:
        add = f"prowess admin tenant add {tenant_name} --store {suggested_url(url)}"
        output.error(printable_line(f"there is no tenant {tenant_name}; add it: {add}"))
        return exit_codes.FAILED
    if as_json:
        output.document({"id": made.token.id, "token": made.text})
        return exit_codes.OK
    output.line(f"id     {made.token.id}")
    output.line(f"token  {made.text}")
    output.note("the token is not shown again")
    return exit_codes.OK


@token.command("list")
@shared_store_option
@json_option
def token_list(*, url: str, as_json: bool) -> int:
    """List all tokens, the oldest first, with role, tenant, user, expiry and last use.

    \b
    Example:
      prowess admin token list --store postgresql:///prowess
    """  # noqa: D301 -- click needs the control character
    database = OrganisationStore(url).database
    found = SharedTokenStore(database).tokens()
    database.close()
    if as_json:
        names = ("id", "tenant", "role", "user", "team", "created_at", "expires_at", "used_at")
        output.document({"tokens": [{name: getattr(one, name) for name in names} for one in found]})
        return exit_codes.OK
    for one in found:
        ends = "never ends" if one.expires_at is None else f"ends {_day(one.expires_at)}"
        used = "never used" if one.used_at is None else f"used {_day(one.used_at)}"
        team = "" if one.team is None else f" of {one.team}"
        output.line(printable_line(f"{one.id}  {one.tenant}  {one.role}  {one.user}{team}: {ends}, {used}"))
    output.note(counted(len(found), "token"))
    return exit_codes.OK


@token.command("remove")
@click.argument("token_id", metavar="ID")
@shared_store_option
@json_option
def token_remove(*, token_id: str, url: str, as_json: bool) -> int:
    """Remove the token with this ID: it is refused from then on. Exits with 1 if there is none.

    \b
    Example:
      prowess admin token remove 019ad3c2-6f0e-7c3a-9b1d-2f4e5a6b7c8d --store postgresql:///prowess
    """  # noqa: D301 -- click needs the control character
    database = OrganisationStore(url).database
    with act(governance_log("administer"), "token-removed", {"store": shown_url(url), "token": token_id}):
        removed = SharedTokenStore(database).remove_token(token_id)
    database.close()
    if as_json:
        output.document({"id": token_id, "removed": removed})
    elif removed:
        output.line(printable_line(f"Removed the token {token_id}"))
    if not removed:
        output.error(printable_line(f"there is no token {token_id}; `prowess admin token list` shows all"))
    return exit_codes.OK if removed else exit_codes.FAILED


def _day(seconds: float) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(seconds))
