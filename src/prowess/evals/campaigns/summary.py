"""The summary of the results of all units. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import counted
from prowess.evals.campaigns.report import (
    OLD_SKILL,
    WITH_SKILL,
    ConfigurationSummary,
    EvalRunSummary,
    GateResult,
    RateDelta,
    WeakAssertion,
)
from prowess.evals.statistics.comparison import OutcomeRow, compare_outcomes
from prowess.evals.statistics.intervals import rate_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from prowess.evals.campaigns.report import UngradedAssertion, UnitResult
    from prowess.evals.statistics.comparison import RunGrade

_SHOWN = 80


def summary_of(
    units: Sequence[UnitResult],
    *,
    seed: int,
    decision: str | None = None,
    faults: Sequence[str] = (),
    ungraded: Sequence[UngradedAssertion] = (),
    min_pass_rate: float | None = None,
    min_delta: float | None = None,
) -> EvalRunSummary:
    """Return the summary. A unit that is contaminated is in no rate, difference or weak assertion."""
    names = list(dict.fromkeys(unit.configuration for unit in units))
    configurations = {name: _configuration([unit for unit in units if unit.configuration == name]) for name in names}
    baseline = next((name for name in names if name != WITH_SKILL), None)
    rows = _rows(units, baseline)
    compared = compare_outcomes(rows, seed=seed)
    delta = None
    if baseline is not None and compared.delta.mean is not None:
        delta = RateDelta(mean=compared.delta.mean, low=compared.delta.low, high=compared.delta.high)
    measured = configurations[WITH_SKILL].rate if WITH_SKILL in configurations else None
    gates: list[GateResult] = []
    if min_pass_rate is not None:
        gates.append(GateResult.of("min_pass_rate", min_pass_rate, measured))
    if min_delta is not None:
        gates.append(GateResult.of("min_delta", min_delta, None if delta is None else delta.mean))
    return EvalRunSummary(
        configurations=configurations,
        delta=delta,
        decision=decision,
        weak=() if baseline is None else tuple(_weak(units, baseline)),
        contaminated=tuple(unit.id for unit in units if unit.contaminated is not None),
        flaky=tuple(map(str, compared.flaky)),
        gates=tuple(gates),
        faults=tuple(faults),
        ungraded=tuple(ungraded),
    )


def _configuration(units: Sequence[UnitResult]) -> ConfigurationSummary:
    counted = [unit for unit in units if unit.counted]
    passed = sum(unit.outcome == "passed" for unit in counted)
    rate = rate_of(passed, len(counted))
    shares = [sum(row.passed for row in unit.assertions) / len(unit.assertions) for unit in counted if unit.assertions]
    return ConfigurationSummary(
        runs=len(units),
        passed=passed,
        failed=len(counted) - passed,
        errors=sum(unit.outcome == "error" for unit in units),
        not_run=sum(unit.outcome == "not_run" for unit in units),
        contaminated=sum(unit.contaminated is not None for unit in units),
        rate=rate.rate,
        low=rate.low,
        high=rate.high,
        assertions_passed=sum(shares) / len(shares) if shares else None,
    )


def _rows(units: Sequence[UnitResult], baseline: str | None) -> list[OutcomeRow]:
    evals = list(dict.fromkeys(unit.eval for unit in units))
    return [
        OutcomeRow(id=name, a=_outcomes(units, name, baseline), b=_outcomes(units, name, WITH_SKILL)) for name in evals
    ]


def _outcomes(units: Sequence[UnitResult], name: str, configuration: str | None) -> tuple[RunGrade, ...]:
    chosen = [unit for unit in units if (unit.eval, unit.configuration) == (name, configuration)]
    return tuple(
        int(unit.outcome == "passed") if unit.counted else None for unit in chosen if unit.outcome != "not_run"
    )


def _weak(units: Sequence[UnitResult], baseline: str) -> Iterator[WeakAssertion]:
    grades: dict[tuple[str, str], dict[str, list[bool]]] = {}
    for unit in units:
        if unit.counted:
            for row in unit.assertions:
                grades.setdefault((unit.eval, row.text), {}).setdefault(unit.configuration, []).append(row.passed)
    for (name, text), sides in grades.items():
        if not {WITH_SKILL, baseline} <= sides.keys():
            continue
        every = sides[WITH_SKILL] + sides[baseline]
        if all(every):
            yield WeakAssertion(eval=name, text=text, kind="uninformative")
        elif not any(every):
            yield WeakAssertion(eval=name, text=text, kind="suspect")


def notes_of(summary: EvalRunSummary, units: Mapping[str, UnitResult]) -> list[str]:
    """Return the summary's findings as sentences."""
    sides = sides_text(summary)
    nothing = "the difference" if OLD_SKILL in summary.configurations else "it"
    said = {
        "uninformative": f"passes {sides}, so it tells nothing about {nothing}",
        "suspect": f"fails {sides}, so it may be wrong or impossible",
    }
    notes = [f"eval {weak.eval}: {weak.text!r} {said[weak.kind]}" for weak in summary.weak]
    notes += [
        f"{name} is left out of all rates: the baseline saw the skill ({units[name].contaminated})"
        for name in summary.contaminated
    ]
    notes += [f"eval {name} passes in some runs and fails in others" for name in summary.flaky]
    return [*notes, *summary.faults, *ungraded_texts(summary.ungraded)]


def sides_text(summary: EvalRunSummary) -> str:
    """Return the words for both sides of a comparison."""
    is_old = OLD_SKILL in summary.configurations
    return "with the new and the old skill" if is_old else "with and without the skill"


def ungraded_texts(ungraded: Sequence[UngradedAssertion]) -> list[str]:
    """Return one sentence for each reason: how many assertions no outcome counts."""
    texts = []
    for reason in dict.fromkeys(one.reason for one in ungraded):
        found = [one for one in ungraded if one.reason == reason]
        evals = list(dict.fromkeys(one.eval for one in found))
        where = f"eval {evals[0]}" if len(evals) == 1 else counted(len(evals), "eval")
        what = counted(len(found), "assertion")
        first = f" ({found[0].text[:_SHOWN]!r}{', and others' if len(found) > 1 else ''})"
        texts.append(f"not graded, and counted in no outcome: {what} of {where}{first}; {reason}")
    return texts
