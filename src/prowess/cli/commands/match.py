"""`prowess match`: ranks the skills that fit a task."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import columns, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.cli.options.catalog_options import CatalogOptions, catalog_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.catalog import Match


@click.command()
@click.argument("task", nargs=-1, required=True)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    metavar="N",
    help="Show at most this many skills.",
)
@click.option("--bodies", is_flag=True, help="Also compare the instructions of the skills. Reads every SKILL.md.")
@catalog_options
@json_option
def command(*, task: tuple[str, ...], limit: int, bodies: bool, skills: CatalogOptions, as_json: bool) -> int:
    """Show the skills that fit TASK, best first, with a score from 0 to 1 and the words that they share with it.

    Words are compared with the names, descriptions, tags and `when_to_use` of the skills. Different forms of an English
    word are equal (needs the extra `match`), and mistyped words find similar ones. A skill that TASK names as /name or
    $name is first. If no skill fits well enough, none is shown.

    \b
    Example:
      prowess match "totals of a csv file" --root examples/skills
    """  # noqa: D301 -- click needs the control character
    text = " ".join(task)
    if not text.strip():
        raise click.UsageError("TASK is empty; describe what to do, for example: prowess match 'totals of a csv file'")
    catalog = skills.open(quiet=as_json, one=True, asks=not as_json)
    matches = catalog.match(text, limit, bodies=bodies)
    if as_json:
        output.document({"matches": [_member(match) for match in matches]})
    elif matches:
        output.line("\n".join(_rows(matches)))
    elif not skills.quiet:
        hint = "" if bodies else "; --bodies also compares the instructions"
        output.note(f"no skill fits this task{hint}")
    return exit_codes.OK


def _member(match: Match) -> dict[str, object]:
    return {
        "name": match.name,
        "location": match.location,
        "score": match.score,
        "reasons": [{"word": reason.word, "field": reason.field} for reason in match.reasons],
    }


def _rows(matches: Sequence[Match]) -> list[str]:
    names = [printable_line(match.name) for match in matches]
    width = max(map(columns, names))
    return [
        f"{name}{' ' * (width - columns(name))}  {match.score:.2f}  {printable_line(_reasons(match))}"
        for name, match in zip(names, matches, strict=True)
    ]


def _reasons(match: Match) -> str:
    """Return the words of the task by field, as in `name: csv, report; description: totals`."""
    fields: dict[str, list[str]] = {}
    for reason in match.reasons:
        fields.setdefault(reason.field, []).append(reason.word)
    return "; ".join(f"{field}: {', '.join(words)}" for field, words in fields.items())
