"""`prowess check`: every fault of any number of skills, with place and reason."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from prowess._internal.terminal_text import printable_line
from prowess.cli import exit_codes, output
from prowess.errors import InvalidArgumentsError
from prowess.format.limits import MAX_DOCUMENT_BYTES
from prowess.format.parsing import parse_source
from prowess.format.profiles import PROFILES, Profile, profile_named
from prowess.format.reading import read_document
from prowess.format.rule_table import RULES
from prowess.format.skill import frontmatter_of
from prowess.format.skill_directories import find_skill_directories
from prowess.format.validation import raw_findings
from prowess.lint import lint_findings
from prowess.report import CheckedSkill, Tally
from prowess.rule_engine import Selection, judge_all

if TYPE_CHECKING:
    from prowess.format.document import SkillDocument

_STANDARD_INPUT = "-"


@click.command("check")
@click.argument("paths", nargs=-1, metavar="[PATH...]")
@click.option("--profile", default="spec", show_default=True, metavar="P", help=f"One of: {', '.join(PROFILES)}.")
@click.option("--select", multiple=True, metavar="RULES", help="Only these families, id prefixes or ids.")
@click.option("--ignore", multiple=True, metavar="RULES", help="Not these; the more exact selector wins.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever is found.")
@click.option("--stdin-path", metavar="FILE", help="What the text from standard input (-) is called.")
@click.option("-q", "--quiet", is_flag=True, help="Print no summary.")
def command(
    *,
    paths: tuple[str, ...],
    profile: str,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    form: str,
    as_json: bool,
    exit_zero: bool,
    stdin_path: str | None,
    quiet: bool,
) -> int:
    """Find every fault in skills, with position and reason.

    PATH is a skill, its SKILL.md, a folder of skills, or - for one SKILL.md on standard input; the working directory by
    default. Exits with 1 where an error is found; warnings and infos do not fail.

    Example: prowess check . --select spec,reference --ignore name.ascii
    """
    try:
        chosen = profile_named(profile)
        selection = Selection.checked(_split(select), _split(ignore), {rule.id: rule.family for rule in RULES.values()})
    except InvalidArgumentsError as fault:
        raise click.UsageError(str(fault)) from fault
    skills = [_checked(document, chosen, selection) for document in _documents(paths or (".",), stdin_path)]
    if as_json or form == "json":
        # Imported here, not at the top: one form needs it.
        from prowess.report.json_report import check_document

        output.document(check_document(skills))
    else:
        _print(skills, quiet=quiet)
    return exit_codes.OK if exit_zero or not Tally.of(skills).errors else exit_codes.FAILED


def _split(values: tuple[str, ...]) -> list[str]:
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def _documents(paths: tuple[str, ...], stdin_path: str | None) -> list[SkillDocument]:
    documents: dict[str, SkillDocument] = {}
    for path in paths:
        if path == _STANDARD_INPUT:
            documents[path] = _from_standard_input(stdin_path)
            continue
        for directory in _directories(path):
            key = os.path.abspath(directory)  # a skill that two arguments name is checked once
            if key not in documents:
                documents[key] = read_document(directory, shown_as=os.path.normpath(directory))
    return list(documents.values())


def _directories(path: str) -> tuple[str, ...]:
    if not os.path.lexists(path):
        raise click.UsageError(f"there is no {path!r}")
    if not os.path.isdir(path):
        if os.path.basename(path).lower() != "skill.md":
            raise click.UsageError(f"{path!r} is neither a directory nor a SKILL.md")
        return (os.path.dirname(path) or ".",)
    found = find_skill_directories(path)
    for note in found.notes:
        output.note(printable_line(note))
    return found.paths or (path,)  # a directory without any skill is reported as one that lacks its SKILL.md


def _from_standard_input(stdin_path: str | None) -> SkillDocument:
    data = sys.stdin.buffer.read(MAX_DOCUMENT_BYTES + 1)
    if stdin_path is None:
        return parse_source(data, path="<stdin>")
    return parse_source(data, path=stdin_path, directory=os.path.dirname(os.path.abspath(stdin_path)))


def _checked(document: SkillDocument, profile: Profile, selection: Selection) -> CheckedSkill:
    findings = [*raw_findings(document, profile), *lint_findings(document)]
    if not profile.reference_wording:  # the reference tool's order is its own
        findings.sort(key=lambda found: (found.location.line, found.location.column))
    path = document.path or ""
    known = document.complete and document.text_of("name") is not None
    return CheckedSkill(
        path=os.path.dirname(path) or ".",
        name=frontmatter_of(document).name if known else document.directory_name,
        document=document,
        diagnostics=tuple(judge_all(findings, profile, selection)),
    )


def _print(skills: list[CheckedSkill], *, quiet: bool) -> None:
    # Imported here, not at the top: one form needs it.
    from prowess.report.text import check_lines, summary_line

    lines = list(check_lines(skills, output.styled))
    if not quiet:
        lines.append(summary_line(skills))
    output.raw("".join(f"{line}\n" for line in lines))
