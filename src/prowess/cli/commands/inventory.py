"""`prowess inventory`: every copy of every skill, of this user or on the machines of an organisation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from msgspec import to_builtins
from msgspec.structs import replace

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.cli.options.organisation_options import opened_organisation, organisation_options
from prowess.store.tenants import DEFAULT

if TYPE_CHECKING:
    from prowess.cli.options.organisation_options import OrganisationOptions
    from prowess.governance.machine.reports import ReportedCopy
    from prowess.governance.service.inventory import SkillCopy

_FILTERS = ("skill", "machine", "layer", "digest", "source", "team", "environment", "capability", "approval")


@click.command()
@organisation_options
@click.option("--skill", metavar="NAME", help="Copies of this skill.")
@click.option("--machine", metavar="ID|NAME", help="Copies on this machine.")
@click.option("--layer", metavar="LAYER", help="Copies of this layer, such as personal.")
@click.option("--digest", metavar="DIGEST", help="Copies with this digest of their tree.")
@click.option("--source", metavar="SOURCE", help="Copies from this source.")
@click.option("--team", metavar="NAME", help="Copies on machines of this team.")
@click.option("--environment", metavar="NAME", help="Copies on machines of this environment.")
@click.option("--capability", metavar="NAME", help="Copies with this capability, such as network.")
@click.option("--approval", type=click.Choice(("approved", "missing")), help="Copies that are approved, or must be.")
@json_option
def command(*, of: OrganisationOptions, as_json: bool, **filters: str | None) -> int:
    """List every copy of every skill with layer, source, digest, capabilities and approval.

    With --store or --server, those on all enrolled machines, as each machine reported them. Otherwise those that this
    user has.

    \b
    Example:
      prowess inventory --store postgresql:///prowess --skill csv-report
    """  # noqa: D301 -- click needs the control character
    copies = _of_organisation(of, filters) if of.given else _of_this_user(filters)
    if as_json:
        output.long_document({"copies": [to_builtins(copy) for copy in copies]})
        return exit_codes.OK
    for copy in copies:
        output.line(printable_line(_row(copy)))
    output.note(f"{len(copies)} {'copy' if len(copies) == 1 else 'copies'}")
    return exit_codes.OK


def _of_organisation(of: OrganisationOptions, filters: dict[str, str | None]) -> list[SkillCopy]:
    with opened_organisation(of, "audit", tenant=DEFAULT) as organisation:
        from prowess.governance.service.inventory import InventoryQuery  # Imported here because SQLAlchemy is slow.
        from prowess.governance.service.listing import every_item  # as above

        return list(every_item(organisation.inventory.list, replace(InventoryQuery(), **filters)))


def _of_this_user(filters: dict[str, str | None]) -> list[ReportedCopy]:
    # Imported here because lists of an organisation need neither.
    from prowess.catalog import Catalog
    from prowess.policy.policy_in_force import PolicyInForce
    from prowess.runtime.activation.copies import reported_copies

    given = {name: value for name, value in filters.items() if value is not None}
    if unknown := [name for name in ("machine", "team", "environment") if name in given]:
        raise click.UsageError(f"--{unknown[0]} needs --store or --server")
    names = {"skill": "name"}
    copies = reported_copies(Catalog.discover(), PolicyInForce().now())
    return [
        copy
        for copy in copies
        if all(
            value in (copy.capabilities or ())
            if name == "capability"
            else getattr(copy, names.get(name, name)) == value
            for name, value in given.items()
        )
    ]


def _row(copy: SkillCopy | ReportedCopy) -> str:
    host = getattr(copy, "host", None)
    digest = "unknown digest" if copy.digest is None else copy.digest[:19]
    approval = "" if copy.approval is None else f"  {copy.approval}"
    can = ", ".join(copy.capabilities or ()) or "no capabilities"
    place = "" if host is None else f"{host}  "
    return f"{place}{copy.name}  {copy.layer}  {digest}  {can}{approval}  {copy.place}"
