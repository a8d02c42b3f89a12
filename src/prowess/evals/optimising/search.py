"""The search for a better text of a skill: its description, or its body.

A round asks for a text with the failures of training, and measures it there. If training is not worse, it is measured
in validation. A text that repairs training and not validation was learnt by heart, and is left. If more cases pass in
validation than with the best text so far, both are confirmed with as many runs again, because the best of several noisy
figures is partly luck. Only a text that is still better then is the new best, so the chosen text is never below the
first one in validation. Its new sentences are then tried one by one: a sentence that helps in training and not in
validation is removed.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.text.terminal_text import counted
from prowess.evals.optimising.eval_rows import EvalRow
from prowess.evals.optimising.measuring import carried_out
from prowess.evals.optimising.report import ImproveRound, MeasuredText
from prowess.evals.optimising.revision import EarlierAttempt, ProposalRequest
from prowess.evals.statistics.intervals import rate_difference, rate_of
from prowess.evals.triggers.rows import TriggerRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.evals.optimising.leaks import Leak
    from prowess.evals.optimising.proposer import Proposer
    from prowess.evals.optimising.revision import Measure, ProposedText
    from prowess.evals.statistics.intervals import Rate

_Case = TypeVar("_Case")
_Row = TypeVar("_Row", bound=TriggerRow | EvalRow)
ROUNDS = 5


class Tried(Struct, Generic[_Row], frozen=True, kw_only=True):
    """A text with its rows."""

    number: int
    text: str
    train: tuple[_Row, ...]
    validation: tuple[_Row, ...] = ()

    @property
    def is_measured(self) -> bool:
        """Whether a run of training counts. If not, all of them are errors."""
        return any(row.runs for row in self.train)

    @property
    def passes_training(self) -> bool:
        """Whether all training cases passed. One without a run that counts did not."""
        return count_passed(self.train) == len(self.train)

    @property
    def passes_validation(self) -> bool:
        """Whether all validation cases passed. No text can be better then, because more of them would have to pass."""
        return count_passed(self.validation) == len(self.validation)

    @property
    def failures(self) -> tuple[_Row, ...]:
        """The training cases that failed in runs that count."""
        return tuple(row for row in self.train if row.passed is False and row.runs)

    def measured(self) -> MeasuredText:
        """Return it for the report."""
        return MeasuredText(
            round=self.number, text=self.text, train=passing(self.train), validation=passing(self.validation)
        )


class TextSearch(Generic[_Case, _Row]):
    """Keeps the best text, and all attempts. An engine decides which text to propose and when to stop.

    `runs` are those of each case, `train` and `validation` the cases of both sides.
    """

    def __init__(
        self,
        first: str,
        measure: Measure[_Case, _Row],
        proposer: Proposer[_Row],
        *,
        train: Sequence[_Case],
        validation: Sequence[_Case],
        runs: int,
    ) -> None:
        self._first, self._measure, self._proposer, self._runs = first, measure, proposer, runs
        self._revision = proposer.revision
        self.train, self.validation = tuple(train), tuple(validation)
        self.start: Tried[_Row] | None = None
        self.best: Tried[_Row] | None = None
        self.rounds: list[ImproveRound] = []
        self.leaked: list[Leak] = []
        self._tried: dict[str, Tried[_Row]] = {}

    async def begin(self) -> Tried[_Row]:
        """Measure the first text.

        Raises:
            StoppedError: a cap or a signal stopped the search; so for the other methods.
        """
        found = Tried(number=0, text=self._first, train=await self.training_rows(self._first))
        found = replace(found, validation=await self.validation_rows(self._first))
        self.start = self.best = self._tried[self._first] = found
        return found

    async def rows(self, text: str, cases: Sequence[_Case]) -> tuple[_Row, ...]:
        """Return the rows of some cases."""
        return await self._measure(text, cases, self._runs)

    async def training_rows(self, text: str) -> tuple[_Row, ...]:
        """Return the rows of the training cases."""
        return await self.rows(text, self.train)

    async def validation_rows(self, text: str, *, times: int = 1) -> tuple[_Row, ...]:
        """Return the rows of the validation cases, with `times` as many runs."""
        return await self._measure(text, self.validation, times * self._runs)

    async def propose(self, number: int, text: str, failures: Sequence[_Row]) -> ProposedText:
        """Ask for a text in place of one that has these failures in training."""
        earlier = [
            EarlierAttempt(text=one.text, passed=count_passed(one.train), of=len(one.train))
            for one in self._tried.values()
        ]
        request = ProposalRequest(
            number=number, text=text, start=self._first, failures=tuple(failures), earlier=tuple(earlier)
        )
        answers: list[ProposedText] = []

        async def ask() -> None:
            answers.append(await self._proposer.propose(request))

        await carried_out(ask, self._proposer.model)
        self.leaked += answers[0].leaked
        return answers[0]

    async def consider(self, number: int, proposal: ProposedText) -> None:
        """Measure a proposal, and make it the best one if it is."""
        noted = partial(ImproveRound, round=number, text=proposal.text, refused=proposal.refused)
        if proposal.text is None:
            self.rounds.append(noted(outcome="refused"))
        elif proposal.text in self._tried:
            self.rounds.append(noted(outcome="repeated"))
        else:
            await self._compare(number, proposal.text, noted)

    async def _compare(self, number: int, text: str, noted: partial[ImproveRound]) -> None:
        best = await self.begin() if self.best is None else self.best
        found = Tried(number=number, text=text, train=await self.training_rows(text))
        noted = partial(noted, train=passing(found.train))
        if count_passed(found.train) < count_passed(best.train):
            self._tried[text] = found
            self.rounds.append(noted(outcome="worse_in_training"))
            return
        found = replace(found, validation=await self.validation_rows(text))
        noted = partial(noted, validation=passing(found.validation))
        if is_overfitted(best, found):
            self._tried[text] = found
            self.rounds.append(noted(outcome="overfitted"))
            return
        if count_passed(found.validation) > count_passed(best.validation):
            best = replace(best, validation=await self.validation_rows(best.text, times=2))
            found = replace(found, validation=await self.validation_rows(text, times=2))
            noted = partial(noted, confirmed=passing(found.validation))
            self._keep(best)
        self._tried[text] = found
        is_better = count_passed(found.validation) > count_passed(best.validation)
        if is_better:
            found, removed = await self._pruned(best, found)
            noted = partial(noted, removed=removed)
            self._tried[found.text] = found
        self.best = found if is_better else best
        self.rounds.append(noted(outcome="better" if is_better else "not_better"))

    async def _pruned(self, before: Tried[_Row], found: Tried[_Row]) -> tuple[Tried[_Row], tuple[str, ...]]:
        """Remove new parts that help in training and not in validation; return them too."""
        removed: list[str] = []
        for part in self._revision.new_parts(before.text, found.text):
            text = self._revision.without(found.text, part)
            if text in (before.text, found.text) or self._revision.faults(text):
                continue
            less = replace(found, text=text, validation=await self.validation_rows(text, times=2))
            if count_passed(less.validation) < count_passed(found.validation):
                continue
            less = replace(less, train=await self.training_rows(text))
            if count_passed(less.train) < count_passed(found.train):
                removed.append(part)
                found = less
        return found, tuple(removed)

    def _keep(self, confirmed: Tried[_Row]) -> None:
        self._tried[confirmed.text] = confirmed
        if self.start is not None and self.start.text == confirmed.text:
            self.start = confirmed

    def notes(self, first_error: str | None, *, case: str) -> Iterator[str]:
        """Yield sentences about limits of the result: runs that are errors, and a validation without a failure."""
        start, best = self.start, self.best
        if start is None or best is None:
            return
        rows = (*start.train, *start.validation)
        if errors := sum(row.errors for row in rows):
            why = "" if first_error is None else f": {first_error}"
            kind = "every first run of training" if not start.is_measured else counted(errors, "first run")
            yield f"{kind} ended with an error{why}"
        if best.failures and best.passes_validation:
            problem = f"validation has no failing {case}, so no text can be shown to be better"
            yield f"{problem}; add some that fail"

    @property
    def chosen(self) -> Tried[_Row] | None:
        """The best text, None if it is the first one."""
        return None if self.best is None or self.best.number == 0 else self.best

    def lost(self) -> tuple[_Row, ...]:
        """Return the first rows of the cases that passed at first, and do not with the chosen text."""
        if self.start is None or (chosen := self.chosen) is None:
            return ()
        after = {row.case: row.passed for row in (*chosen.train, *chosen.validation)}
        rows = (*self.start.train, *self.start.validation)
        return tuple(row for row in rows if row.passed and not after.get(row.case))


async def by_rounds(search: TextSearch[_Case, _Row], rounds: int = ROUNDS) -> None:
    """Revise the best text so far in each round, until no training case fails with it, or no validation case.

    Raises:
        StoppedError: a cap or a signal stopped the search.
    """
    best = await search.begin()
    for number in range(1, rounds + 1):
        if not best.failures or best.passes_validation:
            return
        await search.consider(number, await search.propose(number, best.text, best.failures))
        best = search.best or best


def is_overfitted(before: Tried[_Row], after: Tried[_Row]) -> bool:
    """Whether a smaller share of failures is repaired in validation than in training, by more than the interval."""
    training, validation = _repaired(before.train, after.train), _repaired(before.validation, after.validation)
    low = rate_difference(validation, training).low
    return low is not None and low > 0


def _repaired(before: Sequence[TriggerRow | EvalRow], after: Sequence[TriggerRow | EvalRow]) -> Rate:
    failed = [new.passed is True for old, new in zip(before, after, strict=True) if old.passed is not True]
    return rate_of(sum(failed), len(failed))


def count_passed(rows: Sequence[TriggerRow | EvalRow]) -> int:
    """Return how many cases passed."""
    return sum(row.passed is True for row in rows)


def passing(rows: Sequence[TriggerRow | EvalRow]) -> Rate:
    """Return the rate of cases that passed."""
    return rate_of(count_passed(rows), len(rows))
