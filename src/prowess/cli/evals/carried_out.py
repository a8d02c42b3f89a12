"""Carries out `prowess eval run`: runs the campaign, and prints its report."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.evals.live_progress import LiveProgress
from prowess.cli.evals.report_files import ReportFiles
from prowess.errors import InvalidArgumentsError, SkillError
from prowess.evals.campaigns.options import EvalRunOptions
from prowess.evals.campaigns.running import run_evals
from prowess.evals.campaigns.summary import notes_of
from prowess.evals.ledger.caps import Caps
from prowess.evals.ledger.prices import Price
from prowess.evals.recordings.drift import DriftError, StaleRecordingError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.evals.campaigns.report import ConfigurationSummary, EvalRunReport
    from prowess.evals.campaigns.running import EvalRun

_MOST_REASONS = 5


def carried_out(
    *,
    path: str,
    model: str | None,
    host: str | None,
    baseline: str | None,
    runs: int | None,
    jobs: int,
    seed: int | None,
    max_cost_usd: float | None,
    max_calls: int | None,
    max_tokens: int | None,
    max_output_tokens: int | None,
    price: str | None,
    judge: str | None,
    until: str | None,
    detect: float | None,
    neighbours: tuple[str, ...],
    min_pass_rate: float | None,
    min_delta: float | None,
    out: str | None,
    resume: bool,
    replay: str | None,
    page: str | None,
    junit: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Run the evals, print the report, and return the exit code.

    Raises:
        click.UsageError: two options do not fit each other.
    """
    if detect is not None and until is None:
        raise click.UsageError("--detect is the smallest difference for --until decided; name both")
    try:
        options = EvalRunOptions(
            path=path,
            model=model,
            host=host,
            baseline=baseline,
            runs=runs,
            jobs=jobs,
            seed=seed,
            caps=Caps(usd=max_cost_usd, tokens=max_tokens, calls=max_calls),
            max_output_tokens=max_output_tokens,
            price=None if price is None else Price.parse(price),
            judge=None if judge == "none" else judge,
            until_decided=until is not None,
            detect=detect,
            neighbours=neighbours,
            min_pass_rate=min_pass_rate,
            min_delta=min_delta,
            out=out,
            resume=resume,
            replay=replay,
        )
        with LiveProgress(cap_usd=max_cost_usd, quiet=quiet or as_json) as progress:
            ended = run_evals(options, on_result=progress.show)
    except SkillError as fault:
        output.error(_printable(str(fault)))
        return _code_of(fault)
    report = ended.report
    if as_json:
        output.document(report.as_dict())
    else:
        for line in _lines(report):
            output.line(line)
        for name, text in ended.feedback.items():
            output.note(f"feedback on {printable_line(name)}: {printable_line(text)}")
    try:
        ReportFiles(page=page, junit=junit).write(report, folder=report.iteration, cap_usd=max_cost_usd)
    except SkillError as fault:
        output.error(_printable(str(fault)))
        return _code_of(fault)
    return _code(ended)


def _code(ended: EvalRun) -> int:
    report = ended.report
    if ended.signalled is not None:
        output.note(f"stopped by a signal; continue with --resume: {printable_line(report.iteration)}")
        return exit_codes.SIGNALLED + ended.signalled
    if not report.complete:
        return exit_codes.CAPPED
    return exit_codes.OK if all(gate.passed for gate in report.summary.gates) else exit_codes.FAILED


def _printable(text: str) -> str:
    return "\n".join(map(printable_line, text.splitlines()))


def _code_of(fault: SkillError) -> int:
    if isinstance(fault, DriftError | StaleRecordingError):
        return exit_codes.FAILED
    usage = isinstance(fault, InvalidArgumentsError) or fault.code == "invalid_arguments"
    return exit_codes.USAGE if usage else exit_codes.UNAVAILABLE


def _lines(report: EvalRunReport) -> Iterator[str]:
    summary = report.summary
    for name, found in summary.configurations.items():
        yield f"{name:14} {_rate(found)}"
    if summary.delta is not None:
        yield f"{'difference':14} {_delta(summary.delta.mean, summary.delta.low, summary.delta.high)}"
    if summary.decision is not None:
        yield f"{'decision':14} {summary.decision}"
    for note in notes_of(summary, {unit.id: unit for unit in report.units}):
        yield f"note: {printable_line(note)}"
    reasons = Counter(unit.reason for unit in report.units if unit.outcome == "error" and unit.reason is not None)
    for reason, count in reasons.most_common(_MOST_REASONS):
        yield f"error in {counted(count, 'run')}: {printable_line(reason)}"
    spent = report.spent
    cost = "of unknown price" if spent.usd is None else f"for {spent.usd:.4f} US dollars"
    doubt = f", and {spent.in_doubt_usd:.4f} in doubt" if spent.in_doubt_usd else ""
    yield f"{counted(spent.calls, 'call')} {cost}{doubt}"
    for gate in summary.gates:
        value = "not measured" if gate.value is None else f"{gate.value:.3f}"
        yield f"gate {gate.name} {gate.wanted:g}: {value}, {'passed' if gate.passed else 'failed'}"
    if report.stopped is not None:
        yield f"stopped: {report.stopped}; raise the cap and continue with --resume"
    yield f"results: {printable_line(report.iteration)}"


def _rate(found: ConfigurationSummary) -> str:
    graded = found.passed + found.failed
    if found.rate is None or found.low is None or found.high is None:
        rate = "no run counts"
    else:
        rate = (
            f"{found.passed} of {graded} passed ({found.rate:.0%}, 95 % interval {found.low:.0%} to {found.high:.0%})"
        )
    more = [(found.errors, "error"), (found.contaminated, "contaminated"), (found.not_run, "not run")]
    rest = [counted(number, word) if word == "error" else f"{number} {word}" for number, word in more if number]
    return ", ".join([rate, *rest])


def _delta(mean: float, low: float | None, high: float | None) -> str:
    interval = "" if low is None or high is None else f" (95 % interval {low:+.0%} to {high:+.0%})"
    return f"{mean:+.0%}{interval}"
