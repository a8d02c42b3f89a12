"""Decides from runs without a passage whether the passage is needed. Pure.

Each assertion that usually passes with the whole skill is a sequential probability ratio test (Wald): its rate is the
measured one, or lower by `detect`. A passage is needed if one assertion falls; the threshold is shared among all of
them (Bonferroni), so that at most `ALPHA` of the passages without effect are called needed. It has no effect if all
assertions are cleared. Runs go first to the evals under suspicion, so that a needed passage costs few.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess.evals.statistics.intervals import rate_difference, rate_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ALPHA, BETA = 0.05, 0.12
DETECT = 0.6
_LEAST_RATE, _MOST_RATE = 0.05, 0.9
_PRIOR_RUNS = 5  # the rate of an assertion is drawn towards that of all by as much as so many runs would
TrialDecision = Literal["needed", "no_effect", "open"]


class AssertionKey(Struct, frozen=True, kw_only=True, order=True):
    """One assertion of one eval. `text` is that of the assertion."""

    eval: str
    text: str


class PassedRuns(Struct, kw_only=True):
    """Passed runs and all graded runs of one assertion."""

    passed: int = 0
    runs: int = 0

    @property
    def rate(self) -> float:
        """The share of passed runs; 0 without runs."""
        return self.passed / self.runs if self.runs else 0.0


class Loss(Struct, frozen=True, kw_only=True):
    """A difference of rates, without the passage minus with it, and its 95 % interval (Newcombe)."""

    delta: float
    low: float
    high: float

    @classmethod
    def between(cls, without: PassedRuns, whole: PassedRuns) -> Loss | None:
        """Return the difference; None if one side has no run."""
        found = rate_difference(rate_of(whole.passed, whole.runs), rate_of(without.passed, without.runs))
        if found.mean is None or found.low is None or found.high is None:
            return None
        return cls(delta=found.mean, low=max(-1.0, found.low), high=min(1.0, found.high))


def informative(whole: Mapping[AssertionKey, PassedRuns], *, detect: float) -> dict[AssertionKey, PassedRuns]:
    """Return the assertions that pass often enough to show a loss of `detect`."""
    return {key: tally for key, tally in whole.items() if tally.runs and tally.rate > detect - _LEAST_RATE}


class PassageTrial:
    """The runs without one passage. `whole` are the tallies with the whole skill; only evals in `evals` are run.

    Each eval is run at most `most_runs` times, and twice as often while an assertion of it seems to fall. With
    `every_eval` the runs go on until it is known of each eval whether it notices; else they end with the first.
    """

    def __init__(
        self,
        whole: Mapping[AssertionKey, PassedRuns],
        evals: Sequence[str],
        *,
        most_runs: int,
        detect: float = DETECT,
        every_eval: bool = False,
    ) -> None:
        self._whole = {key: tally for key, tally in whole.items() if key.eval in evals}
        self._most, self._detect, self._every = most_runs, detect, every_eval
        self._usual = {key: _usual_rate(tally, whole.values()) for key, tally in self._whole.items()}
        self._attempts = dict.fromkeys(sorted({key.eval for key in self._whole}), 0)
        self._tallies = {key: PassedRuns() for key in self._whole}
        self._above = math.log(max(1, len(self._whole)) / ALPHA)
        self._below = math.log(BETA)

    @property
    def runs(self) -> int:
        """The number of runs so far."""
        return sum(self._attempts.values())

    @property
    def fallen(self) -> tuple[AssertionKey, ...]:
        """The assertions that notice, the clearest first."""
        found = [key for key in self._whole if self._score(key) >= self._above]
        return tuple(sorted(found, key=lambda key: (-self._score(key), key)))

    @property
    def decision(self) -> TrialDecision:
        """What is known so far."""
        if self.fallen:
            return "needed"
        return "no_effect" if all(self._score(key) <= self._below for key in self._whole) else "open"

    @property
    def next_evals(self) -> tuple[str, ...]:
        """The evals to run once more: those under suspicion, or else all that are not cleared. Empty if it is over."""
        if self.decision != "open" and not self._every:
            return ()
        worst = {name: self._worst(name) for name in self._attempts if self.decision_of(name) == "open"}
        suspects = [name for name, score in worst.items() if score > 0 and self._attempts[name] < 2 * self._most]
        left = [name for name in worst if self._attempts[name] < self._most]
        return tuple(suspects or left)

    def decision_of(self, name: str) -> TrialDecision:
        """The knowledge about one eval. No run is needed for an eval that the passage never reached."""
        if name not in self._attempts or (worst := self._worst(name)) <= self._below:
            return "no_effect"
        return "needed" if worst >= self._above else "open"

    def next_run(self, name: str) -> int:
        """Return the number of the next run of an eval, from 1."""
        return self._attempts[name] + 1

    def add(self, name: str, grades: Mapping[str, bool] | None) -> None:
        """Take one run of an eval: the grades by the assertions' texts, or None if it has none."""
        self._attempts[name] += 1
        for text, passed in ({} if grades is None else grades).items():
            tally = self._tallies.get(AssertionKey(eval=name, text=text))
            if tally is not None:
                tally.runs += 1
                tally.passed += passed

    @property
    def loss(self) -> Loss | None:
        """The loss of the clearest assertion that fell, or else of all assertions together."""
        keys = self.fallen[:1] or [key for key, tally in self._tallies.items() if tally.runs]
        without = PassedRuns(
            passed=sum(self._tallies[key].passed for key in keys), runs=sum(self._tallies[key].runs for key in keys)
        )
        whole = PassedRuns(
            passed=sum(self._whole[key].passed for key in keys), runs=sum(self._whole[key].runs for key in keys)
        )
        return Loss.between(without, whole)

    def _worst(self, name: str) -> float:
        return max(self._score(key) for key in self._whole if key.eval == name)

    def _score(self, key: AssertionKey) -> float:
        """Return the logarithm of the likelihood ratio: fallen against unchanged."""
        usual, tally = self._usual[key], self._tallies[key]
        fallen = max(_LEAST_RATE, usual - self._detect)
        failed = tally.runs - tally.passed
        return tally.passed * math.log(fallen / usual) + failed * math.log((1 - fallen) / (1 - usual))


def _usual_rate(tally: PassedRuns, every: Iterable[PassedRuns]) -> float:
    together = list(every)
    common = sum(one.passed for one in together) / max(1, sum(one.runs for one in together))
    drawn = (tally.passed + _PRIOR_RUNS * common) / (tally.runs + _PRIOR_RUNS)
    return max(2 * _LEAST_RATE, min(_MOST_RATE, drawn))
