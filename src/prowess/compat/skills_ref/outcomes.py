"""Results of the reference tool's three commands: text for each stream and an exit code.

Both `prowess` and `python -m prowess.compat.skills_ref` print these results, so they cannot differ. This module neither
prints nor exits.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import printable_line
from prowess.compat.skills_ref.errors import SkillError
from prowess.compat.skills_ref.parser import read_properties
from prowess.compat.skills_ref.prompt import to_prompt
from prowess.compat.skills_ref.validator import validate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of one command. Each text is empty or ends with a line break."""

    stdout: str = ""
    stderr: str = ""
    exit_code: int = 0


def skill_directory(path: Path) -> Path:
    """Return the skill's directory: the parent if `path` is a file called skill.md, in any case, else `path`."""
    return path.parent if path.name.lower() == "skill.md" and path.is_file() else path


def validation(path: Path) -> Outcome:
    """Return the result of `validate PATH`."""
    directory = skill_directory(path)
    return validation_block(str(directory), validate(directory))


def validation_block(label: str, messages: Sequence[str]) -> Outcome:
    """Return the result for one skill with these messages; it is valid if there are none."""
    if not messages:
        return Outcome(stdout=f"Valid skill: {printable_line(label)}\n")
    # Escape line breaks, so that a name cannot imitate the line of another skill.
    lines = [f"Validation failed for {printable_line(label)}:"]
    lines += [f"  - {printable_line(message)}" for message in messages]
    return Outcome(stderr="\n".join(lines) + "\n", exit_code=1)


def properties(path: Path) -> Outcome:
    """Return the result of `read-properties PATH`."""
    try:
        values = read_properties(skill_directory(path)).to_dict()
    except SkillError as fault:
        return failure(fault)
    return Outcome(stdout=json.dumps(values, indent=2) + "\n")


def prompt(paths: Iterable[Path]) -> Outcome:
    """Return the result of `to-prompt PATH...`: all of the skills, or the first error."""
    try:
        return Outcome(stdout=to_prompt([skill_directory(path) for path in paths]) + "\n")
    except SkillError as fault:
        return failure(fault)


def failure(fault: SkillError) -> Outcome:
    """Return the result of a command that failed."""
    return Outcome(stderr=f"Error: {printable_line(str(fault))}\n", exit_code=1)
