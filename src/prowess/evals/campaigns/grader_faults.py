"""What is wrong with a grader before any run: found while evals are planned, so that no call is paid for it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prowess._internal.files.contained import check_relative
from prowess._internal.schema_subset import check_schema
from prowess.errors import UnsafePathError
from prowess.evals.graders.code import python_pattern
from prowess.format.suites.grader_specs import (
    JsonSchemaGrader,
    ProgramGrader,
    RegexGrader,
    ToolOrderGrader,
    ToolPattern,
    ToolUsedGrader,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess._internal.files.contained import ContainedRoot
    from prowess.format.suites.grader_specs import AnyGrader

_MATCH = re.compile(r"contains|not_contains|count:[0-9]+")
_SHOWN = 100


def grader_fault(grader: AnyGrader, root: ContainedRoot) -> str | None:
    """Return a sentence on why the grader can decide nothing, or None. `root` is the skill's directory."""
    for pattern, flags in _patterns(grader):
        if (fault := pattern_fault(pattern, flags)) is not None:
            return fault
    if isinstance(grader, RegexGrader) and _MATCH.fullmatch(grader.match) is None:
        return f"match {grader.match[:_SHOWN]!r} is not contains, not_contains or count:N"
    if isinstance(grader, JsonSchemaGrader):
        try:
            check_schema(grader.schema)
        except ValueError as fault:
            return f"the schema cannot be used here: {fault}"
    return _program_fault(grader.path, root) if isinstance(grader, ProgramGrader) else None


def pattern_fault(pattern: str, flags: str = "") -> str | None:
    """Return a sentence on why this is no regular expression, or None."""
    try:
        re.compile(python_pattern(pattern, flags))
    except (re.error, RecursionError, OverflowError) as fault:
        return f"pattern {pattern[:_SHOWN]!r} is no regular expression: {fault}"
    return None


def _patterns(grader: AnyGrader) -> Iterator[tuple[str, str]]:
    if isinstance(grader, RegexGrader):
        yield grader.pattern, grader.flags
    tools = (grader.before, grader.after) if isinstance(grader, ToolOrderGrader) else (grader,)
    for tool in tools:
        if isinstance(tool, ToolUsedGrader | ToolPattern) and tool.input_match is not None:
            yield tool.input_match, ""


def _program_fault(path: str, root: ContainedRoot) -> str | None:
    try:
        root.open("/".join(check_relative(path)), allow_hard_links=True).close()
    except UnsafePathError as fault:
        return f"the program {path[:_SHOWN]!r} leaves the skill: {fault.reason}"
    except OSError as fault:
        return f"the program {path[:_SHOWN]!r} cannot be read: {fault.strerror}"
    return None
