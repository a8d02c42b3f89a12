"""Graders that are code: text, patterns, files, workspace, JSON, tools, order, activation, cost, turns, tokens.

They run in a thread. A pattern runs in a process of its own, which is killed after `assertions.PATTERN_SECONDS`.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, assert_never

from prowess._internal.globs import PathGlob
from prowess._internal.schema_subset import check_schema, require_fitting
from prowess._internal.text.terminal_text import counted, printable_line
from prowess.errors import InvalidArgumentsError
from prowess.evals.graders.material import arguments_json, is_call_of
from prowess.evals.scenarios.assertions import AssertionUndecidedError, answer_excerpt, pattern_matches
from prowess.evals.scenarios.report import Grade
from prowess.evals.verdicts.judging import verdict_of
from prowess.format.suites.grader_faults import python_pattern, regex_fault
from prowess.format.suites.grader_specs import (
    CodeGrader,
    CostGrader,
    FileContainsGrader,
    FileExistsGrader,
    FileTarget,
    JsonSchemaGrader,
    RegexGrader,
    SkillActivatedGrader,
    TokensGrader,
    ToolOrderGrader,
    ToolPattern,
    ToolUsedGrader,
    TurnsGrader,
    WorkspaceGrader,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prowess.evals.graders.material import RunMaterial
    from prowess.evals.transcripts.transcript import TranscriptCall

USING = frozenset({"triggered", "polluted"})  # verdicts of a run with the skill in its context
_SHOWN = 160


def grade_by_code(grader: CodeGrader, run: RunMaterial) -> Grade:  # noqa: PLR0911 -- one for each type
    """Grade a run.

    Raises:
        AssertionUndecidedError: the pattern or the schema cannot be used, or the pattern takes too long.
    """
    match grader:
        case RegexGrader():
            return _regex(grader, run)
        case ToolUsedGrader():
            return _tool_used(grader, run)
        case ToolOrderGrader():
            return _tool_order(grader, run)
        case FileExistsGrader(path=path, exists=exists):
            found = _fitting(path, run.after)
            return Grade(passed=bool(found) == exists, evidence=f"files that fit {path}: {_listed(found)}")
        case FileContainsGrader():
            return _file_contains(grader, run)
        case WorkspaceGrader():
            return _workspace(grader, run)
        case JsonSchemaGrader():
            return _json_schema(grader, run)
        case SkillActivatedGrader(skill=skill, activated=activated):
            # Without a query: whether the task names the skill does not matter here.
            verdict = verdict_of(run.transcript, skill=skill or run.skill, query="").verdict
            evidence = f"{verdict}; skills activated: {_listed(run.activated)}"
            return Grade(passed=(verdict in USING) == activated, evidence=evidence)
        case CostGrader() | TurnsGrader() | TokensGrader():
            return _limit(grader, run)
        case other:
            assert_never(other)


def text_grade(kind: str, value: str, answer: str) -> Grade:
    """Grade an answer by a phrase or a pattern; `kind` is contains, not_contains, matches or not_matches.

    Raises:
        AssertionUndecidedError: the pattern cannot be used, or takes too long.
    """
    found = value in answer if kind.endswith("contains") else count_matches(value, answer, "") > 0
    return Grade(
        passed=found != kind.startswith("not_"), evidence=answer_excerpt(answer, answer.find(value) if found else -1)
    )


def count_matches(pattern: str, text: str, flags: str) -> int:
    """Return how often the pattern is found, up to the limit of the process that searches.

    Raises:
        AssertionUndecidedError: it is no regular expression, or takes too long.
    """
    python = python_pattern(pattern, flags)
    return pattern_matches(python, text, named=f"pattern {pattern[:_SHOWN]!r}", ignore_case="i" in flags)


def _regex(grader: RegexGrader, run: RunMaterial) -> Grade:
    if (fault := regex_fault(grader)) is not None:
        raise AssertionUndecidedError(fault)
    texts, what = _target(grader.target, run)
    found = sum(count_matches(grader.pattern, text, grader.flags) for text in texts)
    evidence = f"found {counted(found, 'time')} in {what}"
    if grader.match.startswith("count:"):
        return Grade(passed=found == int(grader.match.removeprefix("count:")), evidence=evidence)
    return Grade(passed=(found > 0) == (grader.match == "contains"), evidence=evidence)


def _target(target: str | FileTarget, run: RunMaterial) -> tuple[Sequence[str], str]:
    if isinstance(target, FileTarget):
        paths: Iterable[str] = _fitting(target.path, run.after)
        return [text for path in paths if (text := run.read(path)) is not None], f"the file {target.path}"
    match target:
        case "last_message":
            return [run.answer], "the answer"
        case "trace":
            return [run.trace], "the transcript"
    paths = (*run.created, *run.modified)
    return [text for path in paths if (text := run.read(path)) is not None], "the files of the run"


def _tool_used(grader: ToolUsedGrader, run: RunMaterial) -> Grade:
    found = len(_calls(ToolPattern(tool=grader.tool, input_match=grader.input_match), run))
    passed = found >= grader.min and (grader.max is None or found <= grader.max)
    names = _listed([call.name for call in run.transcript.calls])
    return Grade(passed=passed, evidence=f"{counted(found, 'fitting call')}; all calls: {names}")


def _tool_order(grader: ToolOrderGrader, run: RunMaterial) -> Grade:
    order = {id(call): place for place, call in enumerate(run.transcript.calls)}
    places = []
    for each in (grader.before, grader.after):
        found = _calls(ToolPattern(tool=each) if isinstance(each, str) else each, run)
        places.append(order[id(found[0])] if found else None)
    first, second = places
    shown = ["no call" if place is None else f"call {place + 1}" for place in places]
    passed = first is not None and second is not None and first < second
    return Grade(passed=passed, evidence=f"before: {shown[0]}; after: {shown[1]}")


def _calls(wanted: ToolPattern, run: RunMaterial) -> list[TranscriptCall]:
    of_tool = [call for call in run.transcript.calls if is_call_of(call, wanted.tool)]
    if wanted.input_match is None:
        return of_tool
    pattern = wanted.input_match
    return [call for call in of_tool if count_matches(pattern, arguments_json(call), "")]


def _file_contains(grader: FileContainsGrader, run: RunMaterial) -> Grade:
    files = _fitting(grader.path, run.after)
    having = [path for path in files if grader.phrase in (run.read(path) or "")]
    return Grade(passed=bool(having), evidence=f"files that fit: {_listed(files)}; with the phrase: {_listed(having)}")


def _workspace(grader: WorkspaceGrader, run: RunMaterial) -> Grade:
    changed = (*run.created, *run.modified, *run.deleted)
    pairs = ((grader.created, run.created), (grader.modified, run.modified), (grader.deleted, run.deleted))
    missing = [glob for globs, paths in pairs for glob in globs if not _fitting(glob, paths)]
    touched = [path for glob in grader.unchanged for path in _fitting(glob, changed)]
    evidence = f"created: {_listed(run.created)}; modified: {_listed(run.modified)}; deleted: {_listed(run.deleted)}"
    return Grade(passed=not missing and not touched, evidence=evidence)


def _json_schema(grader: JsonSchemaGrader, run: RunMaterial) -> Grade:
    try:
        check_schema(grader.schema)
    except ValueError as fault:
        raise AssertionUndecidedError(f"the schema cannot be used here: {fault}") from None
    text = run.answer if grader.path is None else run.read(grader.path)
    if text is None:
        return Grade(passed=False, evidence=f"there is no file {printable_line(str(grader.path))}")
    try:
        value = json.loads(_unfenced(text))
    except (ValueError, RecursionError) as fault:
        return Grade(passed=False, evidence=f"it is not JSON: {fault}")
    whole = {"type": "object", "properties": {"value": grader.schema}}
    try:
        require_fitting({"value": value}, whole)
    except InvalidArgumentsError as fault:
        return Grade(passed=False, evidence=printable_line(str(fault)))
    return Grade(passed=True, evidence="it is JSON that fits the schema")


def _unfenced(text: str) -> str:
    """Return the text inside a code fence, if the text is nothing else; models like to write one."""
    found = re.fullmatch(r"\s*```[a-z]*\n(.*)\n```\s*", text, re.DOTALL)
    return text if found is None else found[1]


def _fitting(glob: str, paths: Iterable[str]) -> list[str]:
    pattern = PathGlob.parse(glob)
    return sorted(path for path in paths if pattern.matches(path.split("/")))


def _limit(grader: CostGrader | TurnsGrader | TokensGrader, run: RunMaterial) -> Grade:
    if isinstance(grader, TurnsGrader):
        return Grade(passed=run.turns <= grader.most, evidence=f"the run took {counted(run.turns, 'turn')}")
    if isinstance(grader, TokensGrader):
        return Grade(passed=run.tokens <= grader.most, evidence=f"the run used {counted(run.tokens, 'token')}")
    if run.usd is None:
        raise AssertionUndecidedError("the cost of the run is unknown: its model has no price (--price)")
    return Grade(passed=run.usd <= grader.usd, evidence=f"the run cost {run.usd:.6f} US dollars")


def _listed(names: Iterable[str]) -> str:
    found = list(names)
    shown = ", ".join(map(printable_line, found[:10]))
    return f"{shown} and {len(found) - 10} more" if len(found) > 10 else shown or "none"  # noqa: PLR2004 -- as above
