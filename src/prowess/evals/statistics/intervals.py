"""Rates with Wilson intervals, means with standard deviations, and the bootstrap of a mean.

Intervals are made for 95 %. That of the bootstrap covers less with few values: about half with 2, about 90 % with
`ENOUGH_VALUES`, about 94 % with 20. Sources: Wilson (1927); Efron (1979), percentile method.
"""

from __future__ import annotations

from math import fsum, sqrt
from random import Random
from statistics import NormalDist, fmean
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence

LEVEL = 0.95
_Z = NormalDist().inv_cdf((1 + LEVEL) / 2)
RESAMPLES = 5_000
ENOUGH_VALUES = 10  # with fewer, a bootstrap interval is too narrow to claim a difference
NORMAL_FROM = 1_000  # values; from here on the bootstrap of a mean and the normal distribution agree to three digits


class Rate(Struct, frozen=True, kw_only=True):
    """How many of the graded runs passed, with a Wilson interval.

    `errors` are runs without a grade. They are not part of `runs`. Without a graded run `rate`, `low` and `high` are
    None.
    """

    runs: int
    passed: int
    rate: float | None
    low: float | None
    high: float | None
    errors: int = 0


class MeanInterval(Struct, frozen=True, kw_only=True):
    """A mean and its interval. `mean` is None without a value, `low` and `high` with fewer than two."""

    mean: float | None
    low: float | None
    high: float | None


class Spread(Struct, frozen=True, kw_only=True):
    """Mean and sample standard deviation (divisor n - 1). `stddev` is None with fewer than two values."""

    mean: float | None
    stddev: float | None


def rate_of(passed: int, runs: int, errors: int = 0) -> Rate:
    """Return the rate `passed / runs`. `errors` is only handed on."""
    if not runs:
        return Rate(runs=0, passed=0, rate=None, low=None, high=None, errors=errors)
    low, high = wilson(passed, runs)
    return Rate(runs=runs, passed=passed, rate=passed / runs, low=low, high=high, errors=errors)


def wilson(passed: int, runs: int) -> tuple[float, float]:
    """Return the Wilson interval of a rate of at least one run. Both ends are within 0 and 1."""
    share, z2 = passed / runs, _Z * _Z
    scale = 1 + z2 / runs
    centre = (share + z2 / (2 * runs)) / scale
    half = _Z * sqrt(share * (1 - share) / runs + z2 / (4 * runs * runs)) / scale
    return (0.0 if passed == 0 else centre - half), (1.0 if passed == runs else centre + half)


def rate_difference(a: Rate, b: Rate) -> MeanInterval:
    """Return the rate of `b` minus that of `a`, with the interval of Newcombe (1998), method 10.

    All members are None if a side has no graded run.
    """
    if a.rate is None or a.low is None or a.high is None or b.rate is None or b.low is None or b.high is None:
        return MeanInterval(mean=None, low=None, high=None)
    mean = b.rate - a.rate
    below = sqrt((b.rate - b.low) ** 2 + (a.high - a.rate) ** 2)
    above = sqrt((b.high - b.rate) ** 2 + (a.rate - a.low) ** 2)
    return MeanInterval(mean=mean, low=mean - below, high=mean + above)


def spread_of(values: Sequence[float]) -> Spread:
    """Return the mean and the standard deviation."""
    if not values:
        return Spread(mean=None, stddev=None)
    mean = fmean(values)
    if len(values) == 1:
        return Spread(mean=mean, stddev=None)
    return Spread(mean=mean, stddev=sqrt(fsum((value - mean) ** 2 for value in values) / (len(values) - 1)))


def bootstrap_mean(values: Sequence[float], *, seed: int = 0) -> MeanInterval:
    """Return the mean with a percentile interval of `RESAMPLES` resamples of the values.

    With fewer than `ENOUGH_VALUES` values the interval is too narrow: that of two values covers the mean in half of all
    cases. The interval depends on the values and the seed, not on their order. From `NORMAL_FROM` values on it is that
    of the normal distribution with the variance of the values, because resampling costs time and adds nothing then.
    """
    if not values:
        return MeanInterval(mean=None, low=None, high=None)
    count, mean = len(values), fmean(values)
    if count == 1:
        return MeanInterval(mean=mean, low=None, high=None)
    if count >= NORMAL_FROM:
        half = _Z * sqrt(fsum((value - mean) ** 2 for value in values)) / count
        return MeanInterval(mean=mean, low=mean - half, high=mean + half)
    choose, ordered = Random(seed).choices, sorted(values)  # noqa: S311 -- a seeded resample, nothing secret
    means = sorted(fsum(choose(ordered, k=count)) / count for _ in range(RESAMPLES))
    return MeanInterval(mean=mean, low=quantile(means, (1 - LEVEL) / 2), high=quantile(means, (1 + LEVEL) / 2))


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of sorted values, interpolated linearly."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
