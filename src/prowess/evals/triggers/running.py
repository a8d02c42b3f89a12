"""Runs trigger sets, and counts the choices of skills.

Each request is one task: its runs follow one another, so that it stops as soon as its result is settled. Requests run
beside each other.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from prowess.evals.campaigns.report import Unit
from prowess.evals.campaigns.workers import Workers
from prowess.evals.transcripts.transcript import RunTranscript
from prowess.evals.triggers.report import SkillTriggers
from prowess.evals.triggers.rows import QueryRuns, count_rows
from prowess.evals.triggers.shadows import AnsweredRequest
from prowess.evals.verdicts.judging import verdict_of
from prowess.evals.verdicts.verdict import VerdictName  # noqa: TC001 -- msgspec reads the types of fields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from prowess.evals.campaigns.report import StopReason
    from prowess.evals.triggers.split import TriggerSplit
    from prowess.evals.triggers.trigger_runs import TriggerOptions, TriggerRun, TriggerRunner
    from prowess.evals.triggers.trigger_set import TriggerQuery, TriggerSet

_NOTHING = RunTranscript(host=None, form=None, ended="completed")


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

    def add(self, verdicts: Mapping[str, VerdictName], reason: str | None = None) -> None:
        self.runs.append(verdicts)
        self.counted.add(verdicts[self.skill], reason)


class TriggerCampaign:
    """The requests of one or more trigger sets.

    `kept` returns a run of an earlier campaign that is continued, or None. `on_run` is called with each run that is
    made, and its request. `recorded` tells whether an unfinished recording that is
    replayed has a run; None if it may be made in any case.
    """

    def __init__(
        self,
        sets: Sequence[TriggerSet],
        runner: TriggerRunner,
        options: TriggerOptions,
        *,
        kept: Callable[[Unit], TriggerRun | None] | None = None,
        on_run: Callable[[Unit, TriggerRun, TriggerQuery], object] | None = None,
        recorded: Callable[[Unit], bool] | None = None,
    ) -> None:
        self._sets, self._runner, self._options = sets, runner, options
        self._kept, self._on_run, self._recorded = kept, on_run, recorded
        self._requests = [_Request(one.skill, query, options) for one in sets for query in one.queries]
        self._waiting = list(self._requests)
        self.stopped: StopReason | None = None
        self.signalled: int | None = None

    async def run(self) -> None:
        """Run all requests.

        Raises:
            SkillError: the campaign cannot go on.
        """
        workers = Workers(self._next, self._run_request, jobs=self._runner.at_once)
        try:
            await workers.run(self._runner)
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
            elif self._recorded is None or self._recorded(request.unit(number)):
                found = await self._run(request.query, request.unit(number))
                request.add(found.verdicts, found.reason)

    async def _run(self, query: TriggerQuery, unit: Unit) -> TriggerRun:
        kept = None if self._kept is None else self._kept(unit)
        if kept is not None and kept.unit == unit.id:
            return kept
        found = await self._runner.run(query.query, unit)
        if self._on_run is not None:
            self._on_run(unit, found, query)
        return found
