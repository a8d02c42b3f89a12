"""`prowess unblock`: lifts a block."""

from __future__ import annotations

import click

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import exit_codes, output
from prowess.cli.commands.block import as_json_block
from prowess.cli.options import json_option
from prowess.cli.options.governance_options import governance_log
from prowess.cli.options.organisation_options import OrganisationOptions, organisation_options
from prowess.cli.organisation.blocks import lift_shared_block
from prowess.cli.organisation.waiting import waits_for_machines
from prowess.governance.blocking import BlockedSkills


@click.command()
@click.argument("block_id", metavar="ID")
@organisation_options
@waits_for_machines
@json_option
def command(*, block_id: str, of: OrganisationOptions, as_json: bool) -> int:
    """Lift the block ID, which `prowess block --list` shows.

    Other blocks of the same skill, and the policy, stay in force.

    Example: prowess unblock block-5f3c0a9e1b2d
    """
    if of.given:
        return lift_shared_block(of, block_id, as_json=as_json)
    lifted = BlockedSkills(governance_log("block")).lift(block_id)
    if as_json:
        output.document(as_json_block(lifted))
    else:
        output.line(printable_line(f"{lifted.block.kind} {lifted.block.value} is no longer blocked by {block_id}"))
    return exit_codes.OK
