"""Replays the units of a recorded iteration one at a time: no model, no network, and nothing is written into it."""

from __future__ import annotations

import os
from contextlib import ExitStack
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import anyio
from msgspec import Struct

from prowess._internal.files.open_flags import Closing
from prowess.distribution.installation.disk.trees import remove_tree
from prowess.errors import SkillError
from prowess.evals.campaigns.campaign import Campaign, LocalRunner, planned_units
from prowess.evals.campaigns.options import EvalRunOptions
from prowess.evals.campaigns.planning import plan_evals
from prowess.evals.campaigns.preparation import configurations_of, prepared_campaign
from prowess.evals.campaigns.unit_setting import gradable, unit_setting
from prowess.evals.iterations.fence import alone_in
from prowess.evals.ledger.opened_calls import opened_calls

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.evals.campaigns.iterations import Iteration
    from prowess.evals.campaigns.planning import PlannedEval
    from prowess.evals.campaigns.report import Unit, UnitResult
    from prowess.evals.campaigns.unit_run import UnitSetting
    from prowess.evals.replays.finding import RecordedIteration


class ReplayableUnit(Struct, frozen=True, kw_only=True):
    """A unit of the evals as they are now. `is_recorded` is false if its eval was added after the recording."""

    unit: Unit
    is_recorded: bool


class _Prepared(Struct, frozen=True, kw_only=True):
    plans: Mapping[str, PlannedEval]
    iteration: Iteration
    setting: UnitSetting


class IterationReplay(Closing):
    """Replays units of one iteration, which the first one prepares. Use it as a context manager, or call `close`."""

    def __init__(self, recorded: RecordedIteration) -> None:
        self._recorded = recorded
        self._opened = ExitStack()
        self._prepared: _Prepared | None = None
        self._fault: SkillError | None = None

    def units(self) -> tuple[ReplayableUnit, ...]:
        """Return the units in their order, without those that were not run because the comparison was decided before.

        Raises:
            SkillError: the evals of the skill cannot be read.
        """
        settings = self._recorded.settings
        outcomes = {unit.id: unit.outcome for unit in self._recorded.report.units}
        evals = plan_evals(self._recorded.root).evals
        planned = planned_units(evals, configurations_of(settings.baseline), settings.runs)
        return tuple(
            ReplayableUnit(unit=unit, is_recorded=unit.id in outcomes)
            for unit in planned
            if outcomes.get(unit.id) != "not_run"
        )

    def result(self, unit: Unit) -> UnitResult:
        """Replay and grade one unit.

        Raises:
            StaleRecordingError: a skill changed since the recording.
            DriftError: the unit made a request that was not recorded.
            SkillError: the evals, the journal or the host cannot be used.
            KeyboardInterrupt: a signal stopped it.
        """
        prepared = self._ready()
        runner = LocalRunner(prepared.setting, at_once=1)
        campaign = Campaign([unit], prepared.plans, prepared.iteration, runner)
        anyio.run(campaign.run)
        if campaign.signalled is not None:
            raise KeyboardInterrupt
        return campaign.results[0]

    def close(self) -> None:
        """Remove the files of the replay."""
        self._opened.close()
        self._prepared = None

    def _ready(self) -> _Prepared:
        if self._fault is not None:
            raise self._fault
        if self._prepared is None:
            try:
                self._prepared = self._prepare()
            except SkillError as fault:
                self._fault = fault  # the same for every unit
                raise
        return self._prepared

    def _prepare(self) -> _Prepared:
        place = os.path.realpath(mkdtemp(prefix="prowess-replay-"))
        self._opened.callback(remove_tree, place)
        recorded = self._recorded
        options = EvalRunOptions(path=recorded.root, neighbours=recorded.neighbours, out=place, replay=recorded.path)
        prepared = prepared_campaign(options)
        fence = self._opened.enter_context(alone_in(prepared.iteration.path))
        calls = opened_calls(fence, prepared.header, options.caps, replay=recorded.path)
        self._opened.callback(calls.close)
        is_judged = prepared.settings.judge is not None
        plans = {plan.id: gradable(plan, judged=is_judged) for plan in prepared.evals}
        setting = unit_setting(options, prepared, calls)
        return _Prepared(plans=plans, iteration=prepared.iteration, setting=setting)
