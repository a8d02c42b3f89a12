"""`prowess eval run` as a function: from the options to the report."""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import anyio
from msgspec import Struct
from msgspec.structs import replace

from prowess.agent import model_named
from prowess.errors import InvalidArgumentsError
from prowess.evals.campaigns.benchmark import benchmark_of
from prowess.evals.campaigns.campaign import Campaign, Decider, planned_units
from prowess.evals.campaigns.chosen_host import chosen_host, model_price
from prowess.evals.campaigns.contamination import SkillTraces
from prowess.evals.campaigns.feedback import read_feedback
from prowess.evals.campaigns.planning import UngradedCheck
from prowess.evals.campaigns.preparation import prepared_campaign
from prowess.evals.campaigns.report import OLD_SKILL, WITH_SKILL, EvalRunReport
from prowess.evals.campaigns.summary import summary_of
from prowess.evals.campaigns.unit_run import UnitSetting
from prowess.evals.graders.judge import Judge
from prowess.evals.hosts.host import HostLimits
from prowess.evals.iterations.folders import alone_in, iterations, write_json
from prowess.evals.ledger.ledger_model import LedgerModel
from prowess.evals.ledger.opened_calls import opened_calls
from prowess.evals.ledger.prices import price_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.evals.campaigns.iterations import CampaignSettings
    from prowess.evals.campaigns.options import EvalRunOptions
    from prowess.evals.campaigns.planning import PlannedEval
    from prowess.evals.campaigns.preparation import PreparedCampaign
    from prowess.evals.campaigns.report import UnitResult
    from prowess.evals.ledger.caps import Spent
    from prowess.evals.ledger.ledger import Ledger
    from prowess.evals.ledger.recorded_calls import RecordedCalls

_NO_JUDGE = "its assertions need a judge; name one with --judge MODEL"


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
    on_begin: Callable[[int, Callable[[], Spent]], object] | None = None,
    on_result: Callable[[UnitResult], object] | None = None,
) -> EvalRun:
    """Run the evals of a skill with it and with its baseline, and write the files of the iteration.

    Before the first run, `on_begin` gets the number of runs, and a function that returns the cost so far, with calls of
    the judge. `on_result` gets each result.

    Raises:
        SuiteError: there is no suite, or it cannot be read.
        InvalidArgumentsError: an option, the suite or the folder cannot be used.
        JournalError: the journal cannot be used, or was made by a campaign of other settings.
        DriftError, StaleRecordingError: a replayed campaign differs from the recording.
    """
    prepared = prepared_campaign(options)
    with ExitStack() as opened:
        opened.enter_context(alone_in(prepared.iteration.path))
        calls = opened_calls(prepared.iteration.path, prepared.header, options.caps, replay=options.replay)
        opened.callback(calls.close)
        try:
            setting = unit_setting(options, prepared, calls)
            feedback = _feedback(prepared.iteration.path)
        except InvalidArgumentsError:
            if prepared.is_new:  # nothing began, so nothing is left to be resumed
                shutil.rmtree(prepared.iteration.path, ignore_errors=True)
            raise
        report, signalled = _run(options, prepared, calls, setting, on_begin=on_begin, on_result=on_result)
    return EvalRun(report=report, signalled=signalled, feedback=feedback)


def _run(
    options: EvalRunOptions,
    prepared: PreparedCampaign,
    calls: Ledger | RecordedCalls,
    setting: UnitSetting,
    *,
    on_begin: Callable[[int, Callable[[], Spent]], object] | None,
    on_result: Callable[[UnitResult], object] | None,
) -> tuple[EvalRunReport, int | None]:
    settings = prepared.settings
    plans = {plan.id: gradable(plan, judged=settings.judge is not None) for plan in prepared.evals}
    units = planned_units(plans.values(), prepared.configurations, settings.runs)
    if on_begin is not None:
        on_begin(len(units), lambda: calls.spent)
    decider = Decider(units, detect=settings.detect) if settings.until_decided else None
    campaign = Campaign(units, plans, setting, jobs=options.jobs, decider=decider, on_result=on_result)
    anyio.run(campaign.run)
    results = campaign.results
    summary = summary_of(
        results,
        seed=settings.seed,
        decision=None if decider is None else decider.decision,
        faults=[f"eval {plan.id}: {plan.fault}" for plan in plans.values() if plan.fault is not None],
        min_pass_rate=options.min_pass_rate,
        min_delta=options.min_delta,
    )
    report = EvalRunReport(
        complete=campaign.stopped is None,
        stopped=campaign.stopped,
        skill=settings.skill,
        model=settings.model,
        host=settings.host,
        seed=settings.seed,
        spent=calls.spent,
        units=results,
        summary=summary,
        iteration=prepared.iteration.path,
    )
    _write(report, prepared)
    return report, campaign.signalled


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


def gradable(plan: PlannedEval, *, judged: bool) -> PlannedEval:
    """Return the plan with a fault if nothing could be graded, so that no call is paid for it."""
    if plan.fault is not None or any(
        not isinstance(one.check, UngradedCheck) and (judged or not one.is_judged) for one in plan.assertions
    ):
        return plan
    reasons = dict.fromkeys(one.check.reason for one in plan.assertions if isinstance(one.check, UngradedCheck))
    return replace(plan, fault=_NO_JUDGE if plan.is_judged else "; ".join(reasons))


def unit_setting(options: EvalRunOptions, prepared: PreparedCampaign, calls: Ledger | RecordedCalls) -> UnitSetting:
    """Return the common parts of the units of a campaign.

    Raises:
        InvalidArgumentsError: the host or a model cannot be used.
    """
    settings = prepared.settings
    return UnitSetting(
        iteration=prepared.iteration,
        host=chosen_host(
            settings.host,
            calls,
            model=settings.model,
            price=options.price,
            caps=options.caps,
            is_replay=options.replay is not None,
        ),
        skill=settings.skill,
        root=settings.root,
        skills=prepared.skills,
        traces=_traces(prepared),
        judge=_judge(options, settings, calls),
        spent=calls.unit_spent,
        limits=HostLimits(max_output_tokens=settings.max_output_tokens),
        seed=settings.seed,
    )


def _traces(prepared: PreparedCampaign) -> dict[str, SkillTraces]:
    """Return the traces of the skill in a baseline that saw it, by configuration."""
    found: dict[str, SkillTraces] = {}
    ours = prepared.skills[WITH_SKILL][0]
    for configuration in prepared.configurations[1:]:
        is_old = configuration == OLD_SKILL
        texts = prepared.texts_of(configuration)
        name = None if is_old else prepared.settings.skill
        found[configuration] = SkillTraces.of(name, [ours, prepared.settings.root], without=texts)
    return found


def _judge(
    options: EvalRunOptions, settings: CampaignSettings, calls: Ledger | RecordedCalls
) -> Callable[[str, int], Judge] | None:
    name = settings.judge
    if name is None:
        return None
    model = None if options.replay is not None else model_named(name)
    listed = None if model is None else price_of(model)
    price = listed or model_price(model, name, price=options.price, caps=options.caps)

    def judge(unit: str, run: int) -> Judge:
        booked = f"{unit}/judge"
        calls.begin(booked)
        own = LedgerModel(model, calls, booked, name=name, price=price)
        return Judge(own, seed=settings.seed + run - 1)

    return judge
