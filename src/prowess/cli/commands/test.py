"""`prowess test`: runs the scenarios of skills without a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from msgspec import to_builtins

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.cli.targets import targets
from prowess.errors import SkillParseError
from prowess.evals.scenarios.configurations import read_configurations, run_configurations
from prowess.evals.scenarios.running import run_tests
from prowess.report.json_report import diagnostic_object

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.diagnostics import Diagnostic
    from prowess.evals.scenarios.configurations import ConfiguredReports
    from prowess.evals.scenarios.report import CaseResult, TestReport


@click.command("test")
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option(
    "--configurations",
    "configured",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Run with each configuration of FILE, and report the differences.",
)
@click.option("--strict", is_flag=True, help="Fail if a case cannot be run, because it has no turns.")
@json_option
@click.option("--quiet", is_flag=True, help="Print failures only.")
def command(*, paths: tuple[str, ...], configured: str | None, strict: bool, as_json: bool, quiet: bool) -> int:
    """Run the scenarios of skills, without a model and without a network.

    PATH is a skill or a folder of skills, by default the working directory. The scenarios are in skill.manifest.yaml,
    and evals/tests.yaml states what the model does in each of them. Session, restrictions, policy and tools are real.

    Exits with 1 if a case fails, or if no case could be run.

    Example: prowess test my-skill
    """
    found = [target.path for target in targets(paths or (".",)) if target.directory is not None]
    try:
        if configured is not None:
            with open(configured, encoding="utf-8", errors="replace") as file:
                chosen = read_configurations(file.read(), configured)
            return _several(run_configurations(chosen, *found), as_json=as_json)
        report = run_tests(*found)
    except SkillParseError as fault:
        output.error(f"{printable_line(str(fault))}; see prowess check")
        return exit_codes.USAGE
    if as_json:
        output.document({**report.as_dict(), "diagnostics": _plain(report.diagnostics)})
    else:
        _print(report, quiet=quiet)
    return _code(report, strict=strict)


def _code(report: TestReport, *, strict: bool) -> int:
    if report.diagnostics:
        return exit_codes.USAGE
    if any(case.unavailable for case in report.cases):
        return exit_codes.UNAVAILABLE
    if report.passed and not (strict and report.counts["skipped"]):
        return exit_codes.OK
    return exit_codes.FAILED


def _plain(diagnostics: Sequence[Diagnostic]) -> list[dict[str, object]]:
    return [diagnostic_object(found) for found in diagnostics]


def _print(report: TestReport, *, quiet: bool) -> None:
    for found in report.diagnostics:
        output.line(f"{found.location}: {found.rule}: {found.message}")
    if report.diagnostics:
        return  # cases without turns would be named, because the file that has them cannot be used
    for case in report.cases:
        if not quiet or case.outcome in ("failed", "error"):
            output.line(_line(case))
    counts = report.counts
    words = [f"{counts['passed']} passed", f"{counts['failed']} failed", counted(counts["error"], "error")]
    if not quiet:
        output.line(", ".join([*words, f"{counts['skipped']} skipped"]))
    if report.cases and counts["skipped"] == len(report.cases):
        output.note("no case was run: add turns to evals/tests.yaml")
    elif not report.cases and not report.diagnostics:
        output.note("there is no case: add tests to skill.manifest.yaml, or cases to evals/tests.yaml")


def _line(case: CaseResult) -> str:
    name = " / ".join(filter(None, (case.skill, case.scenario, case.case)))
    reason = "" if case.reason is None else f": {printable_line(case.reason)}"
    return f"{case.outcome:7} {printable_line(name)}{reason}"


def _several(reports: ConfiguredReports, *, as_json: bool) -> int:
    differences = reports.differences
    first = next(iter(reports.reports.values()))
    summaries = {name: report.as_dict()["summary"] for name, report in reports.reports.items()}
    if as_json:
        rows = [to_builtins(row) for row in differences]
        output.document(
            {"summary": summaries, "differences": rows, "diagnostics": _plain(first.diagnostics)},
        )
    else:
        for row in differences:
            output.line(printable_line(" / ".join(filter(None, (row.skill, row.scenario, row.case)))))
            for name, outcome in row.outcomes.items():
                reason = row.reasons[name]
                output.line(printable_line(f"  {outcome:7} {name}{'' if reason is None else f': {reason}'}"))
        output.line(f"{counted(len(differences), 'difference')} between {len(summaries)} configurations")
    codes = [_code(report, strict=False) for report in reports.reports.values()]
    return max(codes)
