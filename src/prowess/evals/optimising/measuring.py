"""Measures descriptions: runs requests on the host with a copy of the skill that has the description.

Runs are kept, so that measuring the same again, or with more runs, makes only the runs that are missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from prowess.evals.campaigns.workers import Workers
from prowess.evals.triggers.running import TriggerCampaign
from prowess.evals.triggers.trigger_runs import LocalTriggers

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from prowess.evals.campaigns.report import StopReason, Unit
    from prowess.evals.hosts.host import Host
    from prowess.evals.triggers.rows import TriggerRow
    from prowess.evals.triggers.split import TriggerSplit
    from prowess.evals.triggers.trigger_runs import TriggerOptions, TriggerRun
    from prowess.evals.triggers.trigger_set import TriggerQuery, TriggerSet


class StoppedError(Exception):
    """A cap or a signal ended the search, or the one that it replays. It does not leave this package.

    `reason` is None if the recording was killed.
    """

    def __init__(self, reason: StopReason | None, signalled: int | None) -> None:
        super().__init__(reason, signalled)
        self.reason, self.signalled = reason, signalled

    def __str__(self) -> str:
        return self.reason or "the recording ended"


class RunFolder(Protocol):
    """Keeps the runs of one description."""

    def directory(self, unit: Unit) -> str:
        """Return an empty directory for the files of a unit."""
        ...

    def kept(self, unit: Unit) -> TriggerRun | None:
        """Return a run of an earlier process, or None."""
        ...

    def keep(self, unit: Unit, run: TriggerRun) -> None:
        """Keep a run."""
        ...


class CandidatePlaces(Protocol):
    """Where the copies of the skill are."""

    def installed(self, description: str) -> tuple[str, ...]:
        """Return the directories of the skill with this description, and of its neighbours."""
        ...

    def runs(self, description: str) -> RunFolder:
        """Return where the runs with this description are kept."""
        ...


class Measurements:
    """Runs requests of one trigger set. `first_error` is why the first run that is an error is one, if it is known.

    `on_run` is called with each run that is made, and its request.
    """

    def __init__(
        self,
        one: TriggerSet,
        split: TriggerSplit,
        host: Host,
        places: CandidatePlaces,
        options: TriggerOptions,
        *,
        on_run: Callable[[Unit, TriggerRun, TriggerQuery], object] | None = None,
    ) -> None:
        self._on_run = on_run
        self._set, self._split, self._host = one, split, host
        self._places, self._options = places, options
        self._made: dict[tuple[str, str], TriggerRun] = {}
        self.first_error: str | None = None

    async def rows(self, description: str, queries: Sequence[TriggerQuery], runs: int) -> tuple[TriggerRow, ...]:
        """Return the rows of requests, in their order.

        Raises:
            StoppedError: a cap or a signal stopped the runs.
            SkillError: the runs cannot go on.
        """
        if not queries:
            return ()
        folder = self._places.runs(description)

        def kept(unit: Unit) -> TriggerRun | None:
            return self._made.get((description, unit.id)) or folder.kept(unit)

        def keep(unit: Unit, run: TriggerRun, query: TriggerQuery) -> None:
            self._made[description, unit.id] = run
            self.first_error = self.first_error or run.reason
            if self._on_run is not None:
                self._on_run(unit, run, query)
            folder.keep(unit, run)

        options = replace(self._options, runs=runs)
        runner = LocalTriggers(
            self._host,
            options,
            skills=(self._set.skill,),
            installed=self._places.installed(description),
            directory_of=folder.directory,
        )
        requests = replace(self._set, queries=tuple(queries))
        campaign = TriggerCampaign([requests], runner, options, kept=kept, on_run=keep)
        await campaign.run()
        if campaign.stopped is not None:
            raise StoppedError(campaign.stopped, campaign.signalled)
        return campaign.results({self._set.skill: self._split})[0].results


async def carried_out(work: Callable[[], Awaitable[None]], entered: object) -> None:
    """Carry out one task as a campaign does: a cap or a signal stops it.

    Raises:
        StoppedError: it was stopped.
        SkillError: the task raised it.
    """
    waiting = [work]

    async def carry(task: Callable[[], Awaitable[None]]) -> None:
        await task()

    workers = Workers(lambda: waiting.pop() if waiting else None, carry, jobs=1)
    await workers.run(entered)
    if workers.stopped is not None:
        raise StoppedError(workers.stopped, workers.signalled)
