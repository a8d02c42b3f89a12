"""`prowess block`: blocks skills for everybody on this machine or for this user, and lists the blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.cli.options.governance_options import block_scope_option, governance_log
from prowess.cli.options.organisation_options import OrganisationOptions, organisation_options
from prowess.cli.organisation.blocks import add_shared_block, shared_blocks
from prowess.cli.organisation.waiting import waits_for_machines
from prowess.governance.blocking import BlockedSkills, own_scope
from prowess.policy.blocks.block_file import BLOCK_KINDS

if TYPE_CHECKING:
    from prowess.governance.blocking import BlockScope, PlacedBlock
    from prowess.policy.blocks.block_file import BlockKind

_HELP = {
    "digest": "Block the skill with this digest, under every name.",
    "file": "Block every skill that has a file with this SHA-256.",
    "source": "Block every skill of this directory, repository, registry or label.",
    "publisher": "Block every skill of this publisher, or signer as in prowess.lock.",
}


def _facts(command: click.Command) -> click.Command:
    for kind, text in reversed(_HELP.items()):
        command.params.insert(1, click.Option([f"--{kind}"], metavar=kind[0].upper(), help=text))
    return command


@click.command()
@click.argument("name", required=False)
@click.option("--reason", metavar="R", help="Why; shown to everybody whose call is denied.")
@block_scope_option
@organisation_options
@waits_for_machines
@click.option("--list", "show", is_flag=True, help="List all blocks.")
@json_option
def command(
    *,
    name: str | None,
    reason: str | None,
    scope: BlockScope | None,
    of: OrganisationOptions,
    show: bool,
    as_json: bool,
    **facts: str | None,
) -> int:
    """Block the skill NAME, or every skill with one fact: here, or for an organisation or one of its tenants.

    No session can list, load, read or run a blocked skill from its next call on, also if it is active. No rule,
    approval or trust permits it.

    NAME may be a copy: PLUGIN/NAME, NAME@PLUGIN or NAME@VERSION.

    \b
    Example:
      prowess block deploy --reason "leaks tokens, INC-42"
      prowess block --file 9f86d08...0a08 --reason "miner"
      prowess block --list
      prowess block deploy --reason "leaks tokens" --store postgresql:///prowess --tenant acme
    """  # noqa: D301 -- click needs the control character
    of.require_alone(scope=scope)
    given: dict[BlockKind, str] = {}
    for kind in BLOCK_KINDS:
        value = name if kind == "name" else facts[kind]
        if value is not None:
            given[kind] = value
    if show:
        if given or reason is not None or scope is not None:
            raise click.UsageError("--list takes no other option but --json, --store and --server")
        return shared_blocks(of, as_json=as_json) if of.given else _listed(as_json=as_json)
    if len(given) != 1:
        raise click.UsageError("give one of NAME, --digest, --file, --source and --publisher")
    if reason is None:
        raise click.UsageError("Missing option '--reason'.")
    ((kind, value),) = given.items()
    if of.given:
        return add_shared_block(of, kind, value, reason, as_json=as_json)
    placed = BlockedSkills(governance_log("block")).add(kind, value, reason, scope or own_scope())
    if as_json:
        output.document({**as_json_block(placed), "created": placed.is_new})
        return exit_codes.OK
    block = placed.block
    for_whom = "on this machine" if placed.scope == "machine" else "for this user"
    state = "is blocked" if placed.is_new else "was blocked before"
    output.line(printable_line(f"{block.kind} {block.value} {state} {for_whom}: {block.reason}"))
    output.line(f"Lift it with: prowess unblock {printable_line(block.id)}")
    return exit_codes.OK


_facts(command)


def as_json_block(placed: PlacedBlock) -> dict[str, object]:
    """Return a block as JSON output has it."""
    block = placed.block
    return {
        "id": block.id,
        "match": {block.kind: block.value},
        "reason": block.reason,
        "by": block.by,
        "at": block.at,
        "scope": placed.scope,
        "path": placed.path,
    }


def _listed(*, as_json: bool) -> int:
    found = BlockedSkills().all()
    if as_json:
        output.long_document({"blocks": [as_json_block(one) for one in found]})
        return exit_codes.OK
    for one in found:
        block = one.block
        output.line(printable_line(f"{block.id}  {one.scope:7}  {block.kind} {block.value}"))
        output.line(printable_line(f"  {block.reason} ({block.by}, {block.at[:10]})"))
    if not found:
        output.note("nothing is blocked")
    return exit_codes.OK
