"""Runs trigger sets on a host, and counts the choices of skills.

Each request is one task: its runs follow one another, so that it stops as soon as its result is settled. Requests run
beside each other. Every run has an empty workspace of its own. All skills of a campaign are installed in every run.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import ExitStack
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from anyio import to_thread
from msgspec import Struct

from prowess.evals.campaigns.report import Unit
from prowess.evals.campaigns.workers import Workers
from prowess.evals.hosts.host import ENDS_CAMPAIGN, HostLimits, HostRequest
from prowess.evals.transcripts.transcript import RunTranscript
from prowess.evals.triggers.report import SkillTriggers
from prowess.evals.triggers.rows import QueryRuns, count_rows
from prowess.evals.triggers.shadows import AnsweredRequest
from prowess.evals.verdicts.judging import verdict_of
from prowess.evals.verdicts.verdict import VerdictName  # noqa: TC001 -- msgspec reads the types of fields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from prowess.evals.campaigns.report import StopReason
    from prowess.evals.hosts.host import Host, HostRun
    from prowess.evals.triggers.split import TriggerSplit
    from prowess.evals.triggers.trigger_set import TriggerQuery, TriggerSet

RUNS = 3  # of each request, as in the guide
_NOTHING = RunTranscript(host=None, form=None, ended="completed")


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


class TriggerRun(Struct, frozen=True, kw_only=True):
    """One run: the verdict on each skill that has a trigger set in this campaign."""

    unit: str
    verdicts: dict[str, VerdictName]


class _Request:
    """One request for one skill, with its runs so far."""

    def __init__(self, skill: str, query: TriggerQuery, options: TriggerOptions) -> None:
        self.skill, self.query = skill, query
        self.counted = QueryRuns(query, options.runs, options.consistency)
        self.runs: list[Mapping[str, VerdictName]] = []
        self.cut_short = False

    def unit(self, number: int) -> Unit:
        """Return a unit. Its id depends on the text alone, so an edited set keeps the runs of its other requests."""
        digest = hashlib.sha256(self.query.query.encode("utf-8", "surrogatepass")).hexdigest()
        return Unit(eval=f"request-{digest[:16]}", configuration=self.skill, run=number)

    def add(self, verdicts: Mapping[str, VerdictName]) -> None:
        self.runs.append(verdicts)
        self.counted.add(verdicts[self.skill])


class TriggerCampaign:
    """The requests of one or more trigger sets on one host.

    `installed` are the directories of all skills that each run has. `directory_of` returns the directory for the files
    of a unit, None if they are not kept. `kept` returns a run of an earlier campaign that is continued, or None.
    """

    def __init__(
        self,
        sets: Sequence[TriggerSet],
        host: Host,
        *,
        installed: Sequence[str],
        options: TriggerOptions,
        directory_of: Callable[[Unit], str] | None = None,
        kept: Callable[[Unit], TriggerRun | None] | None = None,
        on_run: Callable[[Unit, TriggerRun], object] | None = None,
    ) -> None:
        self._sets, self._host, self._installed, self._options = sets, host, tuple(installed), options
        self._directory_of, self._kept, self._on_run = directory_of, kept, on_run
        self._names = [one.skill for one in sets]
        self._requests = [_Request(one.skill, query, options) for one in sets for query in one.queries]
        self._waiting = list(self._requests)
        self._scratch: str | None = None
        self.stopped: StopReason | None = None
        self.signalled: int | None = None

    async def run(self) -> None:
        """Run all requests.

        Raises:
            SkillError: the campaign cannot go on.
        """
        workers = Workers(self._next, self._run_request, jobs=self._options.jobs)
        with ExitStack() as entered:
            if not self._options.workspaces:
                self._scratch = entered.enter_context(TemporaryDirectory(prefix="prowess-triggers-"))
            try:
                await workers.run(self._host)
            finally:
                self.stopped, self.signalled = workers.stopped, workers.signalled

    @property
    def complete(self) -> bool:
        """Whether every request has its result."""
        return all(request.counted.result() is not None for request in self._requests)

    def answered(self) -> list[AnsweredRequest]:
        """Return the verdicts of the requests that are for a skill, for the matrix."""
        wanted = [request for request in self._requests if request.query.should_trigger]
        return [AnsweredRequest(skill=one.skill, query=one.query.query, runs=tuple(one.runs)) for one in wanted]

    def results(self, splits: Mapping[str, TriggerSplit]) -> tuple[SkillTriggers, ...]:
        """Return the rows of each skill, in the order of its set."""
        found: list[SkillTriggers] = []
        for one in self._sets:
            split = splits[one.skill]
            rows = tuple(
                request.counted.row(split.side_of(request.query.query), curtailed=request.cut_short)
                for request in self._requests
                if request.skill == one.skill
            )
            found.append(
                SkillTriggers(
                    skill=one.skill,
                    description=one.description,
                    results=rows,
                    summary=count_rows(rows),
                    advice=one.advice(),
                )
            )
        return tuple(found)

    def _next(self) -> _Request | None:
        return self._waiting.pop(0) if self._waiting else None

    async def _run_request(self, request: _Request) -> None:
        known = verdict_of(_NOTHING, skill=request.skill, query=request.query.query)
        for number in range(1, self._options.runs + 1):
            if request.counted.result() is not None and not self._options.all_runs:
                request.cut_short = True
                return
            if known.verdict == "polluted":  # the request names the skill: no run can tell anything
                request.add({request.skill: "polluted"})
            else:
                request.add((await self._run(request.query.query, request.unit(number))).verdicts)

    async def _run(self, query: str, unit: Unit) -> TriggerRun:
        kept = None if self._kept is None else self._kept(unit)
        if kept is not None and kept.unit == unit.id:
            return kept
        try:
            ran = await self._made(query, unit)
        except ENDS_CAMPAIGN:
            raise
        except Exception:  # noqa: BLE001 -- whatever breaks in one run, the others go on
            ran = None
        verdicts: dict[str, VerdictName] = dict.fromkeys(self._names, "error")
        if ran is not None and ran.error is None:
            verdicts = {name: verdict_of(ran.transcript, skill=name, query=query).verdict for name in self._names}
        found = TriggerRun(unit=unit.id, verdicts=verdicts)
        if self._on_run is not None:
            self._on_run(unit, found)
        return found

    async def _made(self, query: str, unit: Unit) -> HostRun:
        if self._scratch is not None:
            return await self._ask(query, unit, self._scratch)
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
