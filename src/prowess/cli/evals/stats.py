"""`prowess eval stats`: compares the outcomes of two configurations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from msgspec import to_builtins

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.evals.statistics.comparison import compare_outcomes
from prowess.evals.statistics.intervals import ENOUGH_VALUES
from prowess.evals.statistics.outcome_files import OutcomeFileError, OutcomeRows, read_outcomes
from prowess.evals.statistics.sequential import decide

if TYPE_CHECKING:
    from prowess.evals.statistics.comparison import Comparison
    from prowess.evals.statistics.intervals import Rate
    from prowess.evals.statistics.outcome_files import OutcomeSequences


@click.command(name="stats")
@click.argument("file", metavar="FILE")
@json_option
def stats(*, file: str, as_json: bool) -> int:
    """Compare the outcomes of two configurations in FILE, JSON; - is standard input.

    With a list `rows` of evals it prints rates, their difference, exact tests and the worth of repeated attempts.
    With a list `sequences` of pairs it tells for each when a comparison could have stopped.

    Example: prowess eval stats outcomes.json
    """
    try:
        read = read_outcomes(file)
    except OutcomeFileError as fault:
        output.error(printable_line(str(fault)))
        return exit_codes.USAGE
    if isinstance(read, OutcomeRows):
        compared = compare_outcomes(read.rows, seed=read.seed)
        if as_json:
            output.document(to_builtins(compared))
        else:
            _print_comparison(compared)
    else:
        _print_decisions(read, as_json=as_json)
    return exit_codes.OK


def _print_decisions(read: OutcomeSequences, *, as_json: bool) -> None:
    decisions = [decide(pairs, alpha=read.alpha, detect=read.detect) for pairs in read.sequences]
    if as_json:
        output.document({"decisions": to_builtins(decisions)})
        return
    for number, decision in enumerate(decisions, 1):
        output.line(f"{number}: {decision.decision} after {counted(decision.at, 'pair')}")


def _print_comparison(compared: Comparison) -> None:
    output.line(f"a: {_rate_text(compared.a)}")
    output.line(f"b: {_rate_text(compared.b)}")
    delta = compared.delta
    if delta.mean is None:
        output.line("difference: unknown, because no eval has graded runs on both sides")
        return
    few = ", too narrow with so few" if compared.units < ENOUGH_VALUES else ""
    between = "" if delta.low is None or delta.high is None else f" ({delta.low:+.3f} to {delta.high:+.3f}{few})"
    output.line(f"difference: {delta.mean:+.3f}{between} over {counted(compared.units, 'eval')}")
    majority, sign = compared.mcnemar, compared.sign
    output.line(f"majorities: {majority.better} better, {majority.worse} worse, p = {majority.p:.4f} (McNemar)")
    output.line(f"rates: {sign.better} better, {sign.worse} worse, {sign.equal} equal, p = {sign.p:.4f} (sign test)")
    shares = [f"pass@{k} {share:.3f}" for k, share in compared.pass_at.items()]
    output.line(f"repeated, b: {', '.join(shares[:_SHOWN])}, all runs {compared.pass_all:.3f}")
    if compared.flaky:
        names = ", ".join(printable_line(str(name)) for name in compared.flaky[:_SHOWN])
        rest = len(compared.flaky) - _SHOWN
        output.line(f"flaky in b: {names}{f' and {rest} more' if rest > 0 else ''}")


_SHOWN = 10


def _rate_text(rate: Rate) -> str:
    errors = f", {counted(rate.errors, 'error')} apart" if rate.errors else ""
    if rate.rate is None:
        return f"no graded run{errors}"
    runs = f"{rate.passed} of {counted(rate.runs, 'run')} passed"
    return f"{rate.rate:.3f} ({rate.low:.3f} to {rate.high:.3f}), {runs}{errors}"
