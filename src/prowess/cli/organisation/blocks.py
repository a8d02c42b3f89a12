"""`prowess block` and `unblock` with `--store` or `--server`: blocks of an organisation or of one tenant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import to_builtins

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options.organisation_options import opened_organisation
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from prowess.cli.options.organisation_options import OrganisationOptions
    from prowess.governance.service.blocks import SharedBlock
    from prowess.policy.blocks.block_file import BlockKind


def add_shared_block(of: OrganisationOptions, kind: BlockKind, value: str, reason: str, *, as_json: bool) -> int:
    """Block every skill with one fact. Without a tenant, it holds for the whole organisation."""
    with opened_organisation(of, "block", tenant=EVERY) as organisation:
        from prowess.governance.service.blocks import BlockMatch, NewBlock  # Imported here because SQLAlchemy is slow.

        block = organisation.blocks.add(NewBlock(match=BlockMatch(**{kind: value}), reason=reason))
    if as_json:
        output.document(to_builtins(block))
        return exit_codes.OK
    state = "is blocked" if block.created else "was blocked before"
    output.line(printable_line(f"{_fact(block)} {state} {_for_whom(block)}: {block.reason}"))
    output.line(f"Lift it with: prowess unblock {printable_line(block.id)}, and the same store or server")
    return exit_codes.OK


def lift_shared_block(of: OrganisationOptions, block_id: str, *, as_json: bool) -> int:
    """Lift a block."""
    with opened_organisation(of, "block", tenant=EVERY) as organisation:
        block = organisation.blocks.remove(block_id)
    if as_json:
        output.document(to_builtins(block))
    else:
        output.line(printable_line(f"{_fact(block)} is no longer blocked by {block_id} {_for_whom(block)}"))
    return exit_codes.OK


def shared_blocks(of: OrganisationOptions, *, as_json: bool) -> int:
    """List all blocks that hold."""
    with opened_organisation(of, "use", tenant=EVERY) as organisation:
        from prowess.governance.service.listing import ListQuery, every_item  # Imported here: see above.

        found = list(every_item(organisation.blocks.list, ListQuery()))
    if as_json:
        output.long_document({"blocks": [to_builtins(one) for one in found]})
        return exit_codes.OK
    for block in found:
        output.line(printable_line(f"{block.id}  {_fact(block)} {_for_whom(block)}"))
        output.line(printable_line(f"  {block.reason} ({block.by}, {block.at[:10]})"))
    if not found:
        output.note("nothing is blocked")
    return exit_codes.OK


def _fact(block: SharedBlock) -> str:
    kind, value = block.match.fact
    return f"{kind} {value}"


def _for_whom(block: SharedBlock) -> str:
    return "in the whole organisation" if block.tenant == EVERY else f"in the tenant {block.tenant}"
