"""Pairs that decide a comparison, and those that tell nothing."""

from __future__ import annotations

from typing import Any

import pytest

from prowess.evals.campaigns.campaign import Decider
from prowess.evals.campaigns.report import WITH_SKILL, WITHOUT_SKILL, Unit, UnitResult

PAIRS = 40


def decision(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """Return the decision after `PAIRS` equal pairs."""
    units = [
        Unit(eval="sums", configuration=name, run=run)
        for run in range(1, PAIRS + 1)
        for name in (WITH_SKILL, WITHOUT_SKILL)
    ]
    results = {
        unit.id: UnitResult(
            id=unit.id,
            eval=unit.eval,
            configuration=unit.configuration,
            run=unit.run,
            **(ours if unit.configuration == WITH_SKILL else theirs),
        )
        for unit in units
    }
    decider = Decider(units, detect=None)
    decider.look(results)
    return decider.decision


def test_pairs_with_results_decide() -> None:
    assert decision({"outcome": "passed"}, {"outcome": "failed"}) == "better"
    assert decision({"outcome": "failed"}, {"outcome": "passed"}) == "worse"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({"outcome": "passed"}, {"outcome": "error"}),
        ({"outcome": "error"}, {"outcome": "passed"}),
        ({"outcome": "passed"}, {"outcome": "failed", "contaminated": "it read SKILL.md"}),
        ({"outcome": "failed"}, {"outcome": "passed", "contaminated": "it read SKILL.md"}),
    ],
)
def test_a_pair_with_an_error_or_a_contaminated_baseline_decides_nothing(
    ours: dict[str, Any], theirs: dict[str, Any]
) -> None:
    assert decision(ours, theirs) == "open"
