"""`benchmark.json`: means and standard deviations by configuration, as the guide and skill-creator have them.

The guide has `run_summary` with numbers as `delta`; skill-creator adds `metadata`, `runs` and `notes`. A standard
deviation is there from two runs on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prowess.evals.campaigns.report import WITH_SKILL
from prowess.evals.campaigns.summary import notes_of
from prowess.evals.statistics.intervals import spread_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prowess.evals.campaigns.planning import PlannedEval
    from prowess.evals.campaigns.report import EvalRunReport, UnitResult

_MEASURES = ("pass_rate", "time_seconds", "tokens")


def benchmark_of(
    report: EvalRunReport, evals: Sequence[PlannedEval], *, root: str, runs: int, judge: str | None, timestamp: str
) -> dict[str, Any]:
    """Return the data of `benchmark.json`. A unit that counts in no rate is in `runs` with a note."""
    names = list(report.summary.configurations)
    by_name = {name: _measured(report.units, name) for name in names}
    numbers = {plan.id: plan.number for plan in evals}
    found = {unit.id: unit for unit in report.units}
    return {
        "metadata": {
            "skill_name": report.skill,
            "skill_path": root,
            "executor_model": report.model or report.host,
            "analyzer_model": judge or "none",
            "timestamp": timestamp,
            "evals_run": [plan.number for plan in evals],
            "runs_per_configuration": runs,
        },
        "runs": [_run(unit, numbers[unit.eval]) for unit in report.units if unit.outcome != "not_run"],
        "run_summary": {**by_name, **_delta(by_name)},
        "notes": notes_of(report.summary, found),
    }


def _rate(unit: UnitResult) -> float:
    return sum(row.passed for row in unit.assertions) / len(unit.assertions)


def _measured(units: Sequence[UnitResult], configuration: str) -> dict[str, Any]:
    counted = [unit for unit in units if unit.configuration == configuration and unit.counted]
    values: dict[str, list[float]] = {
        "pass_rate": [_rate(unit) for unit in counted],
        "time_seconds": [unit.seconds for unit in counted],
        "tokens": [float(unit.tokens) for unit in counted],
    }
    return {name: _spread(values[name]) for name in _MEASURES} if counted else {}


def _spread(values: Sequence[float]) -> dict[str, float]:
    spread = spread_of(values)
    found = {"mean": round(spread.mean or 0.0, 4)}
    if spread.stddev is not None:
        found["stddev"] = round(spread.stddev, 4)
    return {**found, "min": round(min(values), 4), "max": round(max(values), 4)}


def _delta(by_name: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the differences of the means, with the skill minus baseline, if there are both."""
    ours = by_name.get(WITH_SKILL)
    theirs = next((found for name, found in by_name.items() if name != WITH_SKILL), None)
    if not ours or not theirs:
        return {}
    return {"delta": {name: round(ours[name]["mean"] - theirs[name]["mean"], 4) for name in _MEASURES}}


def _run(unit: UnitResult, number: int) -> dict[str, Any]:
    passed = sum(row.passed for row in unit.assertions)
    total = len(unit.assertions)
    notes = [text for text in (unit.reason, unit.contaminated) if text is not None]
    return {
        "eval_id": number,
        "eval_name": unit.eval,
        "configuration": unit.configuration,
        "run_number": unit.run,
        "result": {
            "pass_rate": round(passed / total, 4) if total else 0.0,
            "passed": passed,
            "failed": total - passed,
            "total": total,
            "time_seconds": unit.seconds,
            "tokens": unit.tokens,
            "errors": int(unit.outcome == "error"),
        },
        "expectations": [{"text": row.text, "passed": row.passed, "evidence": row.evidence} for row in unit.assertions],
        "notes": notes,
    }
