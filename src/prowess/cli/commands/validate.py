"""`prowess validate`: the reference tool's validation with its exact messages, also for several skills at once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options.profile_names import completing_names, require_profile
from prowess.compat.skills_ref import outcomes
from prowess.compat.skills_ref.parser import located
from prowess.diagnostics import Severity
from prowess.format import PROFILES, find_skill_directories, read_document, validate_skill
from prowess.report import CheckedSkill

if TYPE_CHECKING:
    from collections.abc import Sequence

REFERENCE = "skills-ref"


@click.command("validate")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path), metavar="PATH...")
@click.option(
    "--profile",
    default=REFERENCE,
    show_default=True,
    metavar="P",
    help=f"Profile to check against: {', '.join(PROFILES)}.",
    shell_complete=completing_names(PROFILES),
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, as check --json does.")
@click.option("-q", "--quiet", is_flag=True, help="Print only faults.")
def command(*, paths: tuple[Path, ...], profile: str, as_json: bool, quiet: bool) -> int:
    """Check skills with the messages, streams and exit codes of the reference tool.

    PATH is a skill, its SKILL.md, or a folder of skills. Valid skills are printed on standard output, faults on
    standard error. Exits with 1 if a skill has a fault. `prowess check` finds more, with positions.

    Example: prowess validate examples/skills
    """
    require_profile(profile)
    skills, plural = _skills(paths)
    if as_json:
        from prowess.report.json_report import check_document  # Imported here because only `--json` needs it.

        checked = [_checked(path, profile) for path in skills]
        output.document(check_document(checked))
        return exit_codes.OK if all(skill.valid for skill in checked) else exit_codes.FAILED
    failed = 0
    for path in skills:
        if profile == REFERENCE:
            outcome = outcomes.validation(path)
        else:
            errors = [one.message for one in _checked(path, profile).diagnostics if one.severity is Severity.ERROR]
            outcome = outcomes.validation_block(str(path), errors)
        failed += outcome.exit_code != exit_codes.OK
        if outcome.stderr:
            output.note(outcome.stderr.removesuffix("\n"))
        elif not quiet:
            output.line(outcome.stdout.removesuffix("\n"))
    if plural and not quiet:
        output.line(f"{counted(len(skills), 'skill')}: {len(skills) - failed} valid, {failed} failed")
    return exit_codes.FAILED if failed else exit_codes.OK


def _skills(paths: Sequence[Path]) -> tuple[list[Path], bool]:
    """Return the skills that the paths select, each once, and whether the paths could select more than one."""
    skills: dict[str, Path] = {}
    plural = len(paths) > 1
    for path in paths:
        directory = outcomes.skill_directory(path)
        found = [directory]
        if directory.is_dir():
            below = find_skill_directories(str(directory))
            for note in below.notes:
                output.note(printable_line(note))
            # If there is no skill below, report the path itself, which lacks its SKILL.md.
            found = [Path(name) for name in below.paths] or found
            plural = plural or found != [directory]
        for skill in found:
            skills.setdefault(os.path.abspath(skill), skill)
    return list(skills.values()), plural


def _checked(path: Path, profile: str) -> CheckedSkill:
    document = read_document(located(path), shown_as=str(path))
    known = document.text_of("name") if document.complete else None
    return CheckedSkill(
        path=str(path),
        name=known.strip() if known else document.directory_name,
        read=lambda: document,
        diagnostics=tuple(validate_skill(document, profile=profile)),
    )
