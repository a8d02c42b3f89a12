"""The faults of eval files in JSON, each with its offset: a runner would skip the eval or count it as failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prowess.format.suites.fields import is_of_texts
from prowess.format.suites.forms import form_of
from prowess.format.suites.grader_faults import type_fault, written_fault
from prowess.format.suites.json_text import JsonText
from prowess.format.suites.suite import SuiteError, SuiteFault, UnreadableTextError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from prowess.format.suites.changes import JsonPath
    from prowess.format.suites.form import SuiteForm

    Finding = tuple[JsonPath, str]

_ANSWERS = ("ground_truth", "expected_behavior", "expected_output", "expected_skill", "should_trigger")
_LISTS = ("files", "expectations", "expected_behavior")
_LONGEST = 60


def json_faults(
    text: str, *, file: str, skill: str | None, file_at: Callable[[str], str | None]
) -> Iterator[SuiteFault]:
    """Yield the faults of a text. `skill` is the name of the skill, if it is known.

    `file_at` returns the path of a file of the skill as it is spelled on disk, or None if the skill has no such file.
    """
    try:
        read = JsonText.parse(text)
    except UnreadableTextError as fault:
        yield SuiteFault(file=file, offset=fault.offset, message=f"{file} {fault}")
        return
    yield from _of_keys(read, file)
    for path, message in _faults(read.value, skill, file_at):
        yield SuiteFault(file=file, offset=read.offset(*path), message=message)


def trigger_faults(text: str, *, file: str) -> Iterator[SuiteFault]:
    """Yield the faults of a trigger set: a list of `{query, should_trigger}`. Other JSON has no faults here."""
    try:
        read = JsonText.parse(text)
    except UnreadableTextError:
        return
    if not isinstance(read.value, list) or not any(isinstance(one, dict) and "query" in one for one in read.value):
        return
    yield from _of_keys(read, file)
    seen: set[str] = set()
    for number, one in enumerate(read.value):
        for path, message in _of_trigger(one, number, seen):
            yield SuiteFault(file=file, offset=read.offset(*path), message=message)


def _of_keys(read: JsonText, file: str) -> Iterator[SuiteFault]:
    for again in read.repeated:
        yield SuiteFault(file=file, offset=again.offset, message=again.message)


def _of_trigger(one: object, number: int, seen: set[str]) -> Iterator[Finding]:
    if not isinstance(one, dict):
        yield (number,), f"[{number}] is not an object"
        return
    query = one.get("query")
    if not isinstance(query, str) or not query.strip():
        yield (number, "query"), f"[{number}].query must be a text that is not empty"
    elif query in seen:
        yield (number, "query"), f"[{number}].query is there twice"
    seen.add(str(query))
    if not isinstance(one.get("should_trigger"), bool):
        yield (number, "should_trigger"), f"[{number}].should_trigger must be true or false"


def _faults(value: Any, skill: str | None, file_at: Callable[[str], str | None]) -> Iterator[Finding]:  # noqa: ANN401 -- JSON
    try:
        form = form_of(value)
    except SuiteError as fault:
        yield ("evals",), str(fault)
        return
    place = _place(value, form)
    if isinstance(value, dict) and place:
        yield from _of_skill(value, "skill" if form.name == "cases" else "skill_name", skill)
    listed = value
    for part in place:
        listed = listed[part]
    evals = listed if isinstance(listed, list) else [listed]
    seen: set[str] = set()
    for number, entry in enumerate(evals):
        path: JsonPath = (*place, number) if isinstance(listed, list) else place
        where = f"{place[-1] if place else 'evals'}[{number}]"
        if isinstance(entry, dict):
            asks = (form.name == "cases" or not place) and "question" in entry
            yield from _of_eval(entry, path, where, seen, asks=asks)
            if "assertions" in entry:
                yield from _of_assertions(entry["assertions"], (*path, "assertions"), f"{where}.assertions", file_at)
            yield from _of_files(entry, path, file_at)
        else:
            yield path, f"{where} is not an object"


def _place(value: Any, form: SuiteForm) -> tuple[str, ...]:  # noqa: ANN401 -- JSON
    """Return the path of the list of evals; empty if the whole value is the list, or one question alone."""
    if isinstance(value, list) or (form.name == "questions"):
        return ()
    return ("cases",) if form.name == "cases" else ("evals",)


def _of_skill(value: dict[str, Any], member: str, skill: str | None) -> Iterator[Finding]:
    said = value.get(member)
    if not isinstance(said, str):
        yield (member,), f"{member} must be the name of the skill"
    elif skill and said != skill:
        yield (member,), f"{member} is {_shown(said)}, but the name of the skill is {_shown(skill)}"


def _of_eval(entry: dict[str, Any], path: JsonPath, where: str, seen: set[str], *, asks: bool) -> Iterator[Finding]:
    yield from _of_id(entry.get("id"), (*path, "id"), where, seen)
    for key in ("question",) if asks else ("prompt", "expected_output"):
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            yield (*path, key), f"{where}.{key} must be a text that is not empty"
    # If `expected_skill` is null, that is an answer too: no skill should be chosen.
    if asks and "expected_skill" not in entry and all(entry.get(key) in (None, "", []) for key in _ANSWERS):
        yield path, f"{where} must have one of {', '.join(_ANSWERS)}"
    for key in _LISTS:
        if key in entry and not is_of_texts(entry[key]):
            yield (*path, key), f"{where}.{key} must be a list of texts"


def unread_list(entry: Mapping[str, Any]) -> str | None:
    """Return a sentence on a list of an eval that no reader takes, because a type is wrong; None without one."""
    for key in _LISTS:
        if entry.get(key) is not None and not is_of_texts(entry[key]):
            return f"{key} must be a list of texts"
    found = _of_assertions(entry.get("assertions") or [], (), "assertions", lambda name: name, graders=False)
    return next((message for _, message in found), None)


def _of_id(found: object, path: JsonPath, where: str, seen: set[str]) -> Iterator[Finding]:
    if isinstance(found, bool) or not isinstance(found, int | str) or found == "":
        yield path, f"{where}.id must be a number or a text"
    elif str(found) in seen:
        yield path, f"{where}.id is {_shown(str(found))} as in an earlier eval"
    else:
        seen.add(str(found))


def _of_assertions(
    listed: object, path: JsonPath, where: str, file_at: Callable[[str], str | None], *, graders: bool = True
) -> Iterator[Finding]:
    if not isinstance(listed, list):
        yield path, f"{where} must be a list of texts"
        return

    def file_fault(name: str) -> str | None:
        return None if file_at(name) is not None else "is not a file of the skill"

    for number, item in enumerate(listed):
        if isinstance(item, str):
            continue
        if not isinstance(item, dict) or not isinstance(item.get("text"), str):
            yield (*path, number), f"{where}[{number}] must be a text, or an object with a text `text`"
            continue
        if graders and (fault := written_fault(item, file_fault) or type_fault(item)) is not None:
            yield (*path, number), f"{where}[{number}] cannot be graded: {fault}"


def _of_files(entry: dict[str, Any], path: JsonPath, file_at: Callable[[str], str | None]) -> Iterator[Finding]:
    for number, name in enumerate(entry["files"] if is_of_texts(entry.get("files")) else ()):
        if file_at(name) is None:
            nearer = file_at(f"evals/{name}")
            hint = "" if nearer is None else f"; write {_shown(nearer)}"
            message = f"{_shown(name)} is not a file of the skill; paths are relative to its directory{hint}"
            yield (*path, "files", number), message


def _shown(text: str) -> str:
    return repr(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}...")
