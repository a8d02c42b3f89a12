"""`prowess eval run` as a function: from the options to the report."""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

import anyio
from msgspec import Struct
from msgspec.structs import replace

from prowess.errors import InvalidArgumentsError, SkillError
from prowess.evals.campaigns.benchmark import benchmark_of
from prowess.evals.campaigns.campaign import Campaign, Decider, planned_units
from prowess.evals.campaigns.feedback import read_feedback
from prowess.evals.campaigns.preparation import prepared_campaign
from prowess.evals.campaigns.report import EvalRunReport
from prowess.evals.campaigns.summary import summary_of
from prowess.evals.campaigns.unit_setting import gradable, ungraded_assertions
from prowess.evals.iterations.fence import alone_in
from prowess.evals.iterations.folders import iterations, write_json
from prowess.evals.ledger.opened_calls import opened_calls, spent_by_all
from prowess.evals.remote.campaign_units import forget_locks
from prowess.evals.remote.engine import require_workers_are_needed
from prowess.evals.remote.eval_units import unit_runner
from prowess.evals.reports.iteration_files import read_report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from prowess.evals.campaigns.campaign import UnitRunner
    from prowess.evals.campaigns.iterations import Iteration
    from prowess.evals.campaigns.options import EvalRunOptions
    from prowess.evals.campaigns.planning import PlannedEval
    from prowess.evals.campaigns.preparation import PreparedCampaign
    from prowess.evals.campaigns.report import StopReason, UngradedAssertion, Unit, UnitResult
    from prowess.evals.ledger.caps import Spent
    from prowess.evals.ledger.ledger import Ledger
    from prowess.evals.ledger.recorded_calls import RecordedCalls
    from prowess.evals.remote.engine import CancellableEngine


class EvalRun(Struct, frozen=True, kw_only=True):
    """A campaign that ended.

    `signalled` is the number of the signal that stopped it, or None. `feedback` has the wishes of a person in the
    newest earlier iteration that has feedback, by eval directory, without the evals that were accepted.
    """

    report: EvalRunReport
    signalled: int | None
    feedback: dict[str, str]


def run_evals(
    options: EvalRunOptions,
    *,
    engine: CancellableEngine | None = None,
    on_begin: Callable[[int, Callable[[], Spent]], object] | None = None,
    on_result: Callable[[UnitResult], object] | None = None,
    on_ungraded: Callable[[tuple[UngradedAssertion, ...]], object] | None = None,
) -> EvalRun:
    """Run the evals of a skill with it and with its baseline, and write the files of the iteration.

    With an engine, its workers run the units. They share the folders of the skill and of the results.
    Before the first run, `on_begin` gets the number of runs, and a function that returns the cost so far, with calls of
    the judge. `on_result` gets each result. If some assertions cannot be graded, `on_ungraded` gets them before the
    first call.

    Raises:
        SuiteError: there is no suite, or it cannot be read.
        InvalidArgumentsError: an option, the suite or the folder cannot be used.
        JournalError: the journal cannot be used, or was made by a campaign of other settings.
        DriftError, StaleRecordingError: a replayed campaign differs from the recording.
        UnavailableError: the engine cannot go on.
    """
    if engine is not None:
        require_workers_are_needed(replay=options.replay)
    prepared = prepared_campaign(options)
    with ExitStack() as opened:
        fence = opened.enter_context(alone_in(prepared.iteration.path))
        try:
            calls = opened_calls(fence, prepared.header, options.caps, replay=options.replay)
            opened.callback(calls.close)
            runner = unit_runner(options, prepared, calls, engine, fence)
            feedback = _feedback(prepared.iteration.path)
        except SkillError:
            if prepared.is_new:  # nothing began, so nothing is left to be resumed
                shutil.rmtree(prepared.iteration.path, ignore_errors=True)
            raise
        report, signalled = _run(
            options, prepared, calls, runner, on_begin=on_begin, on_result=on_result, on_ungraded=on_ungraded
        )
    return EvalRun(report=report, signalled=signalled, feedback=feedback)


def _run(
    options: EvalRunOptions,
    prepared: PreparedCampaign,
    calls: Ledger | RecordedCalls,
    runner: UnitRunner,
    *,
    on_begin: Callable[[int, Callable[[], Spent]], object] | None,
    on_result: Callable[[UnitResult], object] | None,
    on_ungraded: Callable[[tuple[UngradedAssertion, ...]], object] | None,
) -> tuple[EvalRunReport, int | None]:
    settings = prepared.settings
    plans = {plan.id: gradable(plan, judged=settings.judge is not None) for plan in prepared.evals}
    ungraded = ungraded_assertions(plans.values(), judged=settings.judge is not None)
    if on_ungraded is not None and ungraded:
        on_ungraded(ungraded)
    units = planned_units(plans.values(), prepared.configurations, settings.runs)
    if on_begin is not None:
        on_begin(len(units), partial(spent_by_all, calls))
    decider = Decider(units, detect=settings.detect) if settings.until_decided else None
    recording = None if options.replay is None else _Recording.of(options.replay, prepared.iteration, units, plans)
    missing = frozenset() if recording is None else recording.missing
    campaign = Campaign(
        units, plans, prepared.iteration, runner, decider=decider, on_result=on_result, unrecorded=missing
    )
    anyio.run(campaign.run)
    results = campaign.results
    lacks = recording is not None and recording.missing and (decider is None or decider.decision == "open")
    summary = summary_of(
        results,
        seed=settings.seed,
        decision=None if decider is None else decider.decision,
        faults=[f"eval {plan.id}: {plan.fault}" for plan in plans.values() if plan.fault is not None],
        ungraded=ungraded,
        min_pass_rate=options.min_pass_rate,
        min_delta=options.min_delta,
    )
    report = EvalRunReport(
        complete=campaign.stopped is None and not lacks,
        stopped=campaign.stopped or (recording.stopped if recording is not None and lacks else None),
        skill=settings.skill,
        model=settings.model,
        host=settings.host,
        seed=settings.seed,
        spent=spent_by_all(calls),
        units=results,
        summary=summary,
        iteration=prepared.iteration.path,
    )
    _write(report, prepared)
    return report, campaign.signalled


class _Recording(Struct, frozen=True, kw_only=True):
    """The ids of units without a result in a recording, and the cap or signal that ended it, if known."""

    missing: frozenset[str]
    stopped: StopReason | None

    @classmethod
    def of(cls, path: str, iteration: Iteration, units: Iterable[Unit], plans: Mapping[str, PlannedEval]) -> _Recording:
        """Read the folder of the recording. A unit that failed to run is replayed as well."""
        recorded = replace(iteration, path=path)
        places = {unit.id: recorded.directory(unit, plans[unit.eval].directory) for unit in units}
        missing = frozenset(name for name, place in places.items() if not recorded.has_result(place))
        try:
            stopped = read_report(path).stopped if missing else None
        except InvalidArgumentsError:  # it was killed, and has no report
            stopped = None
        return cls(missing=missing, stopped=stopped)


def _feedback(path: str) -> dict[str, str]:
    own = os.path.realpath(path)
    for _, earlier in reversed(iterations(os.path.dirname(own))):
        if os.path.realpath(earlier) != own and (found := read_feedback(earlier)):
            return {name: text for name, text in found.items() if text.strip()}
    return {}


def _write(report: EvalRunReport, prepared: PreparedCampaign) -> None:
    settings = prepared.settings
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    data = benchmark_of(
        report, prepared.evals, root=settings.root, runs=settings.runs, judge=settings.judge, timestamp=now
    )
    write_json(os.path.join(prepared.iteration.path, "benchmark.json"), data)
    prepared.iteration.finish(report)
    if report.complete:
        forget_locks(prepared.iteration.path)
