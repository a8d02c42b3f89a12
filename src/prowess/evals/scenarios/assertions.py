"""The assertions of scenarios: about the answer, the workspace, and the commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from prowess._internal.text.terminal_text import printable_line
from prowess.errors import ExecTimeoutError, InvalidArgumentsError, LimitExceededError
from prowess.evals.graders.registry import grader_named
from prowess.evals.scenarios.commands import fits_command
from prowess.evals.scenarios.report import AssertionResult, Grade
from prowess.tools.builtin.pattern_process import PatternProcess

if TYPE_CHECKING:
    from prowess.evals.scenarios.report import GradedRun
    from prowess.format.manifest.manifest import Assertion

PATTERN_SECONDS = 2.0
_SHOWN = 160


class AssertionUndecidedError(Exception):
    """The assertion can be neither true nor false: a grader is missing or failed, or a pattern takes too long."""


def judged(assertion: Assertion, run: GradedRun) -> AssertionResult:
    """Return the grade of an assertion.

    Raises:
        AssertionUndecidedError: there is none.
    """
    grade = _grade(assertion, run)
    return AssertionResult(type=assertion.type, value=assertion.value, passed=grade.passed, evidence=grade.evidence)


def _grade(assertion: Assertion, run: GradedRun) -> Grade:
    value = assertion.value
    match assertion.type:
        case "contains" | "not-contains":
            at = run.answer.find(value)
            return Grade(passed=(at >= 0) == (assertion.type == "contains"), evidence=answer_excerpt(run.answer, at))
        case "matches-regex":
            found = pattern_matches(value, run.answer, named=f"matches-regex {value!r}")
            return Grade(passed=found > 0, evidence=answer_excerpt(run.answer))
        case "file-created":
            return _in_list(value, run.created, "created")
        case "file-modified":
            return _in_list(value, run.modified, "modified")
        case "command-executed":
            return _executed(value, run)
        case "custom":
            return _custom(value, run)
        case other:
            assert_never(other)


def answer_excerpt(answer: str, at: int = -1) -> str:
    """Return the evidence of a grade on an answer: its text around the place `at`, or its beginning."""
    start = max(0, at - _SHOWN // 2) if at >= 0 else 0
    lead, tail = "…" if start else "", "…" if start + _SHOWN < len(answer) else ""
    return f"the answer is: {lead}{printable_line(answer[start : start + _SHOWN])}{tail}"


def pattern_matches(pattern: str, text: str, *, named: str, ignore_case: bool = False) -> int:
    """Return how often a Python pattern is found, in another process, which is killed after `PATTERN_SECONDS`.

    Raises:
        AssertionUndecidedError: it is no regular expression, or takes too long. `named` begins its sentence.
    """
    try:
        with PatternProcess(pattern, ignore_case=ignore_case, multiline=True, seconds=PATTERN_SECONDS) as process:
            return len(process.search(text.encode("utf-8", "replace")))
    except (ExecTimeoutError, LimitExceededError, InvalidArgumentsError) as fault:
        raise AssertionUndecidedError(f"{named}: {fault}") from None


def _in_list(value: str, paths: tuple[str, ...], verb: str) -> Grade:
    named = "/".join(part for part in value.split("/") if part not in ("", "."))
    return Grade(passed=named in paths, evidence=f"files {verb}: {', '.join(map(printable_line, paths)) or 'none'}")


def _executed(value: str, run: GradedRun) -> Grade:
    try:
        passed = any(fits_command(argv, value) for argv in run.commands)
    except ValueError as fault:
        raise AssertionUndecidedError(f"command-executed {value!r}: {fault}") from None
    ran = "; ".join(printable_line(" ".join(argv)) for argv in run.commands) or "none"
    return Grade(passed=passed, evidence=f"commands: {ran}")


def _custom(name: str, run: GradedRun) -> Grade:
    try:
        answer = grader_named(name)(run)
    except Exception as fault:
        raise AssertionUndecidedError(f"grader {name!r}: {fault}") from fault
    if isinstance(answer, bool):
        return Grade(passed=answer, evidence=f"grader {name} returned {answer}")
    if not isinstance(answer, Grade):
        raise AssertionUndecidedError(f"grader {name!r} returned {type(answer).__name__}, and no Grade")
    return answer
