"""Graders that code can run: the members that assertions of eval files may have, as types.

An assertion of the form `typed`, a grader of `claude plugin eval`, and a grader in `case.yaml` name their `type`. The
names are those of `claude plugin eval` if it has the type. Sources: its grader files in public repositories.

| type | passes if |
|---|---|
| `regex` | the pattern is found in the target |
| `tool_used` | the number of fitting calls is from `min` to `max` |
| `tool_order` | the first call that fits `before` comes before the first that fits `after` |
| `file_exists` | a file of the workspace fits the glob, or none does with `exists: false` |
| `file_contains` | a file that fits the glob contains the phrase |
| `workspace` | compared with before the run, files were created, modified, deleted or left as they were |
| `json_schema` | the answer, or the file, is JSON that fits the schema |
| `program` | a program of the skill exits with 0 in the sandbox |
| `skill_activated` | the skill was used, or was not used |
| `cost`, `turns`, `tokens` | the run used no more |
| `llm` | a judge says so |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from prowess._internal.text.near_words import near_words
from prowess._internal.text.shape_faults import shape_fault
from prowess.format.suites.fields import TYPED
from prowess.format.suites.suite import SuiteError

if TYPE_CHECKING:
    from collections.abc import Mapping

_NEAR, _LONGEST_TYPE = 0.85, 60  # one or two letters: other tools have `contains`, `tool_calls` and the like


class GraderSpec(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type"):
    """What all graders may have. `arm` is `with-only` if the grader does not count in a baseline. `weight` is kept."""

    text: str | None = None
    name: str | None = None
    weight: float = 1.0
    arm: str | None = None


class FileTarget(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of the workspace as the target of a pattern."""

    source: str
    path: str


class RegexGrader(GraderSpec, frozen=True, kw_only=True, tag="regex"):
    """`match` is `contains`, `not_contains` or `count:N`; `target` is `last_message`, `trace`, `files` or a file."""

    pattern: str
    target: str | FileTarget = "last_message"
    flags: str = ""
    match: str = "contains"


class ToolPattern(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Calls of a tool whose arguments, as JSON, match a pattern."""

    tool: str
    input_match: str | None = None


class ToolUsedGrader(GraderSpec, frozen=True, kw_only=True, tag="tool_used"):
    """The number of calls of a tool."""

    tool: str
    input_match: str | None = None
    min: int = 1
    max: int | None = None


class ToolOrderGrader(GraderSpec, frozen=True, kw_only=True, tag="tool_order"):
    """The order of two calls."""

    before: str | ToolPattern
    after: str | ToolPattern


class FileExistsGrader(GraderSpec, frozen=True, kw_only=True, tag="file_exists"):
    """`path` is a glob, relative to the workspace."""

    path: str
    exists: bool = True


class FileContainsGrader(GraderSpec, frozen=True, kw_only=True, tag="file_contains"):
    """`path` is a glob, relative to the workspace."""

    path: str
    phrase: str


class WorkspaceGrader(GraderSpec, frozen=True, kw_only=True, tag="workspace"):
    """Globs. At least one file must have been created, modified or deleted for each; none that fits `unchanged`."""

    created: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()


class JsonSchemaGrader(GraderSpec, frozen=True, kw_only=True, tag="json_schema"):
    """`path` is a file of the workspace; None is the answer."""

    schema: dict[str, Any]
    path: str | None = None


class ProgramGrader(GraderSpec, frozen=True, kw_only=True, tag="program"):
    """`path` is a file of the skill. It reads the run as JSON from its input, and works in a copy of the workspace."""

    path: str
    args: tuple[str, ...] = ()
    seconds: float = 30.0


class SkillActivatedGrader(GraderSpec, frozen=True, kw_only=True, tag="skill_activated"):
    """`skill` defaults to the skill under test."""

    skill: str | None = None
    activated: bool = True


class CostGrader(GraderSpec, frozen=True, kw_only=True, tag="cost"):
    """At most so many US dollars."""

    usd: float


class TurnsGrader(GraderSpec, frozen=True, kw_only=True, tag="turns"):
    """At most so many turns of the model."""

    most: int


class TokensGrader(GraderSpec, frozen=True, kw_only=True, tag="tokens"):
    """At most so many tokens."""

    most: int


class JudgedGrader(GraderSpec, frozen=True, kw_only=True, tag="llm"):
    """A rubric for a judge."""

    criteria: str | None = None


CodeGrader = (
    RegexGrader
    | ToolUsedGrader
    | ToolOrderGrader
    | FileExistsGrader
    | FileContainsGrader
    | WorkspaceGrader
    | JsonSchemaGrader
    | SkillActivatedGrader
    | CostGrader
    | TurnsGrader
    | TokensGrader
)
AnyGrader = CodeGrader | ProgramGrader | JudgedGrader
RUNNABLE_GRADERS = frozenset(
    {
        *("regex", "tool_used", "tool_order", "file_exists", "file_contains", "workspace", "json_schema", "program"),
        *("skill_activated", "cost", "turns", "tokens", "llm"),
    }
)


def misspelled(kind: object) -> str | None:
    """Return the type that is nearly spelled so; None if it is known, or like no other, as one of another tool."""
    known = {*TYPED, *RUNNABLE_GRADERS}
    if not isinstance(kind, str) or kind in known or len(kind) > _LONGEST_TYPE:
        return None
    return next(iter(near_words(kind, sorted(known), cutoff=_NEAR)), None)


def parse_grader(data: Mapping[str, Any]) -> AnyGrader:
    """Return the grader of an object.

    Raises:
        SuiteError: the type is unknown, or a member is missing, unknown or of the wrong type.
    """
    kind = data.get("type")
    if kind not in RUNNABLE_GRADERS:
        near = misspelled(kind)
        hint = "" if near is None else f"; did you mean {near!r}?"
        raise SuiteError(f"no grader has the type {str(kind)[:60]!r}{hint}")
    try:
        found: AnyGrader = msgspec.convert(dict(data), AnyGrader)
    except msgspec.ValidationError as fault:
        raise SuiteError(f"grader {kind}: {shape_fault(fault, 'it')}") from None
    return found
