"""`prowess to-prompt`: prints skills as a block for a system prompt."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.compat.skills_ref import SkillError, find_skill_md, outcomes, read_properties
from prowess.compat.skills_ref.prompt import block, directory_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.runtime.disclosure.prompts import Prompt
    from prowess.runtime.disclosure.skill_list import ListedSkill, SkillList

_FORMS = ("skills-ref", "xml", "attributes", "tool", "json", "markdown")
_BUDGET = re.compile(r"(\d{1,9})(c?)")
_CHARACTERS_PER_TOKEN = 4
_MOST_NAMED = 10


class _Budget(click.ParamType[int]):
    """A number of characters, given as `300` (tokens) or `1200c` (characters)."""

    name = "budget"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = _BUDGET.fullmatch(str(value))
        if found is None:
            self.fail(
                f"{printable_line(str(value))!r} is neither a number of tokens, as 300, nor of characters, as 1200c",
                param,
                ctx,
            )
        return int(found[1]) * (1 if found[2] else _CHARACTERS_PER_TOKEN)


@click.command("to-prompt")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path), metavar="PATH...")
@click.option(
    "--form",
    "--format",
    "form",
    type=click.Choice(_FORMS),
    default=_FORMS[0],
    show_default=True,
    help="Form of the block.",
)
@click.option(
    "--budget",
    type=_Budget(),
    metavar="N|Nc",
    help="Limit of the whole block: N tokens (characters / 4) or Nc characters.",
)
@click.option("--active", is_flag=True, help="With --form attributes: print skills as active, with their bodies.")
def command(
    *,
    paths: tuple[Path, ...],
    form: str,
    budget: int | None,
    active: bool,
) -> int:
    """Print skills as a block for a prompt: name, description and location, in the order given.

    The form skills-ref equals the output of the reference tool byte for byte; it does not escape the location. In all
    other forms, texts of a skill are escaped: they cannot begin or end an element, item or line. To keep a budget,
    descriptions are shortened; if the names alone exceed it, the last skills are left out. Both is reported on
    standard error. If a skill cannot be read, only an error is printed and the exit code is 1.

    \b
    Example:
      prowess to-prompt examples/skills/csv-report --form markdown --budget 100
    """  # noqa: D301 -- click needs the control character
    if active and form != "attributes":
        raise click.UsageError("--active needs --form attributes")
    if active and budget is not None:
        raise click.UsageError("--active prints whole bodies; leave out --budget")
    if form == "skills-ref" and budget is None:
        return output.answer(outcomes.prompt(paths))
    try:
        directories = [directory_of(outcomes.skill_directory(path)) for path in paths]
        skills = [_listed(directory) for directory in directories]
        text = "".join(_active(skill) for skill in skills) if active else _fitted(form, directories, skills, budget)
    except SkillError as fault:
        return output.answer(outcomes.failure(fault))
    return output.answer(outcomes.Outcome(stdout=text, exit_code=exit_codes.OK))


def _listed(directory: Path) -> ListedSkill:
    # Imported here because the default form does not need the runtime.
    from prowess.runtime.disclosure.skill_list import ListedSkill

    properties = read_properties(directory)
    return ListedSkill(name=properties.name, description=properties.description, location=str(find_skill_md(directory)))


def _fitted(form: str, directories: Sequence[Path], skills: Sequence[ListedSkill], budget: int | None) -> str:
    from prowess.runtime.disclosure.prompts import FORMS, fitted, prompt  # Imported here for the same reason.

    named = next((known for known in FORMS if known == form), None)
    if named is not None:
        made = prompt(named, skills, budget)
    else:
        made = fitted(skills, lambda listed: _as_reference(directories, listed), budget)
    _note_shortened(made, budget)
    return made.text


def _as_reference(directories: Sequence[Path], listed: SkillList) -> str:
    limit = listed.limit
    texts = [
        skill.description
        if limit is None or len(skill.description) <= limit
        else f"{skill.description[: max(limit - 1, 0)]}…"[:limit]
        for skill in listed.shown
    ]
    # A budget keeps the given order and leaves out the last skills.
    named = [(place, skill.name, text) for place, skill, text in zip(directories, listed.shown, texts, strict=False)]
    return block(named) + "\n"


def _active(skill: ListedSkill) -> str:
    from prowess.format import read_document  # Imported here for the same reason.
    from prowess.runtime.disclosure.prompts import active

    return active(skill, read_document(str(skill.location)).body)


def _note_shortened(made: Prompt, budget: int | None) -> None:
    if made.shortened:
        names = ", ".join(printable_line(name) for name in made.shortened[:_MOST_NAMED])
        more = f" and {len(made.shortened) - _MOST_NAMED} more" if len(made.shortened) > _MOST_NAMED else ""
        count = len(made.shortened)
        output.note(f"{count} description{'s were' if count > 1 else ' was'} shortened to fit: {names}{more}")
    if made.left_out and budget is not None:
        tokens, rest = divmod(budget, _CHARACTERS_PER_TOKEN)
        limit = counted(budget, "character") if rest else f"{counted(tokens, 'token')} ({budget} characters)"
        output.note(f"{counted(made.left_out, 'skill')} left out: the budget of {limit} is too small for every name")
