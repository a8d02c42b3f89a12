"""The report of a run of evals as JUnit XML: one test case for each run with the skill, and one for each gate.

Runs of the baseline are no test cases: without the skill they may fail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.evals.campaigns.report import WITH_SKILL
from prowess.report.ci import xml_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.evals.campaigns.report import EvalRunReport, GateResult, UnitResult

_MOST_TEXT = 2_000


def junit_of_run(report: EvalRunReport) -> str:
    """Return the document."""
    units = [unit for unit in report.units if unit.configuration == WITH_SKILL]
    gates = report.summary.gates
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites name="prowess eval run">']
    lines += [*_suite(report.skill, units), *(_gates(report.skill, gates) if gates else ()), "</testsuites>"]
    return "\n".join([*lines, ""])


def _suite(skill: str, units: Sequence[UnitResult]) -> Iterator[str]:
    counts = {outcome: sum(unit.outcome == outcome for unit in units) for outcome in ("failed", "error", "not_run")}
    head = f'tests="{len(units)}" failures="{counts["failed"]}" errors="{counts["error"]}"'
    seconds = sum(unit.seconds for unit in units)
    yield f'  <testsuite name="{_cut(skill)}" {head} skipped="{counts["not_run"]}" time="{seconds:.3f}">'
    for unit in units:
        place = f'classname="{_cut(skill)}.{_cut(unit.eval)}" name="run {unit.run}" time="{unit.seconds:.3f}"'
        inner = list(_inner(unit))
        yield f"    <testcase {place}{'>' if inner else '/>'}"
        if inner:
            yield from inner
            yield "    </testcase>"
    yield "  </testsuite>"


def _inner(unit: UnitResult) -> Iterator[str]:
    reason = _cut(unit.reason or "no reason is known")
    match unit.outcome:
        case "failed":
            failed = [one for one in unit.assertions if not one.passed]
            message = failed[0].text if failed else unit.reason or "it failed"
            yield f'      <failure type="assertion" message="{_cut(message)}">'
            yield from (f"{_cut(one.text)}: {_cut(one.evidence)}" for one in failed)
            yield "      </failure>"
        case "error":
            yield f'      <error type="error" message="{reason}"/>'
        case "not_run":
            yield f'      <skipped message="{reason}"/>'
        case "passed":
            pass


def _gates(skill: str, gates: Sequence[GateResult]) -> Iterator[str]:
    failures = sum(not gate.passed for gate in gates)
    yield f'  <testsuite name="gates" tests="{len(gates)}" failures="{failures}" errors="0" skipped="0">'
    for gate in gates:
        head = f'    <testcase classname="{_cut(skill)}" name="{_cut(gate.name)}"'
        if gate.passed:
            yield f"{head}/>"
            continue
        value = "nothing was measured" if gate.value is None else f"{gate.value:.3g}"
        yield f'{head}><failure type="gate" message="{value}, wanted {gate.wanted:.3g}"/></testcase>'
    yield "  </testsuite>"


def _cut(text: str) -> str:
    return xml_text(text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}…")
