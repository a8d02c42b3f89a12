"""When to stop: curtailed queries never change a verdict, and a sequential comparison keeps its error rates."""

from __future__ import annotations

import itertools
import os
import random
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from prowess.evals.statistics import sequential
from prowess.evals.statistics.curtailment import settled_consistency, settled_rate
from prowess.evals.statistics.sequential import SequentialTest, StoppingDecision, decide

STATED = 2000  # comparisons of which the page has figures
COMPARISONS = int(os.environ.get("PROWESS_COMPARISONS", STATED))
PAIRS = 200


@pytest.mark.parametrize("runs", [3, 5, 6])
@pytest.mark.parametrize("threshold", [0.5, 0.9, 1.0])
def test_a_curtailed_verdict_is_that_of_all_runs(runs: int, threshold: float) -> None:
    used = 0
    for outcomes in itertools.product((1, 0, None), repeat=runs):
        graded = [outcome for outcome in outcomes if outcome is not None]
        whole = bool(graded) and sum(graded) / len(graded) >= threshold
        steady = bool(graded) and max(sum(graded), len(graded) - sum(graded)) / len(graded) >= threshold
        for count in range(runs + 1):
            seen = [outcome for outcome in outcomes[:count] if outcome is not None]
            passed, failed, left = sum(seen), len(seen) - sum(seen), runs - count
            assert settled_rate(passed, failed, left, threshold) in (None, whole)
            assert settled_consistency(passed, failed, left, threshold) in (None, steady)
        assert not graded or settled_rate(sum(graded), len(graded) - sum(graded), 0, threshold) is whole
        assert not graded or settled_consistency(sum(graded), len(graded) - sum(graded), 0, threshold) is steady
        used += 1
    assert used == 3**runs


def saved(runs: int, rate: float) -> float:
    """Return the expected share of runs that curtailing saves at this rate of passing runs, exactly."""
    expected = 0.0
    for outcomes in itertools.product((1, 0), repeat=runs):
        share = rate ** sum(outcomes) * (1 - rate) ** (runs - sum(outcomes))
        for count in range(1, runs + 1):
            passed = sum(outcomes[:count])
            if settled_rate(passed, count - passed, runs - count) is not None:
                expected += share * count
                break
    return 1 - expected / runs


def test_curtailing_saves_a_sixth_of_three_runs_at_the_worst_rate_and_more_of_others() -> None:
    rates = [place / 20 for place in range(21)]
    assert round(min(saved(3, rate) for rate in rates), 2) == 0.17  # 1/6 at a rate of one half
    assert min(saved(5, rate) for rate in rates) >= 0.17
    assert min(saved(10, rate) for rate in rates) >= 0.159  # at a rate of 0.45; no stop before certainty saves more
    assert saved(3, 1.0) == pytest.approx(1 / 3)
    assert saved(10, 0.0) >= 0.39


def pairs(draw: random.Random, base: float, effect: float) -> list[int]:
    return [(draw.random() < base + effect) - (draw.random() < base) for _ in range(PAIRS)]


@cache
def simulated(base: float, effect: float) -> tuple[Counter[str], float]:
    """Return the shares of decisions, and the share of the pairs that was used."""
    draw = random.Random(f"{base} {effect}")
    found = [decide(pairs(draw, base, effect), detect=0.15) for _ in range(COMPARISONS)]
    shares = Counter({kind: count / COMPARISONS for kind, count in Counter[str](one.decision for one in found).items()})
    return shares, sum(one.at for one in found) / (COMPARISONS * PAIRS)


@pytest.mark.parametrize("base", [0.1, 0.5])
def test_without_an_effect_few_comparisons_decide_and_most_stop_early(base: float) -> None:
    shares, used = simulated(base, 0.0)
    assert shares["better"] + shares["worse"] <= 0.055
    assert used <= 0.45


@pytest.mark.parametrize("base", [0.1, 0.35, 0.6])
def test_an_effect_of_three_tenths_is_found_with_few_pairs(base: float) -> None:
    shares, used = simulated(base, 0.3)
    assert shares["better"] >= 0.95
    assert shares["worse"] == 0
    assert used <= 0.40


@pytest.mark.parametrize("base", [0.4, 0.65, 0.9])
def test_a_loss_is_never_called_a_gain(base: float) -> None:
    shares, used = simulated(base, -0.3)
    assert shares["better"] == 0
    assert shares["worse"] >= 0.95
    assert used <= 0.40


@pytest.mark.skipif(COMPARISONS != STATED, reason="the page states the figures of 2000 comparisons")
def test_the_page_states_the_figures_of_these_simulations() -> None:
    rows = {}
    for effect, bases in ((0.0, (0.1, 0.5)), (0.3, (0.1, 0.35, 0.6)), (-0.3, (0.4, 0.65, 0.9))):
        found = [simulated(base, effect) for base in bases]
        used = " / ".join(f"{used:.0%}".removesuffix("%") for _, used in found)
        wrong = " / ".join(f"{100 * (shares['better'] + shares['worse']):.1f}" for shares, _ in found)
        right = "better" if effect > 0 else "worse"
        share = " / ".join(f"{shares[right]:.0%}".removesuffix("%") for shares, _ in found)
        rows[effect] = (wrong, share, used)
    page = (Path(__file__).parents[3] / "docs" / "author" / "intervals.md").read_text("utf-8")
    assert f"| none, rate 0.1 / 0.5 | {rows[0.0][0]} % | | {rows[0.0][2]} % |" in page
    _, share, used = rows[0.3]
    assert f"| +0.30, from 0.1 / 0.35 / 0.6 | never as a loss | {share} % | {used} % |" in page
    _, share, used = rows[-0.3]
    assert f"| -0.30, from 0.4 / 0.65 / 0.9 | never as a gain | {share} % | {used} % |" in page


def test_other_bounds_on_a_loss_use_more_pairs_or_miss_losses(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = simulated.__wrapped__
    chosen = plain(0.5, 0.0)[1]
    monkeypatch.setattr(sequential, "_LOSS", sequential._GAIN)  # a loss must be excluded as surely as a gain
    assert plain(0.5, 0.0)[1] >= chosen + 0.09
    monkeypatch.setattr(sequential, "_LOSS", float("-inf"))  # a loss need not be excluded at all
    assert all(plain(base, -0.3)[0]["futile"] >= 0.75 for base in (0.4, 0.65, 0.9))


def test_without_a_smallest_difference_nothing_is_futile() -> None:
    assert decide([0] * 500) == StoppingDecision(decision="open", at=500)
    assert decide([0] * 500, detect=0.15).decision == "futile"
    assert decide([], detect=0.15) == StoppingDecision(decision="open", at=0)
    assert decide([1] * 50) == StoppingDecision(decision="better", at=8)
    assert decide([-1] * 50, alpha=0.001) == StoppingDecision(decision="worse", at=14)


def test_a_decision_is_final() -> None:
    test = SequentialTest()
    for pair in [1] * 8 + [-1] * 100:
        test.add(pair)
    assert (test.decision, test.pairs) == ("better", 8)
