"""The common parts of the units of a campaign, made from its options, and evals that need no judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess.agent import model_named
from prowess.evals.campaigns.chosen_host import chosen_host, model_price
from prowess.evals.campaigns.contamination import SkillTraces
from prowess.evals.campaigns.report import OLD_SKILL, WITH_SKILL, UngradedAssertion
from prowess.evals.campaigns.unit_run import UnitSetting
from prowess.evals.graders.judge import Judge
from prowess.evals.hosts.host import HostLimits
from prowess.evals.ledger.ledger_model import LedgerModel
from prowess.evals.ledger.prices import price_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from prowess.evals.campaigns.iterations import CampaignSettings
    from prowess.evals.campaigns.options import EvalRunOptions
    from prowess.evals.campaigns.planning import PlannedEval
    from prowess.evals.campaigns.preparation import PreparedCampaign
    from prowess.evals.ledger.ledger import Ledger
    from prowess.evals.ledger.recorded_calls import RecordedCalls

_NO_JUDGE = "its assertions need a judge; name one with --judge MODEL"


def gradable(plan: PlannedEval, *, judged: bool) -> PlannedEval:
    """Return the plan with a fault if no assertion could be graded, so that no call is paid for it."""
    reasons = [one.ungraded(judged=judged) for one in plan.assertions]
    if plan.fault is not None or None in reasons:
        return plan
    told = dict.fromkeys(reason for reason in reasons if reason is not None)
    return replace(plan, fault=_NO_JUDGE if plan.is_judged else "; ".join(told))


def ungraded_assertions(plans: Iterable[PlannedEval], *, judged: bool) -> tuple[UngradedAssertion, ...]:
    """Return the assertions that no run will count, of evals that run."""
    return tuple(
        UngradedAssertion(eval=plan.id, text=one.text, reason=reason)
        for plan in plans
        if plan.fault is None
        for one in plan.assertions
        if (reason := one.ungraded(judged=judged)) is not None
    )


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
