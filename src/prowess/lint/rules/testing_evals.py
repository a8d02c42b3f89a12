"""The rule `testing.evals`."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.lint.skill_files import SkillFiles

_PATH = "evals/evals.json"
_TEXTS = ("prompt", "expected_output")
_LISTS = ("files", "assertions", "expectations", "expected_behavior")
_ANSWERS = ("ground_truth", "expected_behavior", "expected_output", "expected_skill", "should_trigger")
_LONGEST = 60
_BLANK = r"[ \t\r\n]*"
_DECODE = json.JSONDecoder(strict=False).raw_decode


class TestingEvals(LintRule):
    """A file of evaluations that a runner cannot read.

    What it does:
        Checks `evals/evals.json`, if it exists. The file is an object with `skill_name`, the name of the skill, and
        `evals`, a list. Each eval has a unique `id` (a number or a text), a `prompt` and an `expected_output`. An eval
        may have `files`, which must exist in the skill, and `assertions` or `expectations`, which are lists of texts.
        The file may also be a list of evals without the object. Then an eval may have a `question` instead of a prompt,
        and give the right answer as `ground_truth`, `expected_behavior` (a list of texts), `expected_output`,
        `expected_skill` or `should_trigger`.

    Why it matters:
        A runner skips an eval that it cannot read, or counts it as failed. In both cases the result contains no
        information about the skill.

    Example:
        `{"evals": [{"id": 1, "prompt": "Sort it.", "assertions": [{"text": "It is sorted."}]}]}`

    Instead:
        `{"skill_name": "sort", "evals": [{"id": 1, "prompt": "Sort it.", "expected_output": "Sorted rows."}]}`
    """

    __test__ = False  # stops pytest from collecting this class

    meta = RuleMeta(
        id="testing.evals",
        order=62,
        most=20,
        severities=Severities(spec=WARNING, skillscraft=WARNING, boxxy=WARNING, claude_code=WARNING),
        summary="evals/evals.json has the format of the guide.",
        source="Agent Skills guide on evaluating skills",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each fault of `evals/evals.json`, at its place in the file."""
        if "evals.json" not in subject.files.entries("evals") or (text := subject.files.text(_PATH)) is None:
            return
        text = text.removeprefix("\ufeff")
        for at, message in _faults(text, subject.document.text_of("name") or "", subject.files):
            yield self.meta.found(message, subject.file_place(_PATH, at, text))


def _faults(text: str, name: str, files: SkillFiles) -> Iterator[tuple[int, str]]:
    try:
        value = json.loads(text, strict=False)
    except json.JSONDecodeError as fault:
        yield fault.pos, f"{_PATH} is not JSON: {fault.msg}"
        return
    except (RecursionError, ValueError):  # a number with too many digits raises ValueError
        yield 0, f"{_PATH} cannot be read: it is nested too deeply, or has a number that is too long"
        return
    alone = isinstance(value, list)
    places = {"evals": 0} if alone else _members(text, 0) if isinstance(value, dict) else {}
    evals = value if alone else value["evals"] if "evals" in places else None
    if not isinstance(evals, list):
        yield places.get("evals", 0), "expected an object with a list `evals`, or the list itself"
        return
    said = None if alone else value.get("skill_name")
    if alone:
        pass  # without `skill_name`, the list belongs to the skill in whose directory it is
    elif not isinstance(said, str):
        yield places.get("skill_name", 0), "skill_name must be the name of the skill"
    elif name and said != name:
        yield places["skill_name"], f"skill_name is {_shown(said)}, but the name of the skill is {_shown(name)}"
    seen: set[str] = set()
    for number, (entry, at) in enumerate(zip(evals, _items(text, places["evals"]), strict=True)):
        if isinstance(entry, dict):
            yield from _faults_of_eval(text, at, entry, f"evals[{number}]", seen, alone=alone)
            if "files" in entry and _is_of_texts(entry["files"]):
                yield from _missing_files(text, _members(text, at)["files"], entry["files"], files)
        else:
            yield at, f"evals[{number}] is not an object"


def _faults_of_eval(
    text: str, at: int, entry: dict[str, Any], where: str, seen: set[str], *, alone: bool
) -> Iterator[tuple[int, str]]:
    own = _members(text, at)
    yield from _faults_of_id(entry.get("id"), own.get("id", at), where, seen)
    asks = alone and "question" in entry
    for key in ("question",) if asks else _TEXTS:
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            yield own.get(key, at), f"{where}.{key} must be a text that is not empty"
    # If `expected_skill` is null, that is an answer too: no skill should be chosen.
    if asks and "expected_skill" not in entry and all(entry.get(key) in (None, "", []) for key in _ANSWERS):
        yield at, f"{where} must have one of {', '.join(_ANSWERS)}"
    for key in _LISTS:
        if key in entry and not _is_of_texts(entry[key]):
            yield own[key], f"{where}.{key} must be a list of texts"


def _faults_of_id(found: object, at: int, where: str, seen: set[str]) -> Iterator[tuple[int, str]]:
    if isinstance(found, bool) or not isinstance(found, int | str) or found == "":
        yield at, f"{where}.id must be a number or a text"
    elif str(found) in seen:
        yield at, f"{where}.id is {_shown(str(found))} as in an earlier eval"
    else:
        seen.add(str(found))


def _missing_files(text: str, start: int, paths: list[str], files: SkillFiles) -> Iterator[tuple[int, str]]:
    for path, at in zip(paths, _items(text, start), strict=True):
        if files.look_for(path).kind == "missing":
            yield at, f"{_shown(path)} is not a file of the skill; paths are relative to its directory"


def _is_of_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _shown(text: str) -> str:
    return repr(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}...")


def _members(text: str, start: int) -> dict[str, int]:
    """Return the offset of each member's value. `start` is the offset of an object in JSON that was parsed before."""
    found: dict[str, int] = {}
    at = _after(text, _after(text, start) + 1)
    while text[at] != "}":
        key, at = _DECODE(text, at)
        at = _after(text, _after(text, at) + 1)
        found[key] = at
        _, at = _DECODE(text, at)
        at = _next(text, at)
    return found


def _items(text: str, start: int) -> list[int]:
    """Return the offset of each item. `start` is the offset of a list in JSON that was parsed before."""
    found = []
    at = _after(text, _after(text, start) + 1)
    while text[at] != "]":
        found.append(at)
        _, at = _DECODE(text, at)
        at = _next(text, at)
    return found


def _next(text: str, at: int) -> int:
    """Return the offset of the next item, or of the closing bracket."""
    at = _after(text, at)
    return _after(text, at + 1) if text[at] == "," else at


def _after(text: str, at: int) -> int:
    return re.compile(_BLANK).match(text, at).end()  # type: ignore[union-attr]  # no blank at all matches as well
