"""`prowess store`: the store of installed skills."""

from __future__ import annotations

import click

from prowess._internal.places import prowess_home
from prowess._internal.text.terminal_text import counted
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.distribution.installation.pruning import prune_store


@click.group()
def command() -> None:
    """Clean the store of installed skills.

    \b
    Example:
      prowess store prune --dry-run
    """  # noqa: D301 -- click needs the control character


@command.command()
@click.option(
    "--keep", metavar="N", type=click.IntRange(0), help="First forget all earlier states of each lock but the last N."
)
@click.option("--dry-run", is_flag=True, help="Show what would be removed, but remove nothing.")
@json_option
def prune(*, keep: int | None, dry_run: bool, as_json: bool) -> int:
    """Remove the skills that no lock and no earlier state names.

    Locks of all projects that you installed from count. An earlier state can be restored by `prowess rollback` as long
    as its skills are in the store.

    \b
    Example:
      prowess store prune --keep 5
    """  # noqa: D301 -- click needs the control character
    pruned = prune_store(prowess_home(), keep=keep, dry_run=dry_run)
    if as_json:
        output.document(pruned.as_dict())
        return exit_codes.OK
    verb = "Would remove" if dry_run else "Removed"
    states = f" and {counted(pruned.states, 'state')}" if pruned.states else ""
    output.line(f"{verb} {counted(len(pruned.removed), 'stored skill')}{states}, {pruned.bytes} bytes")
    return exit_codes.OK
