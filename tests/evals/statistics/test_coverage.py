"""How often the interval of a difference covers the real one, by the number of evals.

`PROWESS_COVERAGE=1200` simulates that many comparisons of each kind for more numbers of evals, and prints the figures
of docs/author/intervals.md with `-s`.
"""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

from prowess.evals.statistics.intervals import ENOUGH_VALUES, bootstrap_mean

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

COUNT = int(os.environ.get("PROWESS_COVERAGE", "0"))
RUNS = 3


def _runs(draw: Random, before: float, after: float) -> float:
    a, b = (sum(draw.random() < rate for _ in range(RUNS)) for rate in (before, after))
    return (b - a) / RUNS


def _no_effect(draw: Random) -> float:
    rate = draw.random()
    return _runs(draw, rate, rate)


def _every_second(draw: Random) -> float:
    rate = draw.uniform(0.1, 0.4)
    return _runs(draw, rate, rate + 0.6 * (draw.random() < 0.5))


KINDS: dict[str, tuple[Callable[[Random], float], float]] = {
    "no effect": (_no_effect, 0.0),
    "a gain for every second eval": (_every_second, 0.3),
    "a gain of 0.4": (lambda draw: _runs(draw, 0.3, 0.7), 0.4),
    "a gain of 0.85": (lambda draw: _runs(draw, 0.05, 0.9), 0.85),
    "normal differences": (lambda draw: draw.gauss(0.3, 0.3), 0.3),
}


def covered(kind: str, evals: int, count: int) -> float:
    difference, real = KINDS[kind]
    draw, found = random.Random(f"{kind} {evals}"), 0
    for seed in range(count):
        interval = bootstrap_mean([difference(draw) for _ in range(evals)], seed=seed)
        assert interval.low is not None
        assert interval.high is not None
        found += interval.low - 1e-9 <= real <= interval.high + 1e-9
    return found / count


def test_the_interval_of_a_few_evals_is_too_narrow_and_that_of_enough_is_not() -> None:
    kind = "a gain for every second eval"
    assert covered(kind, 3, 60) < 0.8
    assert covered(kind, ENOUGH_VALUES, 60) >= 0.88
    for evals in (2, 3, 5, 6, 8, 10, 15, 20) if COUNT else ():
        figures = ", ".join(f"{one} {covered(one, evals, COUNT):.3f}" for one in KINDS)
        print(f"{evals} evals: {figures}")  # noqa: T201 -- figures, with -s
