"""`prowess feedback`: records what a person thinks of a skill, on this machine alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from msgspec import to_builtins

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.cli.options.catalog_options import CatalogOptions, catalog_options
from prowess.cli.options.skill_completion import complete_skill
from prowess.errors import InvalidArgumentsError, SkillNotFoundError
from prowess.evals.usage.feedback import give_feedback

if TYPE_CHECKING:
    from prowess.evals.usage.feedback import Opinion


@click.command()
@click.argument("name", shell_complete=complete_skill)
@click.argument("opinion", type=click.Choice(["good", "bad"]))
@click.option("--note", metavar="TEXT", help="Why, in your words.")
@catalog_options
@json_option
def command(*, name: str, opinion: Opinion, note: str | None, skills: CatalogOptions, as_json: bool) -> int:
    """Record that the skill NAME was good or bad.

    The statement is about the version that is here now. It is kept in PROWESS_HOME, for you alone: nothing is sent, and
    nothing of a conversation is recorded. prowess report shows the counts.

    Example: prowess feedback csv-report bad --note "It forgets the currency"
    """
    catalog = skills.open(one=True)
    try:
        entry = catalog.get(name)
        given = give_feedback(entry.name, entry.document_digest, opinion, note)
    except SkillNotFoundError as fault:
        output.error(printable_line(str(fault)))
        return exit_codes.FAILED
    except InvalidArgumentsError as fault:
        output.error(printable_line(str(fault)))
        return exit_codes.USAGE
    if as_json:
        output.document({"recorded": to_builtins(given)})
    else:
        output.line(printable_line(f"recorded: {given.skill} was {given.opinion} ({given.digest[:19]})"))
    return exit_codes.OK
