"""`prowess eval triggers`: is a skill chosen for the requests that it is for?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import output
from prowess.cli.evals.campaign_options import (
    SHARE,
    cap_options,
    capped,
    iteration_options,
    jobs_option,
    neighbours_option,
    quiet_option,
    seed_option,
)
from prowess.cli.evals.run_ends import code_of_end, error_texts, gate_text, spent_text, tell_fault, unfinished_text
from prowess.cli.options import json_option
from prowess.cli.options.scheduler_options import scheduler_at, scheduler_option
from prowess.errors import SkillError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.evals.triggers.report import SkillTriggers, TriggerReport
    from prowess.evals.triggers.rows import TriggerRow
    from prowess.evals.triggers.shadows import AnswerRow, Shadow


@click.command(name="triggers")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option("--set", "file", metavar="FILE", help="The trigger set, if evals/ has several or none.")
@click.option("--host", metavar="H", help="Who chooses: match, claude, codex, copilot or gemini; else our agent.")
@click.option("--model", metavar="M", help="Model that chooses, such as anthropic:claude-sonnet-4-5.")
@neighbours_option
@click.option("--together", is_flag=True, help="Install all skills at once, and show who answers whose requests.")
@click.option("--runs", type=click.IntRange(1, 1000), help="Runs of each request; defaults to 3.")
@click.option("--all-runs", is_flag=True, help="Also make runs that can no longer change a result.")
@jobs_option("Requests", anywhere=True)
@click.option(
    "--min-consistency",
    "consistency",
    type=click.FloatRange(0.5, 1),
    metavar="S",
    help="Least share of equal outcomes.",
)
@click.option("--min-pass-rate", type=SHARE, metavar="R", help="Fail if fewer requests pass.")
@seed_option("Seed of the split and the model.", default=None)
@cap_options
@iteration_options
@scheduler_option("Run")
@json_option
@quiet_option
def triggers(
    *,
    on: str | None,
    as_json: bool,
    quiet: bool,
    **given: Any,  # noqa: ANN401 -- the other options above, by name
) -> int:
    """Run the trigger set of the skill at PATH: requests, each with whether the skill should be chosen.

    With --together PATH can also be a folder of skills. Those without a trigger set are installed as well.

    With --host match no model is asked: words alone choose, which is free, and an estimate.

    Exits with 1 if a gate that was named fails, and with 5 if a cap ended the runs.

    Example: prowess eval triggers my-skill --host match
    """
    # Imported here: the other subcommands need no catalog, no agent and no ledger.
    from prowess.cli.evals.live_progress import LiveProgress
    from prowess.evals.remote.engine import require_workers_are_needed
    from prowess.evals.triggers.trigger_run import run_triggers, triggers_as_recorded

    try:
        options = triggers_as_recorded(**capped(given))
        if on is not None:  # before the scheduler is waited for
            require_workers_are_needed(replay=options.replay, is_estimate=options.is_estimate)
        with scheduler_at(on) as engine:
            is_quiet = quiet or as_json or options.is_estimate
            with LiveProgress(cap_usd=options.caps.usd, quiet=is_quiet, is_most=True) as progress:
                ended = run_triggers(options, engine=engine, on_begin=progress.begin, on_run=progress.show_trigger)
    except SkillError as fault:
        return tell_fault(fault, as_json=as_json)
    report = ended.report
    if as_json:
        output.document(report.as_dict())
    else:
        _print(report, is_replay=options.replay is not None)
    passed = all(gate.passed for gate in report.gates)
    return code_of_end(signalled=ended.signalled, complete=report.complete, passed=passed)


def _print(report: TriggerReport, *, is_replay: bool) -> None:
    if report.estimate:
        output.note("an estimate: words alone chose the skills, and no model was asked")
    for skill in report.skills:
        _print_skill(skill)
    if report.matrix:
        _print_matrix(report.matrix)
    for shadow in report.shadows:
        output.line(_shadow_text(shadow))
    for text in error_texts(reason for skill in report.skills for row in skill.results for reason in row.reasons):
        output.line(text)
    if not report.estimate:
        output.line(spent_text(report.spent))
    for gate in report.gates:
        output.line(gate_text(gate))
    if not report.complete:
        left = sum(row.not_run for skill in report.skills for row in skill.results)
        output.note(unfinished_text(report.stopped, left, is_replay=is_replay))
    if report.iteration is not None:
        output.line(f"results: {printable_line(report.iteration)}")


def _print_skill(skill: SkillTriggers) -> None:
    summary, name = skill.summary, printable_line(skill.skill)
    output.line(f"{name}: {summary.passed} of {counted(summary.total, 'request')} as wanted")
    for row in skill.results:
        if row.passed is not True:
            output.line(f"  {_row_text(row)}")
    for side, rate in (("training", summary.train), ("validation", summary.validation)):
        if rate.rate is not None:
            output.line(f"  {side}: {rate.passed} of {rate.runs}, {rate.rate:.3f} ({rate.low:.3f} to {rate.high:.3f})")
    for sentence in skill.advice:
        output.note(f"  {sentence}")


def _row_text(row: TriggerRow) -> str:
    wanted = "should trigger" if row.should_trigger else "should not trigger"
    apart = [(row.errors, "error"), (row.polluted, "polluted run"), (row.not_offered, "run without the skill")]
    rest = "".join(f", {counted(count, name)}" for count, name in apart if count)
    state = "undecided" if row.passed is None else "failed"
    return f"{state}: {wanted}, did in {row.triggers} of {counted(row.runs, 'run')}{rest}: {printable_line(row.query)}"


def _print_matrix(matrix: Sequence[AnswerRow]) -> None:
    output.line("who answers the requests for each skill (runs):")
    for row in matrix:
        answers = ", ".join(f"{printable_line(name)} {count}" for name, count in row.answers.items() if count)
        nobody = f", nobody {row.nobody}" if row.nobody else ""
        output.line(f"  {printable_line(row.skill)} ({row.runs}): {answers or 'no skill'}{nobody}")


def _shadow_text(shadow: Shadow) -> str:
    words = f"; words: {', '.join(map(printable_line, shadow.words))}" if shadow.words else ""
    both = " (each shadows the other)" if shadow.mutual else ""
    skill, other = printable_line(shadow.skill), printable_line(shadow.shadowed_by)
    return f"{other} answers {shadow.lost} of {counted(shadow.requests, 'request')} for {skill}{both}{words}"
