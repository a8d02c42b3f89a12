"""The statistics of evals, compared with values of scipy and statsmodels (tools/peers/statistics_reference.py)."""

from __future__ import annotations

import json
from math import exp, isclose
from pathlib import Path
from typing import Any

from prowess.evals.statistics.attempts import pass_at, pass_hat
from prowess.evals.statistics.intervals import quantile, spread_of, wilson
from prowess.evals.statistics.paired_tests import mcnemar, sign_test
from prowess.evals.statistics.sequential import SequentialTest

ROWS: list[tuple[str, list[Any], float]] = json.loads(Path(__file__).with_name("reference.json").read_text())["rows"]


def ours(name: str, values: list[Any]) -> float:
    match name:
        case "wilson_low" | "wilson_high":
            return wilson(*values)[name == "wilson_high"]
        case "mcnemar":
            return mcnemar(*values).p
        case "sign":
            return sign_test(values[0], values[1], 7).p
        case "pass_at":
            return pass_at(*values)
        case "pass_hat":
            return pass_hat(*values)
        case "stddev":
            spread = spread_of(values)
            assert spread.stddev is not None
            return spread.stddev
        case "quantile":
            return quantile(sorted(values[1:]), values[0])
    test = SequentialTest()
    test.better, test.worse = values
    return test.log_wealth()


def test_every_value_equals_that_of_scipy_and_statsmodels() -> None:
    assert len(ROWS) >= 200
    other = [(name, values, theirs, ours(name, values)) for name, values, theirs in ROWS]
    assert [row for row in other if not isclose(row[2], row[3], rel_tol=1e-6, abs_tol=1e-12)] == []


def test_tiny_probabilities_are_right_relative_to_their_size() -> None:
    assert isclose(mcnemar(0, 100).p, 2 * 0.5**100, rel_tol=1e-9)
    assert isclose(mcnemar(1, 200).p, 2 * 202 * 0.5**201, rel_tol=1e-9)
    assert isclose(exp(SequentialTest().log_wealth()), 1.0)
