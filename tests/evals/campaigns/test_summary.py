from __future__ import annotations

from typing import Any

import pytest

from prowess.evals.campaigns.benchmark import benchmark_of
from prowess.evals.campaigns.planning import PlannedEval
from prowess.evals.campaigns.report import EvalRunReport, GradedAssertion, UnitOutcome, UnitResult
from prowess.evals.campaigns.summary import notes_of, summary_of
from prowess.evals.ledger.caps import Spent
from prowess.evals.reports.page import report_page


def unit(
    name: str,
    side: str,
    run: int,
    grades: str = "",
    *,
    outcome: UnitOutcome | None = None,
    **more: Any,  # noqa: ANN401 -- any field
) -> UnitResult:
    rows = tuple(
        GradedAssertion(text=f"a{place}", type="contains", passed=grade == "1", evidence="e")
        for place, grade in enumerate(grades)
    )
    return UnitResult(
        id=f"{name}/{side}/run-{run}",
        eval=name,
        configuration=side,
        run=run,
        outcome=outcome or ("failed" if "0" in grades else "passed"),
        assertions=rows,
        **more,
    )


def reported(*units: UnitResult) -> EvalRunReport:
    return EvalRunReport(
        complete=True,
        stopped=None,
        skill="sums",
        model="m",
        host="prowess",
        seed=0,
        spent=Spent(),
        units=units,
        summary=summary_of(units, seed=0),
        iteration="x",
    )


def benchmark(*units: UnitResult) -> dict[str, Any]:
    names = dict.fromkeys(unit.eval for unit in units)
    evals = [
        PlannedEval(id=name, number=n, directory="d", prompt="p", expected_output=None, files=(), assertions=())
        for n, name in enumerate(names, 1)
    ]
    return benchmark_of(reported(*units), evals, root="/s", runs=1, judge=None, timestamp="2026-01-01T00:00:00Z")


@pytest.mark.proves("evals.benchmark.weak-assertions")
def test_assertions_that_tell_nothing_about_the_skill_are_named() -> None:
    units = [
        *(unit("1", "with_skill", run, "110") for run in (1, 2)),
        *(unit("1", "without_skill", run, "100") for run in (1, 2)),
        unit("2", "with_skill", 1, "1"),
        unit("2", "without_skill", 1, outcome="error"),
    ]
    weak = summary_of(units, seed=0).weak

    assert [(one.eval, one.text, one.kind) for one in weak] == [("1", "a0", "uninformative"), ("1", "a2", "suspect")]


@pytest.mark.parametrize(
    ("side", "words"),
    [("without_skill", "with and without the skill"), ("old_skill", "with the new and the old skill")],
)
def test_the_notes_name_the_sides_that_were_compared(side: str, words: str) -> None:
    units = [unit("1", "with_skill", 1, "10"), unit("1", side, 1, "10")]
    passes, fails = notes_of(summary_of(units, seed=0), {one.id: one for one in units})
    assert passes.startswith(f"eval 1: 'a0' passes {words}, so it tells nothing about ")
    assert fails == f"eval 1: 'a1' fails {words}, so it may be wrong or impossible"
    page = report_page(reported(*units))
    assert f"(passes {words})" in page
    assert f"(fails {words})" in page


def test_a_contaminated_baseline_and_an_error_leave_the_rates() -> None:
    units = [
        unit("1", "with_skill", 1, "1"),
        unit("1", "with_skill", 2, outcome="error"),
        unit("1", "without_skill", 1, "1", contaminated="record 3 activates the skill"),
        unit("1", "without_skill", 2, "0"),
    ]
    found = summary_of(units, seed=0, min_pass_rate=1.0, min_delta=1.0)
    ours, theirs = found.configurations["with_skill"], found.configurations["without_skill"]

    assert (ours.passed, ours.failed, ours.errors, ours.rate) == (1, 0, 1, 1.0)
    assert (theirs.passed, theirs.failed, theirs.contaminated, theirs.rate) == (0, 1, 1, 0.0)
    assert found.contaminated == ("1/without_skill/run-1",)
    assert found.delta is not None
    assert found.delta.mean == 1.0
    assert [gate.passed for gate in found.gates] == [True, True]


def test_a_gate_fails_if_nothing_could_be_measured() -> None:
    found = summary_of([unit("1", "with_skill", 1, outcome="error")], seed=0, min_pass_rate=0.0, min_delta=0.0)
    assert [(gate.value, gate.passed) for gate in found.gates] == [(None, False), (None, False)]


@pytest.mark.proves("evals.benchmark.shape", "evals.benchmark.stddev")
def test_the_benchmark_has_means_and_a_deviation_only_from_two_runs_on() -> None:
    several = benchmark(
        unit("1", "with_skill", 1, "11", seconds=2.0, tokens=100),
        unit("1", "with_skill", 2, "10", seconds=4.0, tokens=300),
        unit("1", "without_skill", 1, "00", seconds=1.0, tokens=50),
    )["run_summary"]

    assert several["with_skill"]["pass_rate"] == {"mean": 0.75, "stddev": 0.3536, "min": 0.5, "max": 1.0}
    assert several["with_skill"]["time_seconds"]["mean"] == 3.0
    assert several["with_skill"]["tokens"]["stddev"] == 141.4214
    assert "stddev" not in several["without_skill"]["pass_rate"]
    assert several["delta"] == {"pass_rate": 0.75, "time_seconds": 2.0, "tokens": 150.0}


def test_the_runs_of_the_benchmark_are_what_the_viewer_of_skill_creator_reads() -> None:
    data = benchmark(unit("sums", "with_skill", 1, "10"), unit("sums", "without_skill", 1, outcome="error"))

    assert data["metadata"]["evals_run"] == [1]
    assert data["runs"][0]["configuration"] == "with_skill"
    assert data["runs"][0]["result"]["pass_rate"] == 0.5
    assert data["runs"][0]["expectations"][0] == {"text": "a0", "passed": True, "evidence": "e"}
    assert data["runs"][1]["result"]["errors"] == 1
    assert data["run_summary"]["without_skill"] == {}
