"""Two configurations compared: what counts, what is left out, and what few values cannot tell."""

from __future__ import annotations

import random
from math import comb
from statistics import fmean

import pytest

from prowess.evals.statistics.attempts import pass_at, pass_hat
from prowess.evals.statistics.comparison import OutcomeRow, compare_outcomes
from prowess.evals.statistics.intervals import NORMAL_FROM, bootstrap_mean, rate_of, spread_of


def row(name: str, a: list[int | None], b: list[int | None]) -> OutcomeRow:
    return OutcomeRow(id=name, a=tuple(a), b=tuple(b))


ROWS = [
    row("steady", [0, 0, 0], [1, 1, 1]),
    row("flaky", [0, 1, 0], [1, 0, 1]),
    row("worse", [1, 1, None], [0, 0, 1]),
    row("crashed", [None, None, None], [1, 1, 0]),
    row("same", [1, 0], [0, 1]),
]


def test_errors_are_apart_and_a_unit_needs_both_sides() -> None:
    result = compare_outcomes(ROWS)
    assert (result.a.runs, result.a.passed, result.a.errors) == (10, 4, 4)
    assert (result.b.runs, result.b.passed, result.b.errors) == (14, 9, 0)
    assert result.units == 4
    assert result.delta.mean == pytest.approx((1 + 1 / 3 - 2 / 3 + 0) / 4)


def test_majorities_and_rates_are_tested_apart() -> None:
    result = compare_outcomes(ROWS)
    # A rate of one half is a majority, on both sides.
    assert (result.mcnemar.better, result.mcnemar.worse) == (2, 1)
    assert (result.sign.better, result.sign.worse, result.sign.equal) == (2, 1, 1)
    assert result.mcnemar.p == result.sign.p == 1.0
    half = compare_outcomes([row("half", [0, 0], [1, 0]), row("less", [1, 1, 1], [1, 0, 0])])
    assert (half.mcnemar.better, half.mcnemar.worse) == (1, 1)


def test_repeated_attempts_are_those_of_the_second_side() -> None:
    result = compare_outcomes(ROWS)
    assert result.pass_at["1"] == pytest.approx((1 + 2 / 3 + 1 / 3 + 2 / 3 + 1 / 2) / 5)
    assert result.pass_at["2"] == pytest.approx((1 + 1 + 2 / 3 + 1 + 1) / 5)
    assert result.pass_at["3"] == 1.0  # over the four evals with three runs
    assert result.pass_all == 1 / 5
    assert result.flaky == ("flaky", "worse", "crashed", "same")


def test_the_order_of_evals_changes_nothing_and_the_seed_little() -> None:
    first = compare_outcomes(ROWS, seed=3)
    assert compare_outcomes(ROWS[::-1], seed=3).delta == first.delta == compare_outcomes(ROWS, seed=3).delta
    draw = random.Random(7)
    values = [draw.random() for _ in range(30)]
    assert bootstrap_mean(values[::-1]) == bootstrap_mean(values)
    other = compare_outcomes(ROWS, seed=4).delta
    assert other.mean == first.delta.mean
    assert other.low == pytest.approx(first.delta.low, abs=0.1)


@pytest.mark.proves("evals.benchmark.stddev")
def test_one_value_has_no_deviation_and_no_interval() -> None:
    assert (spread_of([]).mean, spread_of([0.5]).mean, spread_of([0.5]).stddev) == (None, 0.5, None)
    assert spread_of([0.25, 0.75]).stddev == pytest.approx(0.5 / 2**0.5)
    assert bootstrap_mean([0.5]).low is bootstrap_mean([0.5]).high is bootstrap_mean([]).mean is None
    one = compare_outcomes([row("only", [0], [1])])
    assert (one.units, one.delta.mean, one.delta.low) == (1, 1.0, None)


def test_nothing_graded_is_no_rate_of_zero() -> None:
    result = compare_outcomes([row("a", [None], [None]), row("b", [], [])])
    assert (result.a.rate, result.a.low, result.b.errors, result.units) == (None, None, 1, 0)
    assert (result.delta.mean, result.pass_at, result.pass_all) == (None, {}, None)
    assert result.mcnemar.p == result.sign.p == 1.0
    assert rate_of(0, 5).low == 0.0
    assert rate_of(5, 5).high == 1.0


def test_the_interval_of_many_values_continues_that_of_resampling() -> None:
    draw = random.Random(5)
    values = [float(draw.choice((-1, 0, 0, 1))) for _ in range(NORMAL_FROM)]
    resampled, normal = bootstrap_mean(values[1:]), bootstrap_mean(values)
    assert resampled.low == pytest.approx(normal.low, abs=0.004)
    assert resampled.high == pytest.approx(normal.high, abs=0.004)


def test_the_bootstrap_covers_the_mean_about_as_often_as_it_states() -> None:
    """The coverage of 30 values of 0 and 1 is computed, not simulated. Percentiles of few values cover a little less.

    The means of 30 such values are 31 steps, so the coverage jumps by up to 0.04 from one rate to the next.
    """
    runs = 30
    intervals = [bootstrap_mean([1.0] * passed + [0.0] * (runs - passed)) for passed in range(runs + 1)]
    coverages = []
    for rate in (place / 20 for place in range(5, 16)):
        held = [passed for passed, one in enumerate(intervals) if (one.low or 0.0) <= rate <= (one.high or 0.0)]
        coverages.append(sum(comb(runs, passed) * rate**passed * (1 - rate) ** (runs - passed) for passed in held))
    assert all(0.91 <= coverage <= 0.97 for coverage in coverages), coverages
    assert fmean(coverages) == pytest.approx(0.945, abs=0.005)


@pytest.mark.parametrize(("runs", "passed", "k"), [(3, 1, 4), (3, 1, 0)])
def test_more_attempts_than_runs_are_refused(runs: int, passed: int, k: int) -> None:
    with pytest.raises(ValueError, match=f"k is {k}"):
        pass_at(runs, passed, k)
    with pytest.raises(ValueError, match=f"k is {k}"):
        pass_hat(runs, passed, k)
