"""`prowess eval compare`: a judge chooses the better of two results, without knowing which version made which."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.errors import SkillError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.evals.comparing.compare_run import BlindComparison


@click.command(name="compare")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("--judge", required=True, metavar="M", help="Model that judges, such as anthropic:claude-sonnet-4-5.")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, help="Seed of the order, and for the judge; 0.")
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True, help="Pairs at the same time.")
@click.option("--max-cost-usd", type=float, metavar="X", help="Make no call that could pass this cost.")
@click.option("--max-calls", type=int, metavar="N", help="Make at most N calls of the judge.")
@click.option("--max-tokens", type=int, metavar="N", help="Make no call that could pass this number of tokens.")
@click.option("--max-output-tokens", type=click.IntRange(min=1), metavar="N", help="Bound on each answer of the judge.")
@click.option("--price", metavar="IN/OUT", help="Price of the judge in US dollars per million tokens.")
@click.option("--out", type=click.Path(file_okay=False), metavar="DIR", help="Where the folder of results is made.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def compare(
    *,
    a: str,
    b: str,
    judge: str,
    seed: int,
    jobs: int,
    max_cost_usd: float | None,
    max_calls: int | None,
    max_tokens: int | None,
    max_output_tokens: int | None,
    price: str | None,
    out: str | None,
    as_json: bool,
) -> int:
    """Compare the results of two iterations A and B blindly, pair by pair.

    A and B are folders iteration-N of `prowess eval run`; ITERATION@CONFIGURATION names another configuration than
    with_skill. The judge is asked in both orders. The same comparison again pays nothing twice.

    Example: prowess eval compare iteration-1 iteration-2 --judge openai:gpt-4.1
    """
    # Imported here: the other subcommands need no agent and no ledger.
    from prowess.evals.comparing.compare_run import CompareOptions, compare_runs
    from prowess.evals.ledger.caps import Caps
    from prowess.evals.ledger.prices import Price

    try:
        options = CompareOptions(
            a=a,
            b=b,
            judge=judge,
            seed=seed,
            jobs=jobs,
            caps=Caps(usd=max_cost_usd, tokens=max_tokens, calls=max_calls),
            price=None if price is None else Price.parse(price),
            max_output_tokens=max_output_tokens,
            out=out,
        )
        ended = compare_runs(options)
    except SkillError as fault:
        output.error(printable_line(str(fault)))
        return exit_codes.USAGE if fault.code == "invalid_arguments" else exit_codes.UNAVAILABLE
    if as_json:
        output.document(ended.report.as_dict())
    else:
        for line in _lines(ended.report):
            output.line(line)
    if ended.signalled is not None:
        return exit_codes.SIGNALLED + ended.signalled
    return exit_codes.OK if ended.report.complete else exit_codes.CAPPED


def _lines(report: BlindComparison) -> Iterator[str]:
    for pair in report.pairs:
        name = f"{printable_line(pair.eval)} run {pair.run}"
        if pair.better is None:
            yield f"{name}: error: {printable_line(pair.error or '')}"
        else:
            biased = " (the judge chose by place)" if pair.biased else ""
            reason = f": {printable_line(pair.votes[0].reason)}" if pair.better != "equal" else ""
            yield f"{name}: {pair.better}{biased}{reason}"
    summary = report.summary
    errors = f", {counted(summary.errors, 'error')}" if summary.errors else ""
    yield f"a {summary.a}, b {summary.b}, equal {summary.equal}, of which by place {summary.biased}{errors}"
    sign = summary.sign
    yield f"evals: b better in {sign.better}, worse in {sign.worse}, p = {sign.p:.4f} (sign test)"
    if report.not_judged:
        yield f"not judged: {counted(len(report.not_judged), 'pair')}; the same command goes on from here"
    yield f"results: {printable_line(report.directory)}"
