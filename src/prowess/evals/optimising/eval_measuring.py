"""Measures bodies: runs evals with a copy of the skill that has the body.

An eval passes if at least half of its runs pass. Runs that can no longer change that are not made. Finished runs are
kept, so that measuring the same again, or with more runs, makes only the runs that are missing.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess.evals.campaigns.campaign import Campaign, LocalRunner
from prowess.evals.campaigns.report import WITH_SKILL, Unit
from prowess.evals.campaigns.unit_files import ANSWER
from prowess.evals.iterations.snapshots import take_variant
from prowess.evals.optimising.bodies import body_of, with_body
from prowess.evals.optimising.eval_rows import EvalRow
from prowess.evals.optimising.measuring import StoppedError
from prowess.evals.statistics.curtailment import settled_rate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prowess.evals.campaigns.planning import PlannedEval
    from prowess.evals.campaigns.report import UnitResult
    from prowess.evals.campaigns.unit_run import UnitSetting
    from prowess.evals.triggers.split import TriggerSplit

_DOCUMENT = "SKILL.md"
_MOST_ANSWER = 2000  # characters of an answer that are kept


class EvalMeasurements:
    """Runs evals of one skill. `setting` is that of the first body, whose copy is installed.

    `first_error` is why the first run that is an error is one, if it is known. `on_result` is called with each result.
    """

    def __init__(
        self,
        setting: UnitSetting,
        split: TriggerSplit,
        *,
        jobs: int,
        on_result: Callable[[UnitResult], object] | None = None,
    ) -> None:
        self._on_result = on_result
        self._shown: set[str] = set()
        self._skills = dict(setting.skills)
        self._setting = replace(setting, skills=self._skills)
        self._split, self._jobs = split, jobs
        with open(os.path.join(self._skills[WITH_SKILL][0], _DOCUMENT), "rb") as file:
            self._document = file.read()
        self._first = body_of(self._document)
        self.first_error: str | None = None

    async def rows(self, text: str, cases: Sequence[PlannedEval], runs: int) -> tuple[EvalRow, ...]:
        """Return the rows of evals, in their order.

        Raises:
            StoppedError: a cap or a signal stopped the runs.
            SkillError: the runs cannot go on.
        """
        configuration = self._installed(text)
        found: dict[str, list[UnitResult]] = {plan.id: [] for plan in cases}
        for number in range(1, runs + 1):
            waiting = {plan.id: plan for plan in cases if _result(found[plan.id], runs) is None}
            units = [Unit(eval=ident, configuration=configuration, run=number) for ident in waiting]
            for result in await self._run(units, waiting) if units else ():
                found[result.eval].append(result)
                if result.outcome == "error":
                    self.first_error = self.first_error or result.reason
        return tuple(self._row(plan, found[plan.id], runs) for plan in cases)

    async def _run(self, units: Sequence[Unit], plans: dict[str, PlannedEval]) -> tuple[UnitResult, ...]:
        runner = LocalRunner(self._setting, at_once=self._jobs)
        campaign = Campaign(units, plans, self._setting.iteration, runner, on_result=self._show)
        await campaign.run()
        if campaign.stopped is not None:
            raise StoppedError(campaign.stopped, campaign.signalled)
        return campaign.results

    def _show(self, result: UnitResult) -> None:
        """Show a result once: a body that is measured again has its earlier results too."""
        if self._on_result is not None and result.id not in self._shown:
            self._shown.add(result.id)
            self._on_result(result)

    def _installed(self, text: str) -> str:
        """Install the skill with a body, unless it is there, and return the name of the configuration."""
        if text == self._first:
            return WITH_SKILL
        name = f"body-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
        if name not in self._skills:
            first, *neighbours = self._skills[WITH_SKILL]
            place = self._setting.iteration.skill_directory(name, self._setting.skill)
            take_variant(first, place, _DOCUMENT, with_body(self._document, text))
            self._skills[name] = (place, *neighbours)
        return name

    def _row(self, plan: PlannedEval, results: Sequence[UnitResult], runs: int) -> EvalRow:
        counted = [result for result in results if result.counted]
        failed = [result for result in counted if result.outcome == "failed"]
        return EvalRow(
            eval=plan.id,
            split=self._split.side_of(plan.id),
            runs=len(counted),
            passed_runs=len(counted) - len(failed),
            errors=len(results) - len(counted),
            passed=_result(results, runs),
            failing=tuple(row for row in failed[0].assertions if not row.passed) if failed else (),
            unused=sum(result.activated is False for result in counted),
            answer=self._answer(failed[0]) if failed else "",
        )

    def _answer(self, result: UnitResult) -> str:
        path = os.path.join(self._setting.iteration.path, result.directory or "", "outputs", ANSWER)
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                return file.read(_MOST_ANSWER)
        except OSError:
            return ""


def _result(results: Sequence[UnitResult], planned: int) -> bool | None:
    passed = sum(result.counted and result.outcome == "passed" for result in results)
    failed = sum(result.counted and result.outcome == "failed" for result in results)
    left = planned - len(results)
    if not passed + failed:
        return None if left else False
    return settled_rate(passed, failed, left)
