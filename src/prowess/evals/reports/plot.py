"""The forest plot: for each eval every run as a dot, and the difference of the rates with its interval.

Coordinates are those of the page's inline SVG. Dots of one kind are one path of points, so 500 runs take little room.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.evals.campaigns.report import WITH_SKILL
from prowess.evals.reports.answer import MINUS, compared_evals, percent, signed
from prowess.evals.statistics.intervals import ENOUGH_VALUES, rate_difference, rate_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prowess.evals.campaigns.report import EvalRunReport, UnitResult
    from prowess.evals.statistics.intervals import Rate

_STEP = 11  # pixels from dot to dot
_HALF = 6
_IN_A_LINE = 12
MOST_EVALS = 100


class RunDots(Struct, frozen=True, kw_only=True):
    """The runs of one eval in one configuration. The paths have a point for each run; `told` is the same in words."""

    configuration: str
    width: int
    height: int
    passed: str
    failed: str
    errors: str
    others: str
    told: str
    rate: str


class IntervalLine(Struct, frozen=True, kw_only=True):
    """An estimate with its interval, in percentage points. `tone` is that of `RunAnswer`; the texts are for people."""

    value: float
    low: float
    high: float
    shown: str
    interval: str
    tone: str


class PlotRow(Struct, frozen=True, kw_only=True):
    """One eval. `line` is None if nothing can be estimated."""

    name: str
    dots: tuple[RunDots, ...]
    line: IntervalLine | None
    flaky: bool = False


class ForestPlot(Struct, frozen=True, kw_only=True):
    """All rows. Without a baseline the lines are rates from 0 to 100, else differences from -100 to 100."""

    configurations: tuple[str, ...]
    compares: bool
    rows: tuple[PlotRow, ...]
    total: IntervalLine | None
    left_out: int


def forest_plot(report: EvalRunReport) -> ForestPlot:
    """Return the plot of a run; of more than `MOST_EVALS` evals the first ones."""
    configurations = _ordered({unit.configuration: None for unit in report.units})
    evals: dict[str, list[UnitResult]] = {}
    for unit in report.units:
        evals.setdefault(unit.eval, []).append(unit)
    compares = len(configurations) > 1
    flaky = set(report.summary.flaky)
    rows = [_row(name, units, configurations, flaky=name in flaky) for name, units in list(evals.items())[:MOST_EVALS]]
    return ForestPlot(
        configurations=configurations,
        compares=compares,
        rows=tuple(rows),
        total=_total(report, compares=compares),
        left_out=max(0, len(evals) - MOST_EVALS),
    )


def _ordered(names: Iterable[str]) -> tuple[str, ...]:
    """Return the baseline first, and the skill last."""
    return tuple(sorted(names, key=lambda name: (name == WITH_SKILL, name)))


def _row(name: str, units: Sequence[UnitResult], configurations: Sequence[str], *, flaky: bool) -> PlotRow:
    groups = [[unit for unit in units if unit.configuration == one] for one in configurations]
    rates = [_rate(group) for group in groups]
    dots = tuple(_dots(one, group, rate) for one, group, rate in zip(configurations, groups, rates, strict=True))
    line = _difference(rates[0], rates[-1]) if len(rates) > 1 else _of_rate(rates[0]) if rates else None
    return PlotRow(name=name, dots=dots, line=line, flaky=flaky)


def _rate(units: Iterable[UnitResult]) -> Rate:
    counted = [unit.outcome == "passed" for unit in units if unit.counted]
    return rate_of(sum(counted), len(counted))


def _dots(configuration: str, units: Sequence[UnitResult], rate: Rate) -> RunDots:
    paths = {"passed": "", "failed": "", "errors": "", "others": ""}
    numbers = dict.fromkeys(paths, 0)
    for place, unit in enumerate(sorted(units, key=lambda one: one.run)):
        kind = "errors" if unit.outcome == "error" else unit.outcome if unit.counted else "others"
        line, column = divmod(place, _IN_A_LINE)
        paths[kind] += f"M{column * _STEP + _HALF} {line * _STEP + _HALF}h0"
        numbers[kind] += 1
    words = {"passed": "passed", "failed": "failed", "errors": "ended with an error", "others": "not counted"}
    told = ", ".join(f"{number} {words[kind]}" for kind, number in numbers.items() if number) or "no run"
    return RunDots(
        configuration=configuration,
        width=max(1, min(len(units), _IN_A_LINE)) * _STEP + 1,
        height=max(1, -(-len(units) // _IN_A_LINE)) * _STEP + 1,
        told=told,
        rate=f"{rate.passed}/{rate.runs}" if rate.runs else "0/0",
        **paths,
    )


def _difference(a: Rate, b: Rate) -> IntervalLine | None:
    found = rate_difference(a, b)
    if found.mean is None or found.low is None or found.high is None:
        return None
    return _line(found.mean, found.low, found.high, signed(found.mean), zero=0)


def _of_rate(rate: Rate) -> IntervalLine | None:
    if rate.rate is None or rate.low is None or rate.high is None:
        return None
    return _line(rate.rate, rate.low, rate.high, percent(rate.rate), zero=None)


def _total(report: EvalRunReport, *, compares: bool) -> IntervalLine | None:
    delta = report.summary.delta
    if compares:
        if delta is None or delta.low is None or delta.high is None:
            return None
        zero = 0 if compared_evals(report) >= ENOUGH_VALUES else None  # with fewer, no line tells a difference
        return _line(delta.mean, delta.low, delta.high, signed(delta.mean), zero=zero)
    one = next(iter(report.summary.configurations.values()), None)
    if one is None or one.rate is None or one.low is None or one.high is None:
        return None
    return _line(one.rate, one.low, one.high, percent(one.rate), zero=None)


def _line(value: float, low: float, high: float, shown: str, *, zero: float | None) -> IntervalLine:
    tone = "unsure" if zero is None or low <= zero <= high else "good" if low > zero else "bad"
    return IntervalLine(
        value=round(value * 100, 1),
        low=round(low * 100, 1),
        high=round(high * 100, 1),
        shown=shown,
        interval=f"{low * 100:.0f} to {high * 100:.0f}".replace("-", MINUS),
        tone=tone,
    )
