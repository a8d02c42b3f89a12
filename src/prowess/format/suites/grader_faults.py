"""Faults of a grader before any run: one implementation for `prowess check` and for the plan of `eval run`.

A grader with a fault can decide nothing, so an eval with it is not run, and no call is paid for it.
"""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING

from prowess._internal.schema_subset import check_schema
from prowess.format.suites.fields import TYPED
from prowess.format.suites.grader_specs import (
    RUNNABLE_GRADERS,
    JsonSchemaGrader,
    ProgramGrader,
    RegexGrader,
    ToolOrderGrader,
    ToolPattern,
    ToolUsedGrader,
    misspelled,
    parse_grader,
)
from prowess.format.suites.suite import SuiteError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from prowess.format.suites.grader_specs import AnyGrader
    from prowess.format.suites.suite import Check, SuiteCase

    FileFault = Callable[[str], str | None]  # the reason why a path is no file of the skill, or None

_MATCH = re.compile(r"contains|not_contains|count:[0-9]{1,12}")
_TARGETS = ("last_message", "trace", "files")
_NAMED_GROUP = re.compile(r"\(\?<(?![=!])")  # of JavaScript; Python writes (?P<
_SHOWN, _LONGEST_PATTERN = 100, 20_000


def case_faults(case: SuiteCase, file_fault: FileFault) -> Iterator[tuple[str, str]]:
    """Yield the assertions and graders of an eval that can decide nothing: the text or name of each, and why."""
    for check in case.checks:
        if (fault := _check_fault(check, file_fault)) is not None:
            yield check.text, fault
    for grader in case.graders:
        if (fault := written_fault(grader, file_fault)) is not None:
            yield str(grader.get("name") or grader.get("type")), fault


def _check_fault(check: Check, file_fault: FileFault) -> str | None:
    if check.grader is not None:
        return written_fault(check.grader, file_fault)
    is_pattern = check.kind in ("matches", "not_matches") and check.value is not None
    return pattern_fault(check.value or "") if is_pattern else None


def written_fault(data: Mapping[str, object], file_fault: FileFault) -> str | None:
    """Return a sentence on why a grader can decide nothing, or None. A type of another tool is no fault."""
    kind = data.get("type")
    if isinstance(kind, str) and kind in TYPED:
        how, member = TYPED[kind]
        value = data.get(member)
        if not isinstance(value, str):
            return f"an assertion of the type {kind} needs a text {member!r}"
        return pattern_fault(value) if how in ("matches", "not_matches") else None
    if kind not in RUNNABLE_GRADERS or "config" in data:  # in which Waza has the members of its graders
        return None
    try:
        return grader_fault(parse_grader(data), file_fault)
    except SuiteError as fault:
        return str(fault)


def type_fault(data: Mapping[str, object]) -> str | None:
    """Return a sentence on a type that is a misspelled one of ours, or None. Such a grader is left out of a run."""
    if misspelled(data.get("type")) is None:
        return None
    try:
        parse_grader(data)
    except SuiteError as fault:
        return str(fault)
    return None


def grader_fault(grader: AnyGrader, file_fault: FileFault) -> str | None:
    """Return a sentence on why the grader can decide nothing, or None."""
    match grader:
        case RegexGrader():
            return regex_fault(grader)
        case ToolUsedGrader(tool=tool, min=least, max=most) if most is not None and most < least:
            return f"it wants at least {least} and at most {most} calls of {tool[:_SHOWN]}"
        case ToolUsedGrader() | ToolOrderGrader():
            faults = (pattern_fault(pattern) for pattern in _input_patterns(grader))
            return next((fault for fault in faults if fault is not None), None)
        case JsonSchemaGrader(schema=schema):
            try:
                check_schema(schema)
            except ValueError as fault:
                return f"the schema cannot be used here: {fault}"
        case ProgramGrader(path=path):
            reason = file_fault(path)
            return None if reason is None else f"the program {path[:_SHOWN]!r} {reason}"
    return None


def regex_fault(grader: RegexGrader) -> str | None:
    """Return a sentence on why the pattern, `match` or `target` cannot be used, or None."""
    if _MATCH.fullmatch(grader.match) is None:
        return f"match {grader.match[:_SHOWN]!r} is not contains, not_contains or count:N"
    if isinstance(grader.target, str) and grader.target not in _TARGETS:
        return f"target {grader.target[:_SHOWN]!r} is not {', '.join(_TARGETS)} or a file"
    return pattern_fault(grader.pattern, grader.flags)


def pattern_fault(pattern: str, flags: str = "") -> str | None:
    """Return a sentence on why Python cannot use this regular expression, or None."""
    if len(pattern) > _LONGEST_PATTERN:
        return f"pattern {pattern[:_SHOWN]!r} has more than {_LONGEST_PATTERN} characters"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on constructs that a later Python may read differently
            re.compile(python_pattern(pattern, flags))
    except (re.error, RecursionError, OverflowError) as fault:
        return f"pattern {pattern[:_SHOWN]!r} is not a Python regular expression: {fault}"
    return None


def python_pattern(pattern: str, flags: str) -> str:
    """Return the pattern as Python writes it, with the flags `m` and `s` in it."""
    inline = "".join(sorted({flag for flag in flags if flag in "ms"}))
    lead = f"(?{inline})" if inline else ""
    return lead + _NAMED_GROUP.sub("(?P<", pattern)


def _input_patterns(grader: ToolUsedGrader | ToolOrderGrader) -> Iterator[str]:
    for tool in (grader.before, grader.after) if isinstance(grader, ToolOrderGrader) else (grader,):
        if isinstance(tool, ToolUsedGrader | ToolPattern) and tool.input_match is not None:
            yield tool.input_match
