"""Run cases: a real session and agent for each, in a workspace of its own."""

from __future__ import annotations

import json
import os
import time
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import anyio
from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.text.terminal_text import printable_line
from prowess.agent import Agent, AssistantMessage, Budget, UserMessage, model_named
from prowess.catalog import Catalog
from prowess.errors import InvalidArgumentsError, SkillError
from prowess.evals.scenarios.assertions import AssertionUndecidedError, judged
from prowess.evals.scenarios.commands import REFUSALS, code_of, commands_of, tool_messages
from prowess.evals.scenarios.doubles import ModelDouble, doubled
from prowess.evals.scenarios.expectations import ObservedRun, met
from prowess.evals.scenarios.planning import planned_cases
from prowess.evals.scenarios.recordings import recorded_turns
from prowess.evals.scenarios.report import AssertionResult, CaseResult, GradedRun, TestReport
from prowess.evals.scenarios.workspaces import copy_workspace, digests
from prowess.tools.builtin import builtin_tools

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prowess.agent import AgentResult, Message, Model, ToolMessage
    from prowess.catalog.viewing.audience import AudienceKeywords
    from prowess.evals.scenarios.planning import PlannedCase
    from prowess.evals.scenarios.workspaces import FileDigests
    from prowess.format.suites.case_scripts import CaseScript

_NO_TURNS = "it has no turns; add them to evals/tests.yaml"
CASE_SECONDS = 120.0  # of one case
MOST_TURNS = 1000
_SHOWN = 200
_UNAVAILABLE = frozenset({"sandbox_unavailable", "store_unavailable"})


class TestConfiguration(Struct, frozen=True, kw_only=True):
    """Settings that replace those of the cases; None leaves a setting to the case.

    `model` is the name of a real model (`prowess.agent.model_named`), which then answers instead of the turns.
    """

    __test__ = False  # stops pytest from collecting this class

    name: str
    agent: str | None = None
    tenant: str | None = None
    environment: str | None = None
    tools: tuple[str, ...] | None = None
    model: str | None = None


PLAIN = TestConfiguration(name="as written")


def run_tests(*paths: str | os.PathLike[str], configuration: TestConfiguration = PLAIN) -> TestReport:
    """Run all cases of the skills in these directories, one after another.

    Raises:
        SkillParseError: a directory has no skill that can be loaded.
    """
    planned = [planned_cases(os.path.abspath(path), os.fspath(path)) for path in paths]
    cases = [case for plan in planned for case in plan.cases]
    results = anyio.run(_run_all, cases, configuration)
    return TestReport(cases=tuple(results), diagnostics=tuple(found for plan in planned for found in plan.diagnostics))


async def _run_all(cases: Iterable[PlannedCase], configuration: TestConfiguration) -> list[CaseResult]:
    return [await run_case(case, configuration) for case in cases]


async def run_case(plan: PlannedCase, configuration: TestConfiguration = PLAIN) -> CaseResult:
    """Run one case. Every fault of the case is an outcome, and no error is raised."""
    started = time.monotonic()
    result = CaseResult(skill=plan.skill, scenario=plan.scenario, case=plan.case, outcome="skipped", reason=_NO_TURNS)
    script = plan.script
    if script is None or (script.turns is None and script.recording is None and configuration.model is None):
        return result
    with TemporaryDirectory(prefix="prowess-test-") as made:
        place = _real(made)
        try:
            result = await _CaseRun(plan, script, configuration, place).outcome(result)
        except (SkillError, ValueError) as fault:  # ValueError: two tools of one name
            unavailable = isinstance(fault, SkillError) and fault.code in _UNAVAILABLE
            result = replace(result, outcome="error", reason=str(fault), unavailable=unavailable)
        result = _without_place(result, place)
    return replace(result, duration_ms=int((time.monotonic() - started) * 1000))


def _real(path: str) -> str:
    return os.path.realpath(path)


def _without_place(result: CaseResult, place: str) -> CaseResult:
    """Remove the path of the temporary directory, which differs between runs."""
    shown = [replace(one, evidence=one.evidence.replace(place, "…")) for one in result.assertions]
    reason = None if result.reason is None else result.reason.replace(place, "…")
    return replace(result, assertions=tuple(shown), reason=reason)


class _CaseRun:
    """One run of one case in the temporary directory `place`."""

    def __init__(self, plan: PlannedCase, script: CaseScript, configuration: TestConfiguration, place: str) -> None:
        self._plan, self._script, self._configuration, self._place = plan, script, configuration, place
        self._workspace = os.path.join(place, "workspace")
        self._misses: list[str] = []
        self._double: ModelDouble | None = None

    async def outcome(self, result: CaseResult) -> CaseResult:
        copy_workspace(self._plan.directory, self._script.workspace, self._workspace)
        before = digests(self._workspace)
        model, catalog = self._model(), self._catalog()
        ran = await self._agent(model, catalog).run(self._plan.input)
        if (reason := self._error(ran)) is not None:
            unavailable = any(code_of(message) in _UNAVAILABLE for message in tool_messages(ran.transcript))
            return replace(result, outcome="error", reason=reason, unavailable=unavailable)
        if self._double is not None and self._double.unmet is not None:
            return _unmet(result, self._double.unmet, ran)
        names = frozenset(entry.name for entry in catalog.seen_by(**self._audience()).entries())
        requests = () if self._double is None else tuple(self._double.requests)
        return self._judged(result, self._graded(ran, before), ObservedRun(result=ran, requests=requests, names=names))

    def _graded(self, ran: AgentResult, before: FileDigests) -> GradedRun:
        after = digests(self._workspace)
        return GradedRun(
            result=ran,
            workspace=self._workspace,
            created=tuple(sorted(after.keys() - before.keys())),
            modified=tuple(sorted(path for path in after.keys() & before.keys() if after[path] != before[path])),
            commands=tuple(commands_of(ran.transcript)),
        )

    def _judged(self, result: CaseResult, graded: GradedRun, observed: ObservedRun) -> CaseResult:
        found: list[AssertionResult] = []
        undecided: list[str] = []
        for assertion in self._plan.assertions:
            try:
                found.append(judged(assertion, graded))
            except AssertionUndecidedError as fault:
                undecided.append(str(fault))
        found += [met(expectation, observed) for expectation in self._script.expect]
        failed = next((one for one in found if not one.passed), None)
        if undecided:
            return replace(result, outcome="error", reason="; ".join(undecided), assertions=tuple(found))
        if failed is None:
            return replace(result, outcome="passed", reason=None, assertions=tuple(found))
        told = json.dumps(failed.value, ensure_ascii=False)
        reason = f"{failed.type} {told}: {failed.evidence}{_refusals(observed.result)}"
        return replace(result, outcome="failed", reason=reason, assertions=tuple(found))

    def _error(self, ran: AgentResult) -> str | None:
        """Return why the run is no statement about the skill, or None."""
        if self._misses:
            return self._misses[0]
        expected = {name for one in self._script.expect for name in (one.refused, one.called)}
        for message in tool_messages(ran.transcript):
            code = code_of(message)
            if code == "sandbox_unavailable" or (code == "tool_not_found" and message.call.name not in expected):
                return message.result.error
        if self._double is None:
            return None if ran.answered else ran.reason
        return self._error_of_double(self._double, ran)

    def _error_of_double(self, double: ModelDouble, ran: AgentResult) -> str | None:
        played = len(double.requests)
        if double.unmet is not None:
            return None
        if double.left < 0:
            return f"the model is asked for turn {played}, and the case has {played - 1}"
        if double.left > 0 and ran.answered:
            return f"the run ended with turn {played}, and the case has {played + double.left}"
        return None if ran.answered or ran.ended in ("empty_answer", "repeated_failure") else ran.reason

    def _model(self) -> Model:
        if self._configuration.model is not None:
            return model_named(self._configuration.model)
        turns = self._script.turns
        if turns is None:
            turns = recorded_turns(self._plan.directory, self._script.recording or "")
        self._double = ModelDouble(turns)
        return self._double

    def _catalog(self) -> Catalog:
        neighbours = [_neighbour(self._plan.directory, path) for path in self._script.context.neighbours]
        return Catalog(self._plan.directory, *neighbours, index=False)

    def _audience(self) -> AudienceKeywords:
        chosen, context = self._configuration, self._script.context
        return {
            "agent": chosen.agent or context.agent,
            "tenant": chosen.tenant or context.tenant,
            "environment": chosen.environment or context.environment,
        }

    def _agent(self, model: Model, catalog: Catalog) -> Agent:
        context = self._script.context
        names = context.tools if self._configuration.tools is None else self._configuration.tools
        tools = builtin_tools(",".join(names), workspace=self._workspace, write=True)
        return Agent(
            model,
            catalog=catalog,
            max_turns=MOST_TURNS,
            budget=Budget(wall_seconds=CASE_SECONDS),
            skills=context.skills,
            history=_history(context.messages),
            workspace=self._workspace,
            write=True,
            extra_tools=doubled(tools, self._script.responses, self._misses),
            artifacts_dir=os.path.join(self._place, "artifacts"),
            approve=(lambda _request: True) if context.approve == "all" else None,
            **self._audience(),
        )


def _unmet(result: CaseResult, unmet: tuple[int, str], ran: AgentResult) -> CaseResult:
    """Return the failure of a turn whose `when` is not in the request."""
    number, text = unmet
    last = tool_messages(ran.transcript)
    evidence = f"the last call, {last[-1].call.name}, got: {_shown(last[-1])}" if last else "no call was made before"
    row = AssertionResult(type="when", value={"turn": number, "when": text}, passed=False, evidence=evidence)
    reason = f"turn {number} waits for a text that the request does not contain: {text!r}; {evidence}"
    return replace(result, outcome="failed", reason=reason, assertions=(row,))


def _refusals(ran: AgentResult) -> str:
    """Return the calls that were refused, as the end of a sentence; empty if there are none."""
    refused = {one.call.name: _shown(one) for one in tool_messages(ran.transcript) if code_of(one) in REFUSALS}
    return "".join(f"; {name} was refused: {reason}" for name, reason in refused.items())


def _shown(message: ToolMessage) -> str:
    """Return the beginning of a result, without its duration."""
    result = message.result
    text = result.error or json.dumps(dict(result.result or {}), ensure_ascii=False, default=str)
    return printable_line(text[:_SHOWN])


def _history(messages: Sequence[tuple[str, str]]) -> tuple[Message, ...]:
    return tuple(UserMessage(text=text) if role == "user" else AssistantMessage(text=text) for role, text in messages)


def _neighbour(directory: str, path: str) -> str:
    """Return the path of a neighbour: a directory in the skill, or beside it.

    Raises:
        InvalidArgumentsError: there is no such directory, or it is anywhere else.
    """
    named = os.path.realpath(os.path.join(directory, path))
    folder = os.path.realpath(os.path.join(directory, os.pardir))
    if not named.startswith(folder + os.sep) or not os.path.isdir(named):
        raise InvalidArgumentsError((f"neighbour {path!r} is no directory in the skill or beside it",))
    return named
