"""`prowess eval compare`: a judge chooses the better of two results, without knowing which version made which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import output
from prowess.cli.evals.campaign_options import cap_options, capped, jobs_option, out_option, seed_option
from prowess.cli.evals.run_ends import code_of_end, tell_fault
from prowess.cli.options import json_option
from prowess.errors import SkillError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.evals.comparing.compare_run import BlindComparison


@click.command(name="compare")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("--judge", required=True, metavar="M", help="Model that judges, such as anthropic:claude-sonnet-4-5.")
@seed_option("Seed of the order, and for the judge.")
@jobs_option("Pairs")
@cap_options
@out_option
@json_option
def compare(*, as_json: bool, **given: Any) -> int:  # noqa: ANN401 -- the options above, by name
    """Compare the results of two iterations A and B blindly, pair by pair.

    A and B are folders iteration-N of `prowess eval run`; ITERATION@CONFIGURATION names another configuration than
    with_skill. The judge is asked in both orders. The same comparison again pays for no call twice.

    Example: prowess eval compare iteration-1 iteration-2 --judge openai:gpt-4.1
    """
    # Imported here: the other subcommands need no agent and no ledger.
    from prowess.evals.comparing.compare_run import CompareOptions, compare_runs

    try:
        ended = compare_runs(CompareOptions(**capped(given)))
    except SkillError as fault:
        return tell_fault(fault)
    if as_json:
        output.document(ended.report.as_dict())
    else:
        for line in _lines(ended.report):
            output.line(line)
    return code_of_end(signalled=ended.signalled, complete=ended.report.complete)


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
        again = "the same command continues" if report.stopped in (None, "signal") else "raise the cap to continue"
        yield f"not judged: {counted(len(report.not_judged), 'pair')}; {again}"
    yield f"results: {printable_line(report.directory)}"
