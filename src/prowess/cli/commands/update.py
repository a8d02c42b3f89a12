"""`prowess update`: brings installed skills to the newest versions that all demands allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess.cli.options.package_options import accept_option, allow_host_option, change_options
from prowess.cli.packages.changes import carried_out
from prowess.cli.packages.permission import permission_for
from prowess.cli.packages.registries import resolving_access
from prowess.distribution.installation.installing import InstallOptions, update
from prowess.distribution.installation.scope import InstallScope

if TYPE_CHECKING:
    from prowess.lockfile.places import Scope


@click.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@accept_option
@click.option("--offline", is_flag=True, help="Contact no host; use only local sources.")
@allow_host_option
@click.option("--dry-run", is_flag=True, help="Fetch and check, but change nothing.")
@change_options
def command(
    *,
    names: tuple[str, ...],
    accepted: tuple[str, ...],
    offline: bool,
    allowed_hosts: tuple[str, ...],
    dry_run: bool,
    kind: Scope,
    as_json: bool,
    quiet: bool,
) -> int:
    """Update installed skills to the newest versions that all demands allow: those named, or all.

    With NAME, only that skill and its dependencies can change. If a skill changes its major version, allowed tools,
    scripts, needed permissions, signer or source, the difference is shown, nothing is changed, and the command exits
    with 3 until you accept it by these words.

    \b
    Example:
      prowess update csv-report
      prowess update --accept scripts,tools
    """  # noqa: D301 -- click needs the control character
    scope = InstallScope.find(kind)
    options = InstallOptions(
        accepted=accepted, dry_run=dry_run, access=resolving_access(allowed_hosts, offline=offline)
    )
    permission = permission_for("packages.update", kind)
    return carried_out(
        scope,
        lambda: update(scope, names, options, permission=permission),
        as_json=as_json,
        quiet=quiet,
        dry_run=dry_run,
        updating=names,
    )
