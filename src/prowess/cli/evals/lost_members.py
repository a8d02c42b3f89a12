"""Prints the parts of evals that the tools for which they were written will not see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.format.suites.forms import LostMember

_SHOWN = 20


def print_lost(lost: Sequence[LostMember], form: str, *, are_kept: bool) -> None:
    """Print the members on standard error. `are_kept` is whether converting back gives them again."""
    if not lost:
        return
    kept = "; they are kept" if are_kept else ""
    output.note(f"{counted(len(lost), 'member')} will not be seen by other tools that read {form}{kept}")
    for row in lost[:_SHOWN]:
        where = "the file" if row.eval is None else f"eval {printable_line(str(row.eval))}"
        output.note(f"  {where}: {printable_line(row.member)}: {row.reason}")
    if len(lost) > _SHOWN:
        output.note(f"  and {len(lost) - _SHOWN} more (--json lists all)")
