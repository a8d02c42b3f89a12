"""Single runs of requests: a host with all skills of a campaign, an empty workspace, and the verdict on each skill."""

from __future__ import annotations

import os
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Protocol, Self

from anyio import to_thread
from msgspec import Struct

from prowess.evals.hosts.host import ENDS_CAMPAIGN, HostLimits, HostRequest
from prowess.evals.verdicts.judging import verdict_of
from prowess.evals.verdicts.verdict import VerdictName  # noqa: TC001 -- msgspec reads the types of fields

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.evals.campaigns.report import Unit
    from prowess.evals.hosts.host import Host, HostRun

RUNS = 3  # of each request, as in the guide


class TriggerOptions(Struct, frozen=True, kw_only=True):
    """How requests are run. `consistency` is the least share of equal outcomes of a request, None if any will do.

    With `all_runs`, requests are also run when their result can no longer change. Without `workspaces`, all runs share
    one directory, for a host that uses no files.
    """

    runs: int = RUNS
    jobs: int = 1
    seed: int = 0
    consistency: float | None = None
    all_runs: bool = False
    workspaces: bool = True
    limits: HostLimits = HostLimits()


class TriggerRun(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One run: the verdict on each skill that has a trigger set in this campaign. `reason` is why it is an error."""

    unit: str
    verdicts: dict[str, VerdictName]
    reason: str | None = None


class TriggerRunner(Protocol):
    """Runs requests, here or on other machines. If it is an async context manager, a campaign enters it once."""

    @property
    def at_once(self) -> int:
        """How many requests are run at the same time."""
        ...

    async def run(self, query: str, unit: Unit) -> TriggerRun:
        """Run a request once. A failure is the verdict `error`.

        Raises:
            SkillError: the campaign has to end.
        """
        ...


class LocalTriggers:
    """Runs requests in this process, on a host that is open while the runner is entered.

    `skills` are the names that get a verdict, `installed` the directories of all skills that each run has.
    `directory_of` returns the directory for the files of a unit, None if they are not kept.
    """

    def __init__(
        self,
        host: Host,
        options: TriggerOptions,
        *,
        skills: tuple[str, ...],
        installed: tuple[str, ...],
        directory_of: Callable[[Unit], str] | None = None,
    ) -> None:
        self._host, self._options, self.at_once = host, options, options.jobs
        self._skills, self._installed, self._directory_of = skills, installed, directory_of
        self._entered = AsyncExitStack()
        self._shared: str | None = None

    async def __aenter__(self) -> Self:
        """Enter the host if it is an async context manager."""
        if not self._options.workspaces:
            self._shared = self._entered.enter_context(TemporaryDirectory(prefix="prowess-triggers-"))
        if isinstance(self._host, AbstractAsyncContextManager):
            await self._entered.enter_async_context(self._host)
        return self

    async def __aexit__(self, *failure: object) -> None:
        """Leave the host."""
        await self._entered.aclose()

    async def run(self, query: str, unit: Unit) -> TriggerRun:
        """As in `TriggerRunner`.

        Raises:
            CapReachedError, DriftError, JournalError, InvalidArgumentsError: the campaign has to end.
        """
        try:
            ran = await self._made(query, unit)
            reason = ran.error
        except ENDS_CAMPAIGN:
            raise
        except Exception as fault:  # noqa: BLE001 -- whatever breaks in one run, the others go on
            ran, reason = None, f"{type(fault).__name__}: {fault}"
        verdicts: dict[str, VerdictName] = dict.fromkeys(self._skills, "error")
        if ran is not None and reason is None:
            verdicts = {name: verdict_of(ran.transcript, skill=name, query=query).verdict for name in self._skills}
        return TriggerRun(unit=unit.id, verdicts=verdicts, reason=reason)

    async def _made(self, query: str, unit: Unit) -> HostRun:
        if self._shared is not None:
            return await self._ask(query, unit, self._shared)
        with TemporaryDirectory(prefix="prowess-triggers-", ignore_cleanup_errors=True) as made:
            return await self._ask(query, unit, await to_thread.run_sync(os.path.realpath, made))

    async def _ask(self, query: str, unit: Unit, place: str) -> HostRun:
        """Run the host with a workspace in the directory `place`."""
        workspace, other = os.path.join(place, "workspace"), os.path.join(place, "run")
        directory = other if self._directory_of is None else self._directory_of(unit)
        for made in (workspace, directory):
            os.makedirs(made, exist_ok=True)
        request = HostRequest(
            unit=unit.id,
            prompt=query,
            skills=self._installed,
            workspace=workspace,
            directory=directory,
            limits=self._options.limits,
            seed=self._options.seed + unit.run - 1,
        )
        return await self._host.run(request)
