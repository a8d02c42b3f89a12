"""`prowess to-prompt`: skills as the block of a system prompt."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from prowess._internal.terminal_text import printable
from prowess.cli import exit_codes, output
from prowess.compat.skills_ref import SkillError, find_skill_md, outcomes, read_properties
from prowess.compat.skills_ref.parser import resolved

# What XML 1.0 cannot hold in any spelling, an undecodable byte of a path among it.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@click.command("to-prompt")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path), metavar="PATH...")
@click.option("--form", type=click.Choice(["skills-ref", "xml"]), default="skills-ref", show_default=True)
def command(*, paths: tuple[Path, ...], form: str) -> int:
    """Print skills as an <available_skills> block: name, description and location, in the order given.

    The form skills-ref equals the reference tool's byte for byte, with the location as it is; xml is well-formed
    whatever the skills say. If one skill cannot be read, nothing is printed and the exit code is 1.

    Example: prowess to-prompt examples/skills/csv-report examples/skills/log-triage
    """
    outcome = outcomes.prompt(paths) if form == "skills-ref" else _xml(paths)
    if outcome.stderr:
        output.note(outcome.stderr.removesuffix("\n"))
    # A pipe gets every byte; a terminal must not act on what a description says.
    output.raw(printable(outcome.stdout) if sys.stdout.isatty() else outcome.stdout)
    return outcome.exit_code


def _xml(paths: tuple[Path, ...]) -> outcomes.Outcome:
    # Imported here, not at the top: one form needs it.
    from prowess.runtime.disclosure import ListedSkill, available_skills

    listed = []
    try:
        for path in paths:
            directory = Path(resolved(outcomes.skill_directory(path)))
            properties = read_properties(directory)
            listed.append(
                ListedSkill(
                    name=_NOT_XML.sub("\ufffd", properties.name),
                    description=_NOT_XML.sub("\ufffd", properties.description),
                    location=_NOT_XML.sub("\ufffd", str(find_skill_md(directory))),
                )
            )
    except SkillError as fault:
        return outcomes.failure(fault)
    return outcomes.Outcome(stdout=available_skills(listed), exit_code=exit_codes.OK)
