"""`prowess policy list` and `policy remove`: the policies of an organisation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from msgspec import to_builtins

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.cli.options.organisation_options import OrganisationOptions, opened_organisation, organisation_options
from prowess.cli.organisation.waiting import waits_for_machines
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from prowess.governance.service.policies import PolicySummary


@click.command(name="list")
@organisation_options
@json_option
def list_policies(*, of: OrganisationOptions, as_json: bool) -> int:
    """List the policies of an organisation, or those that hold for one of its tenants.

    Example: prowess policy list --store postgresql:///prowess
    """
    with opened_organisation(of, "use", tenant=EVERY) as organisation:
        # Imported here because SQLAlchemy takes long.
        from prowess.governance.service.listing import ListQuery, every_item

        found = list(every_item(organisation.policies.list, ListQuery()))
    if as_json:
        output.document({"policies": [to_builtins(one) for one in found]})
        return exit_codes.OK
    for one in found:
        parts = f"version {one.number}, {counted(one.rules, 'rule')}, by {one.by}, {one.at[:10]}"
        output.line(printable_line(f"{one.name}  {_of_whom(one)}: {parts}"))
    if not found:
        output.note("there is no policy; make one: prowess policy push NAME FILE")
    return exit_codes.OK


@click.command(name="remove")
@click.argument("name", metavar="NAME")
@organisation_options
@waits_for_machines
@json_option
def remove_policy(name: str, *, of: OrganisationOptions, as_json: bool) -> int:
    """Remove the policy NAME of an organisation, or of one of its tenants.

    It does not hold for any call that begins afterwards. Exits with 1 if there is none of this name.

    Example: prowess policy remove main --store postgresql:///prowess
    """
    with opened_organisation(of, "administer", tenant=EVERY) as organisation:
        removed = organisation.policies.remove(name)
    if as_json:
        output.document(to_builtins(removed))
    else:
        output.line(printable_line(f"{name} is no longer a policy of {_of_whom(removed)}"))
    return exit_codes.OK


def _of_whom(policy: PolicySummary) -> str:
    return "the organisation" if policy.tenant == EVERY else f"the tenant {policy.tenant}"
