"""An anytime-valid test on paired outcomes: look after every pair, and stop as soon as it is decided.

Each pair is 1 (only the second configuration passed), -1 (only the first) or 0. Pairs of 0 say nothing about which is
better. If neither is, the others are throws of a fair coin. The test bets on a coin whose probability is drawn from the
uniform distribution; its wealth after w and l throws is `2^(w+l) * B(w+1, l+1)`. By Ville's inequality a fair coin
reaches wealth 1/alpha with probability alpha at most, however often one looks. Source: Robbins (1970), mixtures; Ramdas
et al. (2023), e-processes.
"""

from __future__ import annotations

from math import lgamma, log, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable

SequentialVerdict = Literal["better", "worse", "futile", "open"]

ALPHA = 0.05
FUTILE_FROM = 20  # pairs: before, an interval by the normal distribution is not trusted
_GAIN = NormalDist().inv_cdf(0.95)
_LOSS = 1.0


class StoppingDecision(Struct, frozen=True, kw_only=True):
    """The decision of the pairs, and after how many of them. `open`: all were used without a decision."""

    decision: SequentialVerdict
    at: int


class SequentialTest:
    """Takes one pair after the other and decides at most once.

    `alpha` bounds the probability of a decision `better` or `worse` without a difference. `detect` is the smallest
    difference of the rates that matters: the test ends as `futile` if such a gain is unlikely (one-sided 95 %) and such
    a loss is not in sight (one standard error). None: never futile. Ending as futile cannot make a wrong `better` more
    probable.
    """

    def __init__(self, *, alpha: float = ALPHA, detect: float | None = None) -> None:
        self._wealth_needed = -log(alpha)
        self._detect = detect
        self.better = self.worse = self.pairs = 0
        self.decision: SequentialVerdict = "open"

    def add(self, pair: int) -> SequentialVerdict:
        """Count a pair of 1, 0 or -1. After a decision nothing changes it."""
        if self.decision != "open":
            return self.decision
        self.pairs += 1
        self.better += pair > 0
        self.worse += pair < 0
        if pair and self.log_wealth() >= self._wealth_needed:
            self.decision = "better" if self.better > self.worse else "worse"
        elif self._is_futile():
            self.decision = "futile"
        return self.decision

    def log_wealth(self) -> float:
        """Return the logarithm of the wealth of the bets."""
        throws = self.better + self.worse
        return throws * log(2) + lgamma(self.better + 1) + lgamma(self.worse + 1) - lgamma(throws + 2)

    def _is_futile(self) -> bool:
        """Whether neither a gain nor a loss of the wanted size is likely.

        The interval is that of Agresti and Min (2005): two pairs are added, half a pair to each of the four outcomes,
        so that pairs without any difference have an interval too.
        """
        if self._detect is None or self.pairs < FUTILE_FROM:
            return False
        count = self.pairs + 2
        mean = (self.better - self.worse) / count
        error = sqrt((self.better + self.worse + 1) / count - mean * mean) / sqrt(count)
        return mean + _GAIN * error < self._detect and mean - _LOSS * error > -self._detect


def decide(pairs: Iterable[int], *, alpha: float = ALPHA, detect: float | None = None) -> StoppingDecision:
    """Return the decision of a sequence of pairs, and the number of pairs until then."""
    test = SequentialTest(alpha=alpha, detect=detect)
    for pair in pairs:
        if test.add(pair) != "open":
            break
    return StoppingDecision(decision=test.decision, at=test.pairs)
