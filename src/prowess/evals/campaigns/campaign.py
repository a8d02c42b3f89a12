"""Runs the units of a campaign: several at once, in a fixed order, until they are done, decided, capped or stopped.

Units are ordered by run, then by eval, with both configurations of a pair beside each other: whenever a campaign ends,
most pairs are complete. A signal cancels all runs; results that were written are kept.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import TYPE_CHECKING, Protocol, Self

from prowess.errors import SkillError
from prowess.evals.campaigns.report import WITH_SKILL, Unit, UnitResult
from prowess.evals.campaigns.unit_run import run_unit
from prowess.evals.campaigns.workers import Workers
from prowess.evals.hosts.host import ENDS_CAMPAIGN
from prowess.evals.statistics.sequential import SequentialTest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from prowess.evals.campaigns.iterations import Iteration
    from prowess.evals.campaigns.planning import PlannedEval
    from prowess.evals.campaigns.report import StopReason
    from prowess.evals.campaigns.unit_run import UnitSetting

_DECIDED, _STOPPED = "the comparison was decided before", "the campaign was stopped before"
_UNRECORDED = "the recording ended before this run, or was made without its eval"


def planned_units(evals: Iterable[PlannedEval], configurations: Sequence[str], runs: int) -> tuple[Unit, ...]:
    """Return all units in their order."""
    listed = list(evals)
    return tuple(
        Unit(eval=plan.id, configuration=configuration, run=run)
        for run in range(1, runs + 1)
        for plan in listed
        for configuration in configurations
    )


class Decider:
    """Decides a comparison from its pairs, taken in the order of the units, whatever the order in which they end."""

    def __init__(self, units: Sequence[Unit], *, detect: float | None) -> None:
        self._test = SequentialTest(detect=detect)
        with_skill = [unit for unit in units if unit.configuration == WITH_SKILL]
        others = {(unit.eval, unit.run): unit for unit in units if unit.configuration != WITH_SKILL}
        self._waiting = [(unit, others[unit.eval, unit.run]) for unit in with_skill]

    @property
    def decision(self) -> str:
        """The decision so far: better, worse, futile or open."""
        return self._test.decision

    def look(self, results: Mapping[str, UnitResult]) -> None:
        """Take the pairs that are complete. A pair with an error or a contaminated baseline is left out."""
        while self._waiting and all(unit.id in results for unit in self._waiting[0]):
            ours, theirs = (results[unit.id] for unit in self._waiting.pop(0))
            if ours.counted and theirs.counted:
                self._test.add((ours.outcome == "passed") - (theirs.outcome == "passed"))


class UnitRunner(Protocol):
    """Runs units, here or on other machines. If it is an async context manager, a campaign enters it once."""

    @property
    def at_once(self) -> int:
        """How many units `run` may be called for at the same time."""
        ...

    async def run(self, plan: PlannedEval, unit: Unit) -> UnitResult:
        """Run and grade one unit, and write its files. A failure in it is its outcome.

        Raises:
            SkillError: the campaign has to end.
        """
        ...


class LocalRunner:
    """Runs units in this process. Its host is open while the runner is entered."""

    def __init__(self, setting: UnitSetting, *, at_once: int) -> None:
        self._setting, self.at_once = setting, at_once
        self._entered = AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Enter the host if it is an async context manager."""
        if isinstance(self._setting.host, AbstractAsyncContextManager):
            await self._entered.enter_async_context(self._setting.host)
        return self

    async def __aexit__(self, *failure: object) -> None:
        """Leave the host."""
        await self._entered.aclose()

    async def run(self, plan: PlannedEval, unit: Unit) -> UnitResult:
        """As in `UnitRunner`.

        Raises:
            CapReachedError, DriftError, JournalError, InvalidArgumentsError: the campaign has to end.
        """
        try:
            return await run_unit(plan, unit, self._setting)
        except ENDS_CAMPAIGN:
            raise
        except Exception as fault:  # noqa: BLE001 -- whatever breaks in one unit, the others go on
            return _broken(unit, fault)


class Campaign:
    """Runs units. Afterwards `results` has one for each unit, and `stopped` why the run ended early, or None.

    `signalled` is the number of the signal that stopped it. `on_result` is called with each result as it comes, kept
    ones first. `unrecorded` are the ids of units that a replayed recording does not have; they are not run.
    """

    def __init__(
        self,
        units: Sequence[Unit],
        plans: Mapping[str, PlannedEval],
        iteration: Iteration,
        runner: UnitRunner,
        *,
        decider: Decider | None = None,
        on_result: Callable[[UnitResult], object] | None = None,
        unrecorded: Collection[str] = (),
    ) -> None:
        self._units, self._plans, self._iteration, self._runner = units, plans, iteration, runner
        self._decider, self._on_result, self._unrecorded = decider, on_result, unrecorded
        self._found: dict[str, UnitResult] = {}
        self._waiting: list[Unit] = []
        self.stopped: StopReason | None = None
        self.signalled: int | None = None

    @property
    def results(self) -> tuple[UnitResult, ...]:
        """The results in the order of the units."""
        return tuple(self._found.get(unit.id) or _not_run(unit, self._why_not(unit)) for unit in self._units)

    def _why_not(self, unit: Unit) -> str:
        decided = self._decider is not None and self._decider.decision != "open"
        if unit.id in self._unrecorded and not decided:
            return _UNRECORDED
        return _DECIDED if self.stopped is None else _STOPPED

    async def run(self) -> None:
        """Run all units that have no result yet. A failure in one unit is its outcome.

        Raises:
            JournalError, DriftError, InvalidArgumentsError: the campaign cannot go on: the journal cannot be written, a
                replayed run differs, or the host cannot be used.
            UnavailableError: other machines, on which the units run, cannot go on.
        """
        for unit in self._units:
            if unit.id in self._unrecorded:
                continue
            kept = self._iteration.kept(unit, self._plans[unit.eval].directory)
            if kept is None:
                self._waiting.append(unit)
            else:
                self._add(kept)
        workers = Workers(self._next, self._run_unit, jobs=self._runner.at_once)
        try:
            await workers.run(self._runner)
        finally:
            self.stopped, self.signalled = workers.stopped, workers.signalled

    def _add(self, result: UnitResult) -> None:
        self._found[result.id] = result
        if self._decider is not None:
            self._decider.look(self._found)
        if self._on_result is not None:
            self._on_result(result)

    def _next(self) -> Unit | None:
        decided = self._decider is not None and self._decider.decision != "open"
        return self._waiting.pop(0) if self._waiting and not decided else None

    async def _run_unit(self, unit: Unit) -> None:
        self._add(await self._runner.run(self._plans[unit.eval], unit))


def _broken(unit: Unit, fault: Exception) -> UnitResult:
    reason = str(fault) if isinstance(fault, SkillError) else f"{type(fault).__name__}: {fault}"
    return UnitResult(
        id=unit.id, eval=unit.eval, configuration=unit.configuration, run=unit.run, outcome="error", reason=reason
    )


def _not_run(unit: Unit, reason: str) -> UnitResult:
    return UnitResult(
        id=unit.id, eval=unit.eval, configuration=unit.configuration, run=unit.run, outcome="not_run", reason=reason
    )
