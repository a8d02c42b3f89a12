"""The report of a run of evals as one HTML page.

The page has no script, loads nothing, and its content security policy forbids both. Every text in it is foreign data:
it is escaped for HTML, its control and bidirectional characters are shown as escapes, and it is cut to a length.
"""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from msgspec import Struct

import prowess
from prowess._internal.text.terminal_text import counted, printable
from prowess.errors import MissingExtraError
from prowess.evals.campaigns.summary import sides_text
from prowess.evals.reports.answer import answer_of, configuration_words, money, percent, signed
from prowess.evals.reports.excerpts import TextShare
from prowess.evals.reports.improve_view import improvement_headline, improvement_limits, told
from prowess.evals.reports.plot import forest_plot
from prowess.evals.reports.run_view import run_views

try:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup
except ImportError as fault:
    raise MissingExtraError("reports of evals as a page", "evals", str(fault)) from fault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.evals.campaigns.report import EvalRunReport
    from prowess.evals.ledger.caps import Spent
    from prowess.evals.optimising.report import ImproveReport
    from prowess.evals.reports.ablation_view import AblationView
    from prowess.evals.reports.trigger_view import TriggerMatrix
    from prowess.evals.transcripts.transcript import RunTranscript

PAGE_BYTES = 290_000  # of a page, so that it stays below 300 kB
_MOST_BARE = 240_000  # without texts of runs
_MOST_RUNS = (500, 250, 100, 30, 0)  # the first number with which a page is not too large
_MOST_NAME = 100  # bytes in the page
_MOST_LINE = 400
_LISTED = 40
_MOST_DIFF = 400  # lines


class PageExtras(Struct, frozen=True, kw_only=True):
    """Further parts of a page, beside the report of a run.

    `cap_usd` is the cap on cost. `transcripts` are those of units, by id. `runs_at` is the folder with everything.
    """

    cap_usd: float | None = None
    ablation: AblationView | None = None
    triggers: TriggerMatrix | None = None
    transcripts: Mapping[str, RunTranscript] = {}


def report_page(report: EvalRunReport, extras: PageExtras | None = None) -> str:
    """Return the page. It has at most 300 kB: texts are cut, and beyond some hundred runs the rest is only counted."""
    extras = PageExtras() if extras is None else extras
    for most in _MOST_RUNS:
        size = len(_render(report, extras, most, budget=0).encode())
        if size <= _MOST_BARE:
            break
    return _render(report, extras, most, budget=PAGE_BYTES - size)


def _render(report: EvalRunReport, extras: PageExtras, most: int, *, budget: int) -> str:
    style, policy = _style()
    views = run_views(report, extras.transcripts, most, budget)
    return (
        _templates()
        .get_template("report.html")
        .render(
            report=report,
            extras=extras,
            answer=answer_of(report),
            sides=sides_text(report.summary),
            plot=forest_plot(report),
            spending=_spending(report.spent, extras.cap_usd),
            evals=views.evals,
            runs_left_out=views.left_out,
            errors=[unit for unit in report.units if unit.outcome == "error"],
            unrun=sum(unit.outcome == "not_run" for unit in report.units),
            listed=_LISTED,
            style=style,
            policy=policy,
            version=prowess.__version__,
        )
    )


class SpendingBar(Struct, frozen=True, kw_only=True):
    """Cost against the cap, in dollars and as widths in percent. `usd` is None if a price is not known."""

    usd: float | None
    in_doubt: float
    cap: float | None
    spent_width: float
    doubt_width: float


def improvement_page(found: ImproveReport, *, cap_usd: float | None = None) -> str:
    """Return the page of a search of `prowess eval improve`, of at most 300 kB."""
    style, policy = _style()
    return (
        _templates()
        .get_template("improvement.html")
        .render(
            found=found,
            headline=improvement_headline(found),
            limits=improvement_limits(found),
            lost=[f"{one.case} ({one.split})" for one in found.lost],
            leaked=[f"round {one.round}, {one.source.replace('_', ' ')}: {one.text}" for one in found.leaked],
            removed=[f"round {one.round}: {text}" for one in found.rounds for text in one.removed],
            refused=[f"round {one.round}: {text}" for one in found.rounds for text in one.refused],
            spent=found.spent,
            spending=_spending(found.spent, cap_usd),
            told=told,
            shown=lambda share: round(100 * min(1.0, max(0.0, share)), 1),
            listed=_LISTED,
            most_lines=_MOST_DIFF,
            style=style,
            policy=policy,
            version=prowess.__version__,
        )
    )


def _spending(spent: Spent, cap: float | None) -> SpendingBar:
    known = spent.usd or 0.0
    whole = max(cap or 0.0, known + spent.in_doubt_usd) or 1.0
    return SpendingBar(
        usd=spent.usd,
        in_doubt=spent.in_doubt_usd,
        cap=cap,
        spent_width=round(100 * known / whole, 2),
        doubt_width=round(100 * spent.in_doubt_usd / whole, 2),
    )


@lru_cache(maxsize=1)
def _style() -> tuple[Markup, str]:
    """Return the style sheet, and the policy that permits this style sheet and nothing else."""
    text = files("prowess.evals.reports").joinpath("templates", "report.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return Markup(text), policy  # noqa: S704 -- our own style sheet, which a browser reads as text up to `</style`


@lru_cache(maxsize=1)
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("prowess.evals.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        counted=counted, money=money, percent=percent, signed=signed, words=configuration_words, name=_name, line=_line
    )
    return environment


def _shown(value: object) -> object:
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(value)
    return "" if value is None else value


def _name(value: object, most: int = _MOST_NAME) -> str:
    return TextShare(most).cut(str(value), most) or "…"


def _line(value: object, most: int = _MOST_LINE) -> str:
    return TextShare(most).cut(str(value), most) or "…"
