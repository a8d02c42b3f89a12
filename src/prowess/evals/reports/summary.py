"""The report of a run of evals as Markdown, for the summary of a job on GitHub."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.evals.campaigns.report import WITH_SKILL
from prowess.evals.reports.answer import answer_of, configuration_words, money
from prowess.evals.reports.plot import forest_plot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.evals.campaigns.report import EvalRunReport

_SIGNS = re.compile(r"[\\`*_{}\[\]<>()#+!|~@&$:-]")
_MOST_TEXT = 200
_LISTED = 20


def summary_of_run(report: EvalRunReport) -> str:
    """Return the Markdown. Texts of evals and models are escaped, so they cannot add links, images or mentions."""
    return "\n".join([*_lines(report), ""])


def _lines(report: EvalRunReport) -> Iterator[str]:
    answer, plot = answer_of(report), forest_plot(report)
    yield f"## {_text(answer.headline)}"
    yield ""
    for note in answer.notes[:_LISTED]:
        yield f"- {_text(note)}"
    spent = report.spent
    yield f"- {_text(money(spent.usd))} spent, {counted(spent.calls, 'call')}"
    yield from (
        f"- gate {_text(gate.name)} {'passed' if gate.passed else '**failed**'}" for gate in report.summary.gates
    )
    yield ""
    names = plot.configurations
    if plot.rows:
        titles = [_text(configuration_words(name)) for name in names]
        yield f"| eval | {' | '.join(titles)} | {'difference' if plot.compares else 'rate'} |"
        yield f"|---|{'---:|' * (len(names) + 1)}"
        for row in plot.rows:
            line = "" if row.line is None else f"{row.line.shown} ({row.line.interval})"
            yield f"| {_text(row.name)} | {' | '.join(one.rate for one in row.dots)} | {_text(line)} |"
        yield ""
    failed = [unit for unit in report.units if unit.configuration == WITH_SKILL and unit.outcome in ("failed", "error")]
    for unit in failed[:_LISTED]:
        reasons = [f"{one.text}: {one.evidence}" for one in unit.assertions if not one.passed] or [unit.reason or ""]
        yield f"- {_text(unit.eval)}, run {unit.run}: {unit.outcome}: {_text(reasons[0])}"
    if len(failed) > _LISTED:
        yield f"- and {len(failed) - _LISTED} more"


def _text(text: str) -> str:
    """Return a text as one line of Markdown without markup."""
    cut = text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}…"
    return _SIGNS.sub(lambda found: f"&#{ord(found[0])};", printable_line(cut))
