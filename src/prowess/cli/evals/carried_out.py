"""Carries out `prowess eval run`: runs the campaign, and prints its report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import output
from prowess.cli.evals.campaign_options import capped
from prowess.cli.evals.live_progress import LiveProgress
from prowess.cli.evals.report_files import ReportFiles
from prowess.cli.evals.run_ends import (
    code_of_end,
    error_texts,
    gate_text,
    spent_text,
    tell_fault,
    tell_ungraded,
    unfinished_text,
)
from prowess.cli.options.scheduler_options import scheduler_at
from prowess.errors import SkillError
from prowess.evals.campaigns.options import EvalRunOptions
from prowess.evals.campaigns.running import run_evals
from prowess.evals.campaigns.summary import notes_of
from prowess.evals.remote.engine import require_workers_are_needed
from prowess.evals.reports.answer import compared_evals, delta_text, rate_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.evals.campaigns.report import ConfigurationSummary, EvalRunReport
    from prowess.evals.campaigns.running import EvalRun


def carried_out(
    *,
    until: str | None,
    judge: str | None,
    page: str | None,
    junit: str | None,
    on: str | None,
    as_json: bool,
    quiet: bool,
    **given: Any,  # noqa: ANN401 -- the other options of the command, by name
) -> int:
    """Run the evals, print the report, and return the exit code.

    Raises:
        click.UsageError: two options do not fit each other.
    """
    if given["detect"] is not None and until is None:
        raise click.UsageError("--detect is the smallest difference for --until decided; name both")
    max_cost_usd = given["max_cost_usd"]
    files = ReportFiles(page=page, junit=junit)
    try:
        files.require_places()
        if on is not None:  # before the scheduler is waited for
            require_workers_are_needed(replay=given["replay"])
        options = EvalRunOptions(
            judge=None if judge == "none" else judge, until_decided=until is not None, **capped(given)
        )
        with (
            scheduler_at(on) as engine,
            LiveProgress(cap_usd=max_cost_usd, quiet=quiet or as_json) as progress,
        ):
            ended = run_evals(
                options,
                engine=engine,
                on_begin=progress.begin,
                on_result=progress.show,
                on_ungraded=tell_ungraded,
            )
    except SkillError as fault:
        return tell_fault(fault, as_json=as_json)
    report = ended.report
    if as_json:
        output.document(report.as_dict())
    else:
        for line in _lines(report, is_replay=options.replay is not None):
            output.line(line)
        for name, text in ended.feedback.items():
            output.note(f"feedback on {printable_line(name)}: {printable_line(text)}")
    try:
        files.write(report, folder=report.iteration, cap_usd=max_cost_usd)
    except SkillError as fault:
        return tell_fault(fault)
    return _code(ended)


def _code(ended: EvalRun) -> int:
    report = ended.report
    if ended.signalled is not None:
        output.note(f"stopped by a signal; continue with --resume: {printable_line(report.iteration)}")
    passed = all(gate.passed for gate in report.summary.gates)
    return code_of_end(signalled=ended.signalled, complete=report.complete, passed=passed)


def _lines(report: EvalRunReport, *, is_replay: bool) -> Iterator[str]:
    summary = report.summary
    for name, found in summary.configurations.items():
        yield f"{name:14} {_rate(found)}"
    if summary.delta is not None:
        yield f"{'difference':14} {delta_text(summary.delta, compared_evals(report))}"
    if summary.decision is not None:
        yield f"{'decision':14} {summary.decision}"
    for note in notes_of(summary, {unit.id: unit for unit in report.units}):
        yield f"note: {printable_line(note)}"
    yield from error_texts(unit.reason for unit in report.units if unit.outcome == "error" and unit.reason is not None)
    yield spent_text(report.spent)
    for gate in summary.gates:
        yield gate_text(gate)
    if not report.complete:
        left = sum(unit.outcome == "not_run" for unit in report.units)
        yield unfinished_text(report.stopped, left, is_replay=is_replay)
    yield f"results: {printable_line(report.iteration)}"


def _rate(found: ConfigurationSummary) -> str:
    rate = rate_text(found, f"{found.passed} of {found.passed + found.failed} passed")
    more = [(found.errors, "error"), (found.contaminated, "contaminated"), (found.not_run, "not run")]
    rest = [counted(number, word) if word == "error" else f"{number} {word}" for number, word in more if number]
    return ", ".join([rate, *rest])
