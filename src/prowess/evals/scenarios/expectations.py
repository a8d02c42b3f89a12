"""The expectations of `evals/tests.yaml`: which skills are found and active, which calls are made and refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct, to_builtins

from prowess._internal.text.terminal_text import counted
from prowess.evals.scenarios.commands import REFUSALS, code_of, tool_messages
from prowess.evals.scenarios.doubles import context_text
from prowess.evals.scenarios.report import AssertionResult, Grade
from prowess.runtime.disclosure.model_texts import estimate_tokens
from prowess.tools.spec import spellings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.agent import AgentResult, ModelRequest, ToolMessage
    from prowess.format.suites.case_scripts import CaseExpectation


class ObservedRun(Struct, frozen=True, kw_only=True):
    """A run for expectations: its result, the requests that the model got, and the names of the skills found."""

    result: AgentResult
    requests: tuple[ModelRequest, ...]
    names: frozenset[str]


def met(expectation: CaseExpectation, run: ObservedRun) -> AssertionResult:
    """Return whether the expectation is met, with evidence."""
    given: dict[str, Any] = {key: value for key, value in to_builtins(expectation).items() if value is not None}
    kind = next(iter(given))  # the fields that name a kind come first
    grade = _grade(expectation, run)
    value = given if len(given) > 1 else given[kind]
    return AssertionResult(type=kind, value=value, passed=grade.passed, evidence=grade.evidence)


def _grade(one: CaseExpectation, run: ObservedRun) -> Grade:
    if one.found is not None or one.not_found is not None:
        passed = run.names.issuperset(one.found or ()) and run.names.isdisjoint(one.not_found or ())
        return Grade(passed=passed, evidence=f"skills found: {', '.join(sorted(run.names)) or 'none'}")
    if one.activated is not None:
        used = run.result.skills_used
        return Grade(passed=one.activated in used, evidence=f"skills used: {', '.join(used) or 'none'}")
    if one.refused is not None:
        return _refused(one, _calls(one.refused, run))
    if one.called is not None:
        ran = sum(code_of(message) not in REFUSALS for message in _calls(one.called, run))
        return Grade(
            passed=ran > 0 if one.times is None else ran == one.times, evidence=f"{one.called} ran {ran} times"
        )
    return _of_context(one, run.requests)


def _calls(tool: str, run: ObservedRun) -> list[ToolMessage]:
    wanted = {*spellings(tool)}
    return [message for message in tool_messages(run.result.transcript) if wanted & {*spellings(message.call.name)}]


def _refused(one: CaseExpectation, calls: Sequence[ToolMessage]) -> Grade:
    passed = False
    seen = []
    for message in calls:
        code = code_of(message)
        skill = getattr(message.result.cause, "skill", None)
        seen.append(f"{code or 'succeeded'}{'' if skill is None else f' by {skill}'}")
        fits = code in REFUSALS if one.code is None else code == one.code
        passed = passed or (fits and one.skill in (None, skill))
    return Grade(passed=passed, evidence=f"calls of {one.refused}: {', '.join(seen) or 'none'}")


def _of_context(one: CaseExpectation, requests: Sequence[ModelRequest]) -> Grade:
    turn = one.turn or 1
    if len(requests) < turn:
        return Grade(passed=False, evidence=f"the model was asked {len(requests)} times")
    text = context_text(requests[turn - 1])
    if one.context_tokens_at_most is not None:
        tokens = estimate_tokens(text)
        return Grade(passed=tokens <= one.context_tokens_at_most, evidence=f"about {counted(tokens, 'token')}")
    wanted = one.context_contains or one.context_excludes or ""
    there = wanted in text
    evidence = f"the text {'is' if there else 'is not'} in the instructions and messages of turn {turn}"
    return Grade(passed=there == (one.context_contains is not None), evidence=evidence)
