"""Trigger sets: requests, each with whether the skill should be chosen for it.

The form of the guide is a JSON list of `{query, should_trigger}`. Every other form of evals is read too, if its evals
tell which skill should be chosen. Source: Agent Skills guide on descriptions.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import UNSET, Struct

from prowess._internal.files.contained import ContainedRoot
from prowess._internal.text.terminal_text import counted
from prowess.catalog.entry import key_of
from prowess.catalog.matching.stems import stem
from prowess.catalog.matching.words import asked_words
from prowess.errors import InvalidArgumentsError, SkillParseError, UnsafePathError
from prowess.format.reading import read_skill
from prowess.format.suites.fields import has_half_character
from prowess.format.suites.files import MAX_BYTES, read_suite
from prowess.format.suites.forms import original
from prowess.format.suites.json_faults import trigger_faults
from prowess.format.suites.suite import SuiteError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.format.suites.suite import SuiteCase

DEFAULT_FILE = "evals/triggers.json"
_DOCUMENT = "SKILL.md"
WANTED, WANTED_OF_EACH_KIND = 16, 8  # the guide asks for about 20, 8 to 10 of each kind


class TriggerQuery(Struct, frozen=True, kw_only=True):
    """One request. `should_trigger` is whether the skill should be chosen for it."""

    query: str
    should_trigger: bool


class TriggerSet(Struct, frozen=True, kw_only=True):
    """The requests of one skill. `directory` is the skill's, `file` where the requests are from.

    `unused` is the number of evals in the file that do not tell which skill should be chosen.
    """

    skill: str
    description: str
    directory: str
    file: str
    queries: tuple[TriggerQuery, ...]
    unused: int = 0

    def advice(self) -> tuple[str, ...]:
        """Return a sentence on each lack of the set, such as requests that nearly belong to the skill."""
        return tuple(self._advice())

    def _advice(self) -> Iterator[str]:
        wanted = sum(query.should_trigger for query in self.queries)
        others = len(self.queries) - wanted
        if len(self.queries) < WANTED:
            told = "tells" if len(self.queries) == 1 else "tell"
            yield f"{counted(len(self.queries), 'request')} {told} little; about 20 are usual"
        elif min(wanted, others) < WANTED_OF_EACH_KIND:
            of = counted(wanted, "request")
            yield f"{of} for the skill and {others} not for it; 8 to 10 of each kind are usual"
        if others and not any(self._is_near(query) for query in self.queries if not query.should_trigger):
            yield "no request that is not for the skill shares a word with it; add near misses, which are the hard ones"

    def _is_near(self, query: TriggerQuery) -> bool:
        return bool(_roots(query.query) & _roots(f"{self.skill} {self.description}"))


def _roots(text: str) -> set[str]:
    return {stem(word) for word in asked_words(text)}


def read_trigger_set(directory: str, file: str | None = None) -> TriggerSet:
    """Read the trigger set of the skill in a directory: `file`, or the only trigger set in its folder `evals/`.

    Raises:
        InvalidArgumentsError: there is no skill, no trigger set, or several; or the set has no request.
        SuiteError: the file cannot be read, or is no trigger set; with the place.
    """
    if not directory:
        raise InvalidArgumentsError(("the path is empty; name a folder with SKILL.md",))
    if not os.path.isfile(os.path.join(directory, _DOCUMENT)):
        raise InvalidArgumentsError((f"{directory} is no skill: it has no SKILL.md; name a folder with one",))
    try:
        skill = read_skill(directory)
    except SkillParseError as fault:
        raise InvalidArgumentsError((str(fault),)) from None
    path = _found(directory) if file is None else file
    cases = _cases(path)
    named = [(case, wanted) for case in cases if (wanted := _wanted(case, skill.name)) is not None]
    if not named:
        problem = f"{path} does not tell for any request whether the skill should be chosen; add `should_trigger`"
        raise InvalidArgumentsError((problem,))
    return TriggerSet(
        skill=skill.name,
        description=skill.description,
        directory=os.path.realpath(directory),
        file=path,
        queries=tuple(_queries(named, path)),
        unused=len(cases) - len(named),
    )


def skills_in(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the skills with a trigger set, and those without one, in a folder of skills; or the skill at the path.

    Folders inside of these are not searched, because workspaces have copies of skills.

    Raises:
        InvalidArgumentsError: there is none, or a folder cannot be read.
    """
    if not path or os.path.isfile(os.path.join(path, _DOCUMENT)):
        return (path,), ()
    try:
        names = sorted(os.listdir(path))
    except OSError as fault:
        raise InvalidArgumentsError((f"{path} cannot be read: {fault.strerror}",)) from None
    found = [place for name in names if os.path.isfile(os.path.join(place := os.path.join(path, name), _DOCUMENT))]
    if not found:
        raise InvalidArgumentsError((f"{path} has no skill; name skills, or a folder of skills",))
    sets = {place: _sets_of(place) for place in found}
    return tuple(place for place in found if sets[place]), tuple(place for place in found if not sets[place])


def _cases(path: str) -> Sequence[SuiteCase]:
    formed = original(read_suite(path))
    if formed.form.name == "triggers":
        _require_faultless(path)
    return formed.suite().cases


def _require_faultless(path: str) -> None:
    with open(path, encoding="utf-8", errors="replace") as opened:
        text = opened.read(MAX_BYTES)
    for fault in trigger_faults(text, file=path):
        line = text.count("\n", 0, fault.offset) + 1
        raise SuiteError(f"{path}:{line}: {fault.message}")


def _queries(named: Sequence[tuple[SuiteCase, bool]], path: str) -> Iterator[TriggerQuery]:
    seen: set[str] = set()
    for case, wanted in named:
        text = case.prompt or ""
        if not text.strip():
            raise InvalidArgumentsError((f"{path}: the eval {case.id!r} has no prompt",))
        if has_half_character(text):
            problem = f"{path}: the request {text[:80]!r} has half of a surrogate pair; write the whole character"
            raise InvalidArgumentsError((problem,))
        if text in seen:
            raise InvalidArgumentsError((f"{path}: the request {text[:80]!r} is there twice",))
        seen.add(text)
        yield TriggerQuery(query=text, should_trigger=wanted)


def _wanted(case: SuiteCase, skill: str) -> bool | None:
    """Return whether the skill should be chosen, or None if the eval does not tell."""
    if case.should_trigger is not None:
        return case.should_trigger
    if case.expected_skill is UNSET:
        return None
    return case.expected_skill is not None and key_of(str(case.expected_skill)) == key_of(skill)


def _found(directory: str) -> str:
    """Return the path of the only trigger set of the guide in `evals/`."""
    found = _sets_of(directory)
    if not found:
        wanted = os.path.join(directory, DEFAULT_FILE)
        raise InvalidArgumentsError((f"{directory} has no trigger set; write a list of requests to {wanted}",))
    if len(found) > 1:
        shown = ", ".join(os.path.basename(path) for path in found)
        raise InvalidArgumentsError((f"{directory} has several trigger sets ({shown}); name one with --set",))
    return found[0]


def _sets_of(directory: str) -> list[str]:
    names: list[str] = []
    try:
        with ContainedRoot(directory) as root:
            if ("evals", "directory") in root.entries():
                names = [name for name, kind in root.entries("evals") if kind == "file" and name.endswith(".json")]
    except (OSError, UnsafePathError) as fault:
        raise InvalidArgumentsError((f"{directory} cannot be read: {fault}",)) from None
    paths = [os.path.join(directory, "evals", name) for name in sorted(names)]
    return [path for path in paths if os.path.basename(path) != "evals.json" and _is_trigger_set(path)]


def _is_trigger_set(path: str) -> bool:
    try:
        return read_suite(path).form.name == "triggers"
    except SuiteError:
        return False
