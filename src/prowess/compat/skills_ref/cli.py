"""The reference tool's command line: `validate`, `read-properties`, `to-prompt`, one skill at a time.

Run it as `python -m prowess.compat.skills_ref`. The commands `prowess validate`, `prowess read-properties` and `prowess
to-prompt` give the same answers and have more options. This module is for scripts that need exactly the reference
tool's interface.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from prowess._internal.text.terminal_text import printable
from prowess.compat.skills_ref import outcomes

_EXISTING = click.Path(exists=True, path_type=Path)


@click.group()
@click.version_option("0.1.1", prog_name="skills-ref")
def main() -> None:
    """Check and read Agent Skills as the reference tool does."""


@main.command("validate")
@click.argument("skill_path", type=_EXISTING)
def validate_cmd(skill_path: Path) -> None:
    """Check one skill. Exit code 0 if it is valid, 1 if not."""
    _answer(outcomes.validation(skill_path))


@main.command("read-properties")
@click.argument("skill_path", type=_EXISTING)
def read_properties_cmd(skill_path: Path) -> None:
    """Print the properties of one skill as JSON. Exit code 1 if they cannot be read."""
    _answer(outcomes.properties(skill_path))


@main.command("to-prompt")
@click.argument("skill_paths", type=_EXISTING, nargs=-1, required=True)
def to_prompt_cmd(skill_paths: tuple[Path, ...]) -> None:
    """Print skills as an <available_skills> block. Exit code 1 if one of them cannot be read."""
    _answer(outcomes.prompt(skill_paths), document=True)


def _answer(outcome: outcomes.Outcome, *, document: bool = False) -> None:
    """Write both streams and exit. A pipe gets every byte, in UTF-8. Output to a terminal is escaped."""
    if document and not sys.stdout.isatty():
        sys.stdout.buffer.write(outcome.stdout.encode("utf-8", "surrogateescape"))
        sys.stdout.buffer.flush()
    else:
        click.echo(printable(outcome.stdout), nl=False)
    click.echo(printable(outcome.stderr), err=True, nl=False)
    sys.exit(outcome.exit_code)
