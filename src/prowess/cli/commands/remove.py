"""`prowess remove`: removes installed skills from the lock, and from the targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess.cli.options.package_options import change_options
from prowess.cli.packages.changes import carried_out
from prowess.cli.packages.permission import permission_for
from prowess.distribution.installation.installing import remove
from prowess.distribution.installation.scope import InstallScope

if TYPE_CHECKING:
    from prowess.lockfile.places import Scope


@click.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--target", "targets", metavar="AGENT", multiple=True, help="Remove this target and its copies.")
@change_options
def command(*, names: tuple[str, ...], targets: tuple[str, ...], kind: Scope, as_json: bool, quiet: bool) -> int:
    """Remove installed skills, and the dependencies that nothing else needs.

    NAME is the name of an installed skill, or name@package. Copies in targets are removed too, unless somebody edited
    them. The files stay in the store for `prowess rollback`, until `prowess store prune`.

    \b
    Example:
      prowess remove csv-report
      prowess remove --target claude-code
    """  # noqa: D301 -- click needs the control character
    if not names and not targets:
        raise click.UsageError("name a skill, or a target with --target")
    scope = InstallScope.find(kind)
    permission = permission_for("packages.remove", kind)
    return carried_out(
        scope, lambda: remove(scope, names, targets=targets, permission=permission), as_json=as_json, quiet=quiet
    )
