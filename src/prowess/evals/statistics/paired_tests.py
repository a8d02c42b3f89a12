"""Exact tests on pairs: which of two configurations was better in how many evals.

Both are binomial tests with probability one half. McNemar's test takes the evals whose majority verdicts differ; the
sign test takes all evals whose rates differ.
"""

from __future__ import annotations

from math import exp, lgamma, log

from msgspec import Struct


class McNemar(Struct, frozen=True, kw_only=True):
    """Exact test of McNemar: evals that only the second or only the first configuration passed, two-sided p."""

    better: int
    worse: int
    p: float


class SignTest(Struct, frozen=True, kw_only=True):
    """Sign test: evals with a higher, a lower and the same rate in the second configuration, two-sided p."""

    better: int
    worse: int
    equal: int
    p: float


def mcnemar(better: int, worse: int) -> McNemar:
    """Return the exact test on the pairs whose verdicts differ."""
    return McNemar(better=better, worse=worse, p=two_sided_p(better, worse))


def sign_test(better: int, worse: int, equal: int) -> SignTest:
    """Return the sign test. Equal pairs do not take part."""
    return SignTest(better=better, worse=worse, equal=equal, p=two_sided_p(better, worse))


def two_sided_p(first: int, second: int) -> float:
    """Return the two-sided p of so many heads and tails of a fair coin; 1 without a throw.

    The sum starts at the largest term of the tail and stops when a term no longer changes it: large counts cost their
    square root in time.
    """
    throws, most = first + second, min(first, second)
    if 2 * most >= throws - 1:
        return 1.0
    term = exp(lgamma(throws + 1) - lgamma(most + 1) - lgamma(throws - most + 1) - throws * log(2))
    total = 0.0
    for heads in range(most, -1, -1):
        total += term
        if term < total * 1e-17:
            break
        term *= heads / (throws - heads + 1)
    return min(1.0, 2 * total)
