"""One unit: a clean workspace, one run of the host, the grades, and the files of both.

A failure in a unit is its outcome, and no other unit is affected. Only errors that end the campaign are raised.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from prowess.agent import ModelError
from prowess.distribution.installation.disk.trees import remove_tree
from prowess.errors import InvalidArgumentsError
from prowess.evals.campaigns.planning import NO_JUDGE, JudgedCheck, TextCheck, UngradedCheck
from prowess.evals.campaigns.report import GradedAssertion, UngradedAssertion, UnitResult
from prowess.evals.campaigns.unit_files import (
    new_workspace,
    prepare_workspace,
    write_grading,
    write_metadata,
    write_outputs,
    write_timing,
)
from prowess.evals.graders.code import USING, grade_by_code, text_grade
from prowess.evals.graders.material import RunMaterial
from prowess.evals.graders.programs import grade_by_program
from prowess.evals.hosts.host import HostLimits, HostRequest
from prowess.evals.scenarios.assertions import AssertionUndecidedError
from prowess.evals.scenarios.workspaces import digests
from prowess.evals.verdicts.judging import verdict_of
from prowess.format.suites.grader_specs import JudgedGrader, ProgramGrader

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from prowess.evals.campaigns.contamination import SkillTraces
    from prowess.evals.campaigns.iterations import Iteration
    from prowess.evals.campaigns.planning import PlannedAssertion, PlannedEval
    from prowess.evals.campaigns.report import Unit
    from prowess.evals.graders.judge import Judge
    from prowess.evals.hosts.host import Host, HostRun
    from prowess.evals.ledger.caps import UnitSpent
    from prowess.evals.scenarios.report import Grade
    from prowess.evals.scenarios.workspaces import FileDigests

_NOTHING_HERE = "no assertion of the eval can be graded in this configuration, so no call was made"


class UnitSetting(Struct, frozen=True, kw_only=True):
    """The common parts of all units of a campaign.

    `skills` are the directories to install, by configuration. `traces` are those of the skill in a baseline. `judge`
    returns the judge of a unit, None if there is none. `spent` returns the cost of a unit.
    """

    iteration: Iteration
    host: Host
    skill: str
    root: str
    skills: Mapping[str, tuple[str, ...]]
    traces: Mapping[str, SkillTraces]
    judge: Callable[[str, int], Judge] | None
    spent: Callable[[str], UnitSpent]
    limits: HostLimits
    seed: int


class _Grades(Struct, kw_only=True):
    """Grades as they come: results by the place of the assertion, and those that could not be graded."""

    results: dict[int, GradedAssertion]
    ungraded: list[UngradedAssertion]
    undecided: list[str]


async def run_unit(plan: PlannedEval, unit: Unit, setting: UnitSetting) -> UnitResult:
    """Run and grade one unit, and write its files.

    Raises:
        CapReachedError, DriftError, JournalError: the campaign has to end.
    """
    iteration = setting.iteration
    directory = iteration.directory(unit, plan.directory)
    folder = await to_thread.run_sync(iteration.fresh, directory)
    try:
        return await _run_in(folder, directory, plan, unit, setting)
    finally:  # not before the run, because the assertions are in these files
        for place in {os.path.join(iteration.path, plan.directory), os.path.dirname(folder)}:
            write_metadata(place, plan)


async def _run_in(folder: str, directory: str, plan: PlannedEval, unit: Unit, setting: UnitSetting) -> UnitResult:
    base = UnitResult(
        id=unit.id, eval=unit.eval, configuration=unit.configuration, run=unit.run, outcome="error", directory=directory
    )
    if plan.fault is not None:
        return _failed(base, folder, setting, plan.fault, 0.0)
    workspace = await to_thread.run_sync(new_workspace)
    try:
        return await _UnitRun(plan, unit, setting, folder, workspace).result(base)
    finally:
        with suppress(OSError):  # it stays in the temporary directory of the system
            await to_thread.run_sync(remove_tree, workspace)


def _failed(
    base: UnitResult,
    folder: str,
    setting: UnitSetting,
    reason: str,
    seconds: float,
    *,
    outcome: Literal["error", "not_run"] = "error",
) -> UnitResult:
    spent = setting.spent(base.id)
    tokens = spent.input_tokens + spent.output_tokens
    write_timing(folder, tokens=tokens, seconds=seconds)
    write_grading(folder, (), error=reason)
    result = replace(base, outcome=outcome, reason=reason, seconds=round(seconds, 3), tokens=tokens, usd=spent.usd)
    result = replace(result, replayed_calls=spent.replayed_calls)
    setting.iteration.keep(base.directory or "", result)
    return result


class _UnitRun:
    """One run of one unit."""

    def __init__(self, plan: PlannedEval, unit: Unit, setting: UnitSetting, folder: str, workspace: str) -> None:
        self._plan, self._unit, self._setting = plan, unit, setting
        self._folder, self._workspace = folder, workspace

    async def result(self, base: UnitResult) -> UnitResult:
        """Run the host, grade, and write the files."""
        setting, unit = self._setting, self._unit
        judged = setting.judge is not None
        if all(one.ungraded(judged=judged) is not None for _, one in self._graded_here()):
            return _failed(base, self._folder, setting, _NOTHING_HERE, 0.0, outcome="not_run")
        try:
            await to_thread.run_sync(prepare_workspace, self._workspace, setting.root, self._plan.files)
        except InvalidArgumentsError as fault:
            return _failed(base, self._folder, setting, str(fault), 0.0)
        before = await to_thread.run_sync(digests, self._workspace)
        ran = await setting.host.run(self._request())
        if ran.error is not None:
            return _failed(base, self._folder, setting, ran.error, ran.seconds)
        material = await self._material(ran, before)
        await to_thread.run_sync(write_outputs, self._folder, material)
        grades = _Grades(results={}, ungraded=[], undecided=[])
        await self._by_code(material, grades)
        spent = setting.spent(unit.id)
        try:
            await self._by_judge(material, grades)
        except ModelError as fault:
            return _failed(base, self._folder, setting, str(fault), ran.seconds)
        results = tuple(grades.results[place] for place in sorted(grades.results))
        reason = self._reason(grades)
        if reason is not None:
            return _failed(base, self._folder, setting, reason, ran.seconds)
        write_grading(self._folder, results, grades.ungraded)
        tokens = spent.input_tokens + spent.output_tokens
        write_timing(self._folder, tokens=tokens, seconds=ran.seconds)
        final = replace(
            base,
            outcome="passed" if all(row.passed for row in results) else "failed",
            assertions=results,
            seconds=round(ran.seconds, 3),
            tokens=tokens,
            usd=spent.usd,
            replayed_calls=spent.replayed_calls,
            activated=self._activated(ran),
            contaminated=self._contaminated(ran),
            transcript=_below(self._folder, ran.transcript_path),
        )
        setting.iteration.keep(base.directory or "", final)
        return final

    def _request(self) -> HostRequest:
        setting = self._setting
        return HostRequest(
            unit=self._unit.id,
            prompt=self._plan.prompt,
            skills=setting.skills[self._unit.configuration],
            workspace=self._workspace,
            directory=self._folder,
            limits=setting.limits,
            seed=setting.seed + self._unit.run - 1,  # the same for both configurations of a pair
        )

    async def _material(self, ran: HostRun, before: FileDigests) -> RunMaterial:
        spent = self._setting.spent(self._unit.id)
        turns = {message.at for message in ran.transcript.messages if message.role == "assistant"}
        return RunMaterial(
            prompt=self._plan.prompt,
            expected_output=self._plan.expected_output,
            answer=ran.answer,
            transcript=ran.transcript,
            workspace=self._workspace,
            before=before,
            after=await to_thread.run_sync(digests, self._workspace),
            skill=self._setting.skill,
            root=self._setting.root,
            activated=tuple(dict.fromkeys(activation.skill for activation in ran.transcript.activations)),
            turns=len(turns | {call.at for call in ran.transcript.calls}),
            tokens=spent.input_tokens + spent.output_tokens,
            usd=spent.usd,
        )

    def _graded_here(self) -> list[tuple[int, PlannedAssertion]]:
        is_baseline = self._unit.configuration in self._setting.traces
        listed = enumerate(self._plan.assertions)
        return [(place, one) for place, one in listed if one.in_baseline or not is_baseline]

    async def _by_code(self, run: RunMaterial, grades: _Grades) -> None:
        for place, assertion in self._graded_here():
            check = assertion.check
            try:
                match check:
                    case JudgedCheck():
                        continue
                    case UngradedCheck(reason=reason):
                        grades.ungraded.append(self._ungraded(assertion, reason))
                        continue
                    case TextCheck(kind=kind, value=value):
                        grade = await to_thread.run_sync(text_grade, kind, value, run.answer)
                    case ProgramGrader():
                        grade = await grade_by_program(check, run)
                    case JudgedGrader():
                        continue  # planned as a JudgedCheck
                    case _:
                        grade = await to_thread.run_sync(grade_by_code, check, run)
            except AssertionUndecidedError as fault:
                grades.undecided.append(f"{assertion.text}: {fault}")
                continue
            grades.results[place] = _row(assertion, _type(assertion), grade)

    async def _by_judge(self, run: RunMaterial, grades: _Grades) -> None:
        asked = [(place, one) for place, one in self._graded_here() if isinstance(one.check, JudgedCheck)]
        if not asked or grades.undecided:
            return
        if self._setting.judge is None:
            grades.ungraded += [self._ungraded(one, NO_JUDGE) for _, one in asked]
            return
        judge = self._setting.judge(self._unit.id, self._unit.run)
        texts = [one.check.text for _, one in asked if isinstance(one.check, JudgedCheck)]
        for (place, one), grade in zip(asked, await judge.grades(texts, run), strict=True):
            grades.results[place] = _row(one, "judge", grade)

    def _ungraded(self, assertion: PlannedAssertion, reason: str) -> UngradedAssertion:
        return UngradedAssertion(eval=self._unit.eval, text=assertion.text, reason=reason)

    @staticmethod
    def _reason(grades: _Grades) -> str | None:
        """Return why the run has no outcome, or None."""
        if grades.undecided:
            return "; ".join(grades.undecided)
        if grades.results:
            return None
        reasons = dict.fromkeys(row.reason for row in grades.ungraded)
        return f"no assertion was graded: {'; '.join(reasons) or 'the eval has none for this configuration'}"

    def _activated(self, ran: HostRun) -> bool | None:
        verdict = verdict_of(ran.transcript, skill=self._setting.skill, query="").verdict
        if verdict == "error":
            return None
        return verdict in USING

    def _contaminated(self, ran: HostRun) -> str | None:
        traces = self._setting.traces.get(self._unit.configuration)
        return None if traces is None else traces.seen_in(ran.transcript, (self._plan.prompt,))


def _below(folder: str, path: str | None) -> str | None:
    return None if path is None else os.path.relpath(path, folder)


def _row(assertion: PlannedAssertion, kind: str, grade: Grade) -> GradedAssertion:
    return GradedAssertion(text=assertion.text, type=kind, passed=grade.passed, evidence=grade.evidence)


def _type(assertion: PlannedAssertion) -> str:
    check = assertion.check
    if isinstance(check, TextCheck):
        return check.kind
    return str(check.__struct_config__.tag)
