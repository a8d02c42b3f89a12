"""`prowess eval improve`: a better description or body, chosen by cases that its writer has not seen."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import exit_codes, output
from prowess.cli.evals.campaign_options import (
    cap_options,
    capped,
    iteration_options,
    jobs_option,
    judge_option,
    neighbours_option,
    quiet_option,
    seed_option,
)
from prowess.cli.evals.run_ends import code_of_end, spent_text, tell_fault, unfinished_text
from prowess.cli.options import json_option
from prowess.errors import SkillError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.evals.optimising.leaks import Leak
    from prowess.evals.optimising.report import ImproveReport, ImproveRound
    from prowess.evals.optimising.search_run import ImproveEnded, ImproveOptions
    from prowess.evals.statistics.intervals import Rate


@click.command(name="improve")
@click.argument("path", metavar="PATH")
@click.option("--body", is_flag=True, help="Revise the body by the evals, not the description by the trigger set.")
@click.option("--model", metavar="M", help="Model that chooses or does the tasks, and that writes.")
@click.option("--proposer", metavar="M", help="Model that writes, if it is another one.")
@click.option("--proposer-price", metavar="IN/OUT", help="Price of the model of --proposer.")
@click.option("--set", "file", metavar="FILE", help="The trigger set, if evals/ has several or none.")
@click.option("--host", metavar="H", help="Who chooses: match, claude, codex, copilot or gemini; else our agent.")
@neighbours_option
@click.option("--engine", type=click.Choice(["rounds", "gepa"]), help="Search; defaults to rounds.")
@click.option("--rounds", type=click.IntRange(1, 100), help="Texts to try; defaults to 5.")
@click.option("--runs", type=click.IntRange(1, 1000), help="Runs of each case; defaults to 3.")
@jobs_option("Requests or runs")
@seed_option("Seed of the split and the models.", default=None)
@judge_option
@cap_options
@iteration_options
@click.option("--write", is_flag=True, help="Write the chosen text to SKILL.md.")
@json_option
@quiet_option
def improve(
    *,
    body: bool,
    proposer_price: str | None,
    as_json: bool,
    quiet: bool,
    **given: Any,  # noqa: ANN401 -- the other options above, by name
) -> int:
    """Search for a better description of the skill at PATH, or with --body for a better body; print it as a diff.

    A description is revised by the training requests of the trigger set that fail, and chosen by the validation
    requests. A body is revised and chosen so by the evals of eval run. SKILL.md is changed only with --write.

    Exits with 1 if cases fail and no better text was found, and with 5 if a cap ended the search.

    Example: prowess eval improve my-skill --model anthropic:claude-sonnet-4-5 --max-cost-usd 2
    """
    # Imported here: the other subcommands need no catalog, no agent and no ledger.
    from prowess.cli.evals.live_progress import LiveProgress
    from prowess.evals.ledger.prices import Price
    from prowess.evals.optimising.improve_description import improve_description
    from prowess.evals.optimising.search_run import improve_as_recorded

    if body and given["file"] is not None:
        raise click.UsageError("--set names a trigger set, and --body is measured by evals; leave one of them out")
    if not body and given["judge"] is not None:
        raise click.UsageError("--judge grades evals; add --body, or leave it out")
    if given["model"] is None and given["replay"] is None:
        raise click.UsageError("name the model with --model, such as anthropic:claude-sonnet-4-5")
    try:
        price = None if proposer_price is None else Price.parse(proposer_price)
        options = improve_as_recorded(proposer_price=price, **capped(given))
        is_quiet = quiet or as_json or options.is_estimate
        with LiveProgress(cap_usd=options.caps.usd, quiet=is_quiet) as progress:
            began = partial(progress.begin, None)
            if body:
                ended = _improve_body(options, on_begin=began, on_result=progress.show)
            else:
                ended = improve_description(options, on_begin=began, on_run=progress.show_trigger)
    except SkillError as fault:
        return tell_fault(fault, as_json=as_json)
    report = ended.report
    if as_json:
        output.document(report.as_dict())
    else:
        for line in _lines(report, is_replay=options.replay is not None):
            output.line(line)
    passed = report.chosen is not None or report.nothing_failed
    if not ended.is_measured and report.stopped is None:
        output.error("all runs of training are errors, so nothing was searched; mend that and continue with --resume")
        return exit_codes.FAILED
    return code_of_end(signalled=ended.signalled, complete=report.complete, passed=passed)


def _improve_body(options: ImproveOptions, **told: Any) -> ImproveEnded:  # noqa: ANN401 -- callbacks by name
    from prowess.evals.optimising.improve_body import improve_body  # needs the sandbox, which a description does not

    return improve_body(options, **told)


def _lines(report: ImproveReport, *, is_replay: bool) -> Iterator[str]:
    if report.estimate:
        yield "an estimate: words alone chose the skill"
    if report.start is not None:
        yield f"start: training {_rate(report.start.train)}, validation {_rate(report.start.validation)}"
    for one in report.rounds:
        yield from _round_lines(one)
    for leak in report.leaked:
        yield _leak_text(leak)
    yield from map(printable_line, report.notes)
    yield from _result_lines(report)
    yield spent_text(report.spent)
    if not report.complete and is_replay:
        why = "" if report.stopped is None else f" ({report.stopped} stopped it)"
        yield f"not complete: the recorded search{why} ended here; complete it with --resume, then replay it again"
    elif report.stopped is not None:
        yield unfinished_text(report.stopped, None, is_replay=False)
    yield f"results: {printable_line(report.iteration)}"


def _round_lines(one: ImproveRound) -> Iterator[str]:
    rates = [("training", one.train), ("validation", one.validation), ("confirmed", one.confirmed)]
    shown = "".join(f", {name} {_rate(rate)}" for name, rate in rates if rate is not None)
    yield f"round {one.round}: {one.outcome.replace('_', ' ')}{shown}"
    if one.text is None:
        yield from (f"  {printable_line(reason)}" for reason in one.refused)


def _leak_text(leak: Leak) -> str:
    kinds = {"request": "a training request", "expected_output": "an expected output of training"}
    text = printable_line(leak.text)
    if leak.is_refused:
        return f"refused in round {leak.round}: it copies {kinds[leak.source]}: {text}"
    return f"leaked in round {leak.round}: it has words of an assertion of training: {text}"


def _result_lines(report: ImproveReport) -> Iterator[str]:
    if report.chosen is None:
        case = "request" if report.part == "description" else "eval"
        yield f"every {case} of training passes" if report.nothing_failed else f"no better {report.part} was found"
        return
    delta = report.delta
    if delta is not None and delta.mean is not None and delta.low is not None and delta.high is not None:
        interval = f"{delta.low:+.3f} to {delta.high:+.3f}"
        yield f"chosen: round {report.chosen.round}; validation {delta.mean:+.3f} ({interval})"
    for lost in report.lost:
        yield f"lost: passed before, fails now ({lost.split}): {printable_line(lost.case)}"
    yield from map(printable_line, report.diff.splitlines())
    yield "written to SKILL.md" if report.written else "not written; --write writes it to SKILL.md"


def _rate(rate: Rate) -> str:
    return f"{rate.passed} of {rate.runs} ({rate.low or 0:.3f} to {rate.high or 1:.3f})"
