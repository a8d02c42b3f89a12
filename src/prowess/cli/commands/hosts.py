"""`prowess hosts`: shows which release each host of a deployment has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.cli.options.organisation_options import organisation_options
from prowess.cli.organisation.deployments import show_shared_hosts
from prowess.distribution.deployment.host_reports import reported_hosts
from prowess.distribution.deployment.repository import DeploymentRepository

if TYPE_CHECKING:
    from prowess.cli.options.organisation_options import OrganisationOptions


@click.command()
@click.option("--from", "source", metavar="DIR", help="The deployment: a directory made by registry init.")
@organisation_options
@json_option
def command(*, source: str | None, of: OrganisationOptions, as_json: bool) -> int:
    """Show the release that each host has, as it reported it, and whether it is the present one.

    A host reports if it runs `prowess sync --from DIR --host ID` and can write to DIR/hosts. A host that reads the
    deployment from a web server cannot report, because the server takes no files: ask it with `prowess sync --json`.

    With --store or --server, the hosts are the enrolled machines.

    Example: prowess hosts --from /srv/deployment
    """
    if of.given:
        of.require_alone(**{"from": source})
        return show_shared_hosts(of, as_json=as_json)
    if source is None:
        raise click.UsageError("give the deployment: --from DIR, --store URL or --server URL")
    if "://" in source:
        raise click.BadParameter(
            "a web server takes no reports of hosts; name the directory of the deployment", param_hint="--from"
        )
    repository = DeploymentRepository(source)
    present = repository.present()
    release = None if present is None else present.number
    hosts = reported_hosts(repository)
    if as_json:
        rows = [
            {"host": one.host, "release": one.release, "at": one.at, "current": one.release == release} for one in hosts
        ]
        output.document({"release": release, "hosts": rows})
        return exit_codes.OK
    behind = sum(one.release != release for one in hosts)
    output.line(f"release {release or '-'}: {counted(len(hosts), 'host')}, {behind} without it")
    width = max((len(one.host) for one in hosts), default=0)
    for one in hosts:
        state = "current" if one.release == release else "behind"
        output.line(printable_line(f"{one.host:<{width}}  {one.release or '-'}  {state:<7}  {one.at}"))
    return exit_codes.OK
