"""`prowess eval improve`: a better description, chosen by requests that its writer has not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.errors import SkillError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.evals.optimising.improve_run import EngineName
    from prowess.evals.optimising.report import ImproveReport, ImproveRound
    from prowess.evals.statistics.intervals import Rate

_DRIFT = frozenset({"DriftError", "StaleRecordingError"})


@click.command(name="improve")
@click.argument("path", metavar="PATH")
@click.option("--model", metavar="M", required=True, help="Model that chooses, and that writes descriptions.")
@click.option("--proposer", metavar="M", help="Model that writes descriptions, if it is another one.")
@click.option("--set", "file", metavar="FILE", help="The trigger set, if evals/ has several or none.")
@click.option("--host", metavar="H", help="Who chooses: match, claude, codex, copilot or gemini; else our agent.")
@click.option("--with", "neighbours", metavar="SKILL", multiple=True, help="Install this skill too. Repeatable.")
@click.option("--engine", type=click.Choice(["rounds", "gepa"]), default="rounds", show_default=True, help="Search.")
@click.option("--rounds", type=click.IntRange(1, 100), default=5, show_default=True, help="Descriptions to try.")
@click.option("--runs", type=click.IntRange(1, 1000), default=3, show_default=True, help="Runs of each request.")
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True, help="Requests at the same time.")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, help="Seed of the split and the models; 0.")
@click.option("--max-cost-usd", type=float, metavar="X", help="Make no call that could pass this cost.")
@click.option("--max-calls", type=int, metavar="N", help="Make at most N calls of models.")
@click.option("--max-tokens", type=int, metavar="N", help="Make no call that could pass this number of tokens.")
@click.option("--max-output-tokens", type=click.IntRange(min=1), metavar="N", help="Bound on each answer of a model.")
@click.option("--price", metavar="IN/OUT", help="Price of the model in US dollars per million tokens.")
@click.option("--proposer-price", metavar="IN/OUT", help="Price of the model of --proposer.")
@click.option("--out", type=click.Path(file_okay=False), metavar="DIR", help="Where NAME-workspace is made.")
@click.option("--resume", is_flag=True, help="Continue the newest unfinished search, or start one.")
@click.option("--replay", metavar="RUN", help="Replay a search, without a model and without a network.")
@click.option("--write", is_flag=True, help="Write the chosen description to SKILL.md.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def improve(
    *,
    path: str,
    model: str,
    proposer: str | None,
    file: str | None,
    host: str | None,
    neighbours: tuple[str, ...],
    engine: str,
    rounds: int,
    runs: int,
    jobs: int,
    seed: int,
    max_cost_usd: float | None,
    max_calls: int | None,
    max_tokens: int | None,
    max_output_tokens: int | None,
    price: str | None,
    proposer_price: str | None,
    out: str | None,
    resume: bool,
    replay: str | None,
    write: bool,
    as_json: bool,
) -> int:
    """Search for a better description of the skill at PATH, and print the change as a diff.

    It is revised by the training requests of the trigger set that fail, and chosen by the validation requests.
    SKILL.md is changed only with --write.

    Exits with 1 if requests fail and no better description was found, and with 5 if a cap ended the search.

    Example: prowess eval improve my-skill --model anthropic:claude-sonnet-4-5 --max-cost-usd 2
    """
    # Imported here: the other subcommands need no catalog, no agent and no ledger.
    from prowess.evals.ledger.calls import OWN_HOST
    from prowess.evals.ledger.caps import Caps
    from prowess.evals.ledger.prices import Price
    from prowess.evals.optimising.improve_run import ImproveOptions, improve_description

    try:
        options = ImproveOptions(
            path=path,
            model=model,
            proposer=proposer,
            file=file,
            host=host or OWN_HOST,
            neighbours=neighbours,
            engine=cast("EngineName", engine),
            rounds=rounds,
            runs=runs,
            jobs=jobs,
            seed=seed,
            caps=Caps(usd=max_cost_usd, tokens=max_tokens, calls=max_calls),
            max_output_tokens=max_output_tokens,
            price=None if price is None else Price.parse(price),
            proposer_price=None if proposer_price is None else Price.parse(proposer_price),
            out=out,
            resume=resume,
            replay=replay,
            write=write,
        )
        ended = improve_description(options)
    except SkillError as fault:
        output.error(printable_line(str(fault)))
        return _code_of(fault)
    report = ended.report
    if as_json:
        output.document(report.as_dict())
    else:
        for line in _lines(report):
            output.line(line)
    if ended.signalled is not None:
        return exit_codes.SIGNALLED + ended.signalled
    if not report.complete:
        return exit_codes.CAPPED
    return exit_codes.OK if report.chosen is not None or report.nothing_failed else exit_codes.FAILED


def _code_of(fault: SkillError) -> int:
    if type(fault).__name__ in _DRIFT:
        return exit_codes.FAILED
    return exit_codes.USAGE if fault.code == "invalid_arguments" else exit_codes.UNAVAILABLE


def _lines(report: ImproveReport) -> Iterator[str]:
    if report.estimate:
        yield "an estimate: words alone chose the skill"
    if report.start is not None:
        yield f"start: training {_rate(report.start.train)}, validation {_rate(report.start.validation)}"
    for one in report.rounds:
        yield from _round_lines(one)
    for leak in report.leaked:
        yield f"refused in round {leak.round}: it copies a training request: {printable_line(leak.text)}"
    yield from _result_lines(report)
    spent = report.spent
    cost = "of unknown price" if spent.usd is None else f"for {spent.usd:.4f} US dollars"
    yield f"{counted(spent.calls, 'call')} {cost}"
    if report.stopped is not None:
        yield f"stopped: {report.stopped}; continue with --resume"
    yield f"results: {printable_line(report.iteration)}"


def _round_lines(one: ImproveRound) -> Iterator[str]:
    rates = [("training", one.train), ("validation", one.validation), ("confirmed", one.confirmed)]
    shown = "".join(f", {name} {_rate(rate)}" for name, rate in rates if rate is not None)
    yield f"round {one.round}: {one.outcome.replace('_', ' ')}{shown}"
    if one.description is None:
        yield from (f"  {printable_line(reason)}" for reason in one.refused)


def _result_lines(report: ImproveReport) -> Iterator[str]:
    if report.chosen is None:
        yield "no request of training fails" if report.nothing_failed else "no better description was found"
        return
    delta = report.delta
    if delta is not None and delta.mean is not None and delta.low is not None and delta.high is not None:
        interval = f"{delta.low:+.3f} to {delta.high:+.3f}"
        yield f"chosen: round {report.chosen.round}; validation {delta.mean:+.3f} ({interval})"
    for lost in report.lost:
        yield f"lost: passed before, fails now ({lost.split}): {printable_line(lost.query)}"
    yield from map(printable_line, report.diff.splitlines())
    yield "written to SKILL.md" if report.written else "not written; --write writes it to SKILL.md"


def _rate(rate: Rate) -> str:
    return f"{rate.passed} of {rate.runs} ({rate.low or 0:.3f} to {rate.high or 1:.3f})"
