"""`prowess eval triggers`: is a skill chosen for the requests that it is for?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.errors import SkillError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.evals.campaigns.report import SpentReport, Unit
    from prowess.evals.triggers.report import SkillTriggers, TriggerReport
    from prowess.evals.triggers.rows import TriggerRow
    from prowess.evals.triggers.running import TriggerRun
    from prowess.evals.triggers.shadows import AnswerRow, Shadow

_DRIFT = frozenset({"DriftError", "StaleRecordingError"})


@click.command(name="triggers")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option("--set", "file", metavar="FILE", help="The trigger set, if evals/ has several or none.")
@click.option("--host", metavar="H", help="Who chooses: match, claude, codex, copilot or gemini; else our agent.")
@click.option("--model", metavar="M", help="Model that chooses, such as anthropic:claude-sonnet-4-5.")
@click.option("--with", "neighbours", metavar="SKILL", multiple=True, help="Install this skill too. Repeatable.")
@click.option("--together", is_flag=True, help="Install all skills at once, and show who answers whose requests.")
@click.option("--runs", type=click.IntRange(1, 1000), default=3, show_default=True, help="Runs of each request.")
@click.option("--all-runs", is_flag=True, help="Also make runs that can no longer change a result.")
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True, help="Requests at the same time.")
@click.option("--min-consistency", type=click.FloatRange(0.5, 1), metavar="S", help="Least share of equal outcomes.")
@click.option("--min-pass-rate", type=click.FloatRange(0, 1), metavar="R", help="Fail if fewer requests pass.")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, help="Seed of the split and the model; 0.")
@click.option("--max-cost-usd", type=float, metavar="X", help="Make no call that could pass this cost.")
@click.option("--max-calls", type=int, metavar="N", help="Make at most N calls of models.")
@click.option("--max-tokens", type=int, metavar="N", help="Make no call that could pass this number of tokens.")
@click.option("--max-output-tokens", type=click.IntRange(min=1), metavar="N", help="Bound on each answer of the model.")
@click.option("--price", metavar="IN/OUT", help="Price of the model in US dollars per million tokens.")
@click.option("--out", type=click.Path(file_okay=False), metavar="DIR", help="Where NAME-workspace is made.")
@click.option("--resume", is_flag=True, help="Continue the newest unfinished iteration, or start one.")
@click.option("--replay", metavar="RUN", help="Replay an iteration, without a model and without a network.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--quiet", is_flag=True, help="Print no line for each run.")
def triggers(
    *,
    paths: tuple[str, ...],
    file: str | None,
    host: str | None,
    model: str | None,
    neighbours: tuple[str, ...],
    together: bool,
    runs: int,
    all_runs: bool,
    jobs: int,
    min_consistency: float | None,
    min_pass_rate: float | None,
    seed: int,
    max_cost_usd: float | None,
    max_calls: int | None,
    max_tokens: int | None,
    max_output_tokens: int | None,
    price: str | None,
    out: str | None,
    resume: bool,
    replay: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Run the trigger set of the skill at PATH: requests, each with whether the skill should be chosen.

    With --host match no model is asked: words alone choose, which is free, and an estimate.

    Exits with 1 if a gate that was named fails, and with 5 if a cap ended the runs.

    Example: prowess eval triggers my-skill --host match
    """
    # Imported here: the other subcommands need no catalog, no agent and no ledger.
    from prowess.evals.ledger.calls import OWN_HOST
    from prowess.evals.ledger.caps import Caps
    from prowess.evals.ledger.prices import Price
    from prowess.evals.triggers.trigger_run import TriggerRunOptions, run_triggers

    try:
        options = TriggerRunOptions(
            paths=paths,
            file=file,
            host=host or OWN_HOST,
            model=model,
            neighbours=neighbours,
            together=together,
            runs=runs,
            jobs=jobs,
            seed=seed,
            consistency=min_consistency,
            all_runs=all_runs,
            caps=Caps(usd=max_cost_usd, tokens=max_tokens, calls=max_calls),
            max_output_tokens=max_output_tokens,
            price=None if price is None else Price.parse(price),
            out=out,
            resume=resume,
            replay=replay,
        )
        ended = run_triggers(options, on_run=None if quiet or as_json or options.is_estimate else _tell)
    except SkillError as fault:
        output.error(printable_line(str(fault)))
        return _code_of(fault)
    report = ended.report
    if as_json:
        output.document(report.as_dict())
    else:
        _print(report)
    if ended.signalled is not None:
        return exit_codes.SIGNALLED + ended.signalled
    if not report.complete:
        return exit_codes.CAPPED
    return exit_codes.OK if _gates_hold(report, min_pass_rate) else exit_codes.FAILED


def _code_of(fault: SkillError) -> int:
    if type(fault).__name__ in _DRIFT:
        return exit_codes.FAILED
    return exit_codes.USAGE if fault.code == "invalid_arguments" else exit_codes.UNAVAILABLE


def _tell(unit: Unit, run: TriggerRun) -> None:
    chosen = [printable_line(name) for name, verdict in run.verdicts.items() if verdict == "triggered"]
    verdict = run.verdicts[unit.configuration]
    answer = f": {', '.join(chosen)}" if chosen else ""
    output.note(f"{verdict:13} {printable_line(unit.id)}{answer}")


def _gates_hold(report: TriggerReport, min_pass_rate: float | None) -> bool:
    rows = [row for skill in report.skills for row in skill.results]
    if report.consistency is not None and any((row.consistency or 0.0) < report.consistency for row in rows):
        return False
    return min_pass_rate is None or sum(row.passed is True for row in rows) >= min_pass_rate * len(rows)


def _print(report: TriggerReport) -> None:
    if report.estimate:
        output.note("an estimate: words alone chose the skills, and no model was asked")
    for skill in report.skills:
        _print_skill(skill)
    if report.matrix:
        _print_matrix(report.matrix)
    for shadow in report.shadows:
        output.line(_shadow_text(shadow))
    if not report.estimate:
        output.line(_cost_text(report.spent))
    if report.stopped is not None:
        output.note(f"stopped: {report.stopped}; continue with --resume")
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


def _cost_text(spent: SpentReport) -> str:
    cost = "of unknown price" if spent.usd is None else f"for {spent.usd:.4f} US dollars"
    doubt = f", and {spent.in_doubt_usd:.4f} in doubt" if spent.in_doubt_usd else ""
    return f"{counted(spent.calls, 'call')} {cost}{doubt}"
