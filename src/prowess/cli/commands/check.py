"""`prowess check`: every fault of any number of skills, with place and reason."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from prowess._internal.terminal_text import printable_line
from prowess.cli import exit_codes, output
from prowess.cli.configuration_options import configuration_options, open_configuration
from prowess.cli.silencing import Silencing
from prowess.cli.skill_sets import findings_between, is_folder_of_skills
from prowess.cli.targets import STANDARD_INPUT, targets
from prowess.config.settings import FORMATS
from prowess.format.skill import frontmatter_of
from prowess.format.validation import place_in_report, raw_findings
from prowess.lint import lint_findings
from prowess.report import CheckedSkill, Tally
from prowess.report.forms import render

if TYPE_CHECKING:
    from prowess.cli.fixing import Fixing
    from prowess.config import Configuration
    from prowess.config.baseline import Baseline
    from prowess.diagnostics import Diagnostic
    from prowess.format.document import SkillDocument
    from prowess.rule_engine import Judgement


@click.command("check")
@click.argument("paths", nargs=-1, metavar="[PATH...]")
@configuration_options
@click.option("--format", "form", type=click.Choice(FORMATS), help="The form of the report; text by default.")
@click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
@click.option("--fix", "fix", is_flag=True, help="Apply the safe fixes to the files.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: also those that may change the meaning.")
@click.option("--diff", is_flag=True, help="Show what would be fixed; write nothing.")
@click.option("--baseline", metavar="FILE", help="Report only what FILE does not know yet.")
@click.option("--write-baseline", is_flag=True, help="Write what is found to the file of --baseline.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever is found.")
@click.option("--stdin-path", metavar="FILE", help="What the text from standard input (-) is called.")
@click.option("-q", "--quiet", is_flag=True, help="Print no summary.")
def command(
    *,
    paths: tuple[str, ...],
    form: str | None,
    as_json: bool,
    fix: bool,
    unsafe_fixes: bool,
    diff: bool,
    baseline: str | None,
    write_baseline: bool,
    exit_zero: bool,
    stdin_path: str | None,
    quiet: bool,
    **options: Any,  # noqa: ANN401 -- those of configuration_options, which it takes apart
) -> int:
    """Find every fault in skills, with position and reason.

    PATH is a skill, its SKILL.md, a folder of skills, or - for one SKILL.md on standard input; the working directory by
    default. Settings are read from prowess.toml too; `prowess config show` says which hold. Exits with 1 where an error
    is found; warnings and infos do not fail. With --fix what is left is reported, and --diff exits with 1 where it
    shows a difference.

    Example: prowess check . --select spec,reference --ignore name.ascii
    """
    form = "json" if as_json else form
    configuration = open_configuration(quiet=quiet, format=() if form is None else (form,), **options)
    fixing = _fixing(paths, fix=fix, unsafe=unsafe_fixes, diff=diff, form=form)
    known = _baseline(baseline, write=write_baseline, diff=diff)
    silencing = Silencing(configuration, None if write_baseline else known)
    skills, judgements, everything, excluded = [], [], [], 0
    for target in targets(paths or (".",), stdin_path):
        document = target.document
        judgement = configuration.judgement(document.directory)
        if judgement.excluded and judgement.floor is None:
            excluded += 1
            continue
        if fixing is not None:
            new = partial(_new, judgement=judgement, silencing=silencing)
            document = fixing.fix(document, target.data, new, within=target.named)
        found = _findings(document, judgement, silencing)
        everything.append((document, found))
        skills.append(_checked(document, silencing.by_baseline(document, found)))
        judgements.append(judgement)
    whole = not excluded and any(map(is_folder_of_skills, paths or (".",)))
    everything += _between(skills, judgements, silencing, whole=whole)
    if excluded and not quiet:
        output.note(f"{excluded} {'skill is' if excluded == 1 else 'skills are'} excluded: {_where(configuration)}")
    if silencing.not_honoured and not quiet:
        output.note(_not_honoured(silencing.not_honoured))
    if known is not None and write_baseline:
        number = known.write(everything)
        if not quiet:
            output.note(printable_line(f"{known.path} knows {number} {'finding' if number == 1 else 'findings'} now"))
        return exit_codes.OK
    if known is not None and not quiet and (gone := known.gone(everything)):
        output.note(f"{gone} of the baseline {'is' if gone == 1 else 'are'} gone; --write-baseline forgets them")
    if not diff:
        name = str(configuration.value("format").value)
        output.raw(render(name, skills, style=output.styled, summary=not quiet))
    failed = Tally.of(skills).errors > 0
    if fixing is not None:
        failed = failed or fixing.left_alone > 0 or (diff and fixing.files > 0)
        if not quiet:
            output.note(fixing.summary())
    return exit_codes.OK if exit_zero or not failed else exit_codes.FAILED


def _between(
    skills: list[CheckedSkill], judgements: list[Judgement], silencing: Silencing, *, whole: bool
) -> list[tuple[SkillDocument, tuple[Diagnostic, ...]]]:
    """Add to the skills what is wrong between them, and return it."""
    added = []
    for at, found in findings_between(skills, judgements, whole=whole).items():
        document = skills[at].document
        added.append((document, found))
        fresh = silencing.by_baseline(document, found)
        skills[at] = replace(skills[at], diagnostics=(*skills[at].diagnostics, *fresh))
    return added


def _baseline(path: str | None, *, write: bool, diff: bool) -> Baseline | None:
    if path is None:
        if write:
            raise click.UsageError("--write-baseline needs --baseline FILE")
        return None
    if write and diff:
        raise click.UsageError("--diff writes nothing, so leave --write-baseline out")
    # Imported here, not at the top: most checks have no baseline.
    from prowess.config.baseline import Baseline

    return Baseline.at(path) if write else Baseline.read(path)


def _not_honoured(number: int) -> str:
    what = "a finding" if number == 1 else f"{number} findings"
    return f"comments in skills ask to silence {what}, in vain: trust the project or say --suppressions on"


def _fixing(paths: tuple[str, ...], *, fix: bool, unsafe: bool, diff: bool, form: str | None) -> Fixing | None:
    if not (fix or diff):
        if unsafe:
            raise click.UsageError("--unsafe-fixes needs --fix, or --diff to see what they would change")
        return None
    if fix and not diff and STANDARD_INPUT in paths:
        raise click.UsageError("standard input cannot be fixed; see what would change with --diff")
    if diff and form not in {None, "text"}:
        raise click.UsageError(f"--diff prints a difference, not {form}; leave one of them out")
    # Imported here, not at the top: most checks change nothing.
    from prowess.cli.fixing import Fixing

    return Fixing(unsafe=unsafe, writes=not diff)


def _where(configuration: Configuration) -> str:
    return output.shown_path(str(configuration.value("exclude").origin))


def _findings(document: SkillDocument, judgement: Judgement, silencing: Silencing) -> tuple[Diagnostic, ...]:
    findings = [*raw_findings(document, judgement.profile), *lint_findings(document, judgement)]
    silenced = silencing.by_comments(document, judgement, judgement.judge(findings))
    if judgement.profile.reference_wording:  # the reference tool's order is its own
        return silenced
    return tuple(sorted(silenced, key=place_in_report))


def _new(document: SkillDocument, *, judgement: Judgement, silencing: Silencing) -> tuple[Diagnostic, ...]:
    return silencing.by_baseline(document, _findings(document, judgement, silencing))


def _checked(document: SkillDocument, findings: tuple[Diagnostic, ...]) -> CheckedSkill:
    path = document.path or ""
    known = document.complete and document.text_of("name") is not None
    return CheckedSkill(
        path=os.path.dirname(path) or ".",
        name=frontmatter_of(document).name if known else document.directory_name,
        document=document,
        diagnostics=findings,
    )
