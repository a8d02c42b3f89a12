"""The search for a better description.

A round asks for a description with what fails in training, and measures it there. If training is not worse, it is
measured in validation. What repairs training and not validation was learnt by heart, and is left. If more requests
pass in validation than with the best description so far, both are confirmed with as many runs again, because the best
of several noisy figures is partly luck. Only what is still better then is the new best, so the chosen description is
never below the first one in validation. Its new sentences are then tried one by one: a sentence that helps in training
and not in validation is removed.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prowess.evals.optimising.measuring import carried_out
from prowess.evals.optimising.proposer import EarlierAttempt, ProposalRequest
from prowess.evals.optimising.report import ImproveRound, LostRequest, MeasuredDescription
from prowess.evals.statistics.intervals import rate_difference, rate_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.evals.optimising.leaks import Leak
    from prowess.evals.optimising.measuring import Measurements
    from prowess.evals.optimising.proposer import ProposedDescription, Proposer
    from prowess.evals.statistics.intervals import Rate
    from prowess.evals.triggers.rows import TriggerRow
    from prowess.evals.triggers.split import TriggerSplit
    from prowess.evals.triggers.trigger_set import TriggerQuery, TriggerSet

ROUNDS = 5


class Tried(Struct, frozen=True, kw_only=True):
    """A description with its rows."""

    number: int
    description: str
    train: tuple[TriggerRow, ...]
    validation: tuple[TriggerRow, ...] = ()

    @property
    def failures(self) -> tuple[TriggerRow, ...]:
        """The training requests that failed in runs that count."""
        return tuple(row for row in self.train if row.passed is False and row.runs)

    def measured(self) -> MeasuredDescription:
        """Return it for the report."""
        return MeasuredDescription(
            round=self.number,
            description=self.description,
            train=passing(self.train),
            validation=passing(self.validation),
        )


class DescriptionSearch:
    """Keeps the best description, and what was tried. An engine decides what to propose and when to stop."""

    def __init__(
        self, one: TriggerSet, split: TriggerSplit, measurements: Measurements, proposer: Proposer, *, runs: int
    ) -> None:
        self._first, self._measurements, self._proposer, self._runs = one.description, measurements, proposer, runs
        self.train = tuple(query for query in one.queries if split.side_of(query.query) == "train")
        self.validation = tuple(query for query in one.queries if split.side_of(query.query) == "validation")
        self.start: Tried | None = None
        self.best: Tried | None = None
        self.rounds: list[ImproveRound] = []
        self.leaked: list[Leak] = []
        self._tried: dict[str, Tried] = {}

    async def begin(self) -> Tried:
        """Measure the first description.

        Raises:
            StoppedError: a cap or a signal stopped the search; so for the other methods.
        """
        found = Tried(number=0, description=self._first, train=await self.training_rows(self._first))
        found = replace(found, validation=await self.validation_rows(self._first))
        self.start = self.best = self._tried[self._first] = found
        return found

    async def rows(self, description: str, queries: tuple[TriggerQuery, ...]) -> tuple[TriggerRow, ...]:
        """Return the rows of some requests."""
        return await self._measurements.rows(description, queries, runs=self._runs)

    async def training_rows(self, description: str) -> tuple[TriggerRow, ...]:
        """Return the rows of the training requests."""
        return await self.rows(description, self.train)

    async def validation_rows(self, description: str, *, times: int = 1) -> tuple[TriggerRow, ...]:
        """Return the rows of the validation requests, with `times` as many runs."""
        return await self._measurements.rows(description, self.validation, runs=times * self._runs)

    async def propose(self, number: int, description: str, failures: Sequence[TriggerRow]) -> ProposedDescription:
        """Ask for a description in place of one that has these failures in training."""
        earlier = [
            EarlierAttempt(description=one.description, passed=count_passed(one.train), of=len(one.train))
            for one in self._tried.values()
        ]
        request = ProposalRequest(
            number=number,
            description=description,
            start=self._first,
            failures=tuple(failures),
            training=tuple(query.query for query in self.train),
            earlier=tuple(earlier),
        )
        answers: list[ProposedDescription] = []

        async def ask() -> None:
            answers.append(await self._proposer.propose(request))

        await carried_out(ask, self._proposer.model)
        self.leaked += answers[0].leaked
        return answers[0]

    async def consider(self, number: int, proposal: ProposedDescription) -> None:
        """Measure a proposal, and make it the best one if it is."""
        noted = partial(ImproveRound, round=number, description=proposal.description, refused=proposal.refused)
        if proposal.description is None:
            self.rounds.append(noted(outcome="refused"))
        elif proposal.description in self._tried:
            self.rounds.append(noted(outcome="repeated"))
        else:
            await self._measure(number, proposal.description, noted)

    async def _measure(self, number: int, description: str, noted: partial[ImproveRound]) -> None:
        best = await self.begin() if self.best is None else self.best
        found = Tried(number=number, description=description, train=await self.training_rows(description))
        noted = partial(noted, train=passing(found.train))
        if count_passed(found.train) < count_passed(best.train):
            self._tried[description] = found
            self.rounds.append(noted(outcome="worse_in_training"))
            return
        found = replace(found, validation=await self.validation_rows(description))
        noted = partial(noted, validation=passing(found.validation))
        if is_overfitted(best, found):
            self._tried[description] = found
            self.rounds.append(noted(outcome="overfitted"))
            return
        if count_passed(found.validation) > count_passed(best.validation):
            best = replace(best, validation=await self.validation_rows(best.description, times=2))
            found = replace(found, validation=await self.validation_rows(description, times=2))
            noted = partial(noted, confirmed=passing(found.validation))
            self._keep(best)
        self._tried[description] = found
        is_better = count_passed(found.validation) > count_passed(best.validation)
        if is_better:
            found, removed = await self._pruned(best, found)
            noted = partial(noted, removed=removed)
            self._tried[found.description] = found
        self.best = found if is_better else best
        self.rounds.append(noted(outcome="better" if is_better else "not_better"))

    async def _pruned(self, before: Tried, found: Tried) -> tuple[Tried, tuple[str, ...]]:
        """Remove new sentences that help in training and not in validation; return them too."""
        known, removed = set(sentences_of(before.description)), []
        for sentence in sentences_of(found.description):
            text = " ".join(one for one in sentences_of(found.description) if one != sentence)
            if sentence in known or not text or text == before.description:
                continue
            less = replace(found, description=text, validation=await self.validation_rows(text, times=2))
            if count_passed(less.validation) < count_passed(found.validation):
                continue
            less = replace(less, train=await self.training_rows(text))
            if count_passed(less.train) < count_passed(found.train):
                removed.append(sentence)
                found = less
        return found, tuple(removed)

    def _keep(self, confirmed: Tried) -> None:
        self._tried[confirmed.description] = confirmed
        if self.start is not None and self.start.description == confirmed.description:
            self.start = confirmed

    @property
    def chosen(self) -> Tried | None:
        """The best description, None if it is the first one."""
        return None if self.best is None or self.best.number == 0 else self.best

    def lost(self) -> tuple[LostRequest, ...]:
        """Return the requests that passed at first, and do not with the chosen description."""
        if self.start is None or (chosen := self.chosen) is None:
            return ()
        after = {row.query: row.passed for row in (*chosen.train, *chosen.validation)}
        return tuple(
            LostRequest(query=row.query, should_trigger=row.should_trigger, split=row.split)
            for row in (*self.start.train, *self.start.validation)
            if row.passed and not after.get(row.query)
        )


async def by_rounds(search: DescriptionSearch, rounds: int = ROUNDS) -> None:
    """Revise the best description so far in each round, until no training request fails with it.

    Raises:
        StoppedError: a cap or a signal stopped the search.
    """
    best = await search.begin()
    for number in range(1, rounds + 1):
        if not best.failures:
            return
        await search.consider(number, await search.propose(number, best.description, best.failures))
        best = search.best or best


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a description in one line."""
    return re.split(r"(?<=[.!?;])\s+", text)


def is_overfitted(before: Tried, after: Tried) -> bool:
    """Whether a smaller share of failures is repaired in validation than in training, by more than the interval."""
    training, validation = _repaired(before.train, after.train), _repaired(before.validation, after.validation)
    low = rate_difference(validation, training).low
    return low is not None and low > 0


def _repaired(before: Sequence[TriggerRow], after: Sequence[TriggerRow]) -> Rate:
    failed = [new.passed is True for old, new in zip(before, after, strict=True) if old.passed is not True]
    return rate_of(sum(failed), len(failed))


def count_passed(rows: Sequence[TriggerRow]) -> int:
    """Return how many requests passed."""
    return sum(row.passed is True for row in rows)


def passing(rows: Sequence[TriggerRow]) -> Rate:
    """Return the rate of requests that passed."""
    return rate_of(count_passed(rows), len(rows))
