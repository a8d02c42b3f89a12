"""All forms of eval files, which of them some data is in, and the conversion of one into another without loss.

A conversion writes the members that the target form has. The rest is carried beside it: in the member `x-prowess` of
JSON, in the file `.prowess-origin.json` of a folder. It holds the changes that rebuild the first form from the second,
so that reading the second gives the first, even after a prompt or an assertion was edited in between.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from prowess.format.suites.changes import ChangesDoNotFitError, apply, changed_paths, difference
from prowess.format.suites.fields import kept_of_checks
from prowess.format.suites.form import Parts
from prowess.format.suites.guide import GUIDE, SKILL_CREATOR, TYPED
from prowess.format.suites.imported import (
    AXIS,
    CALIPER,
    OPENAI,
    SKILL_LAB,
    TRIGGERS,
    imported_form_of,
    kept_members,
)
from prowess.format.suites.plugin_eval import PLUGIN_EVAL
from prowess.format.suites.questions import CASES, QUESTIONS
from prowess.format.suites.suite import EvalSuite, SuiteError, names_of
from prowess.format.suites.waza import WAZA

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from prowess.format.suites.changes import JsonPath
    from prowess.format.suites.form import SuiteForm
    from prowess.format.suites.suite import SuiteCase

FORMS: Mapping[str, SuiteForm] = {
    form.name: form for form in (GUIDE, SKILL_CREATOR, TYPED, QUESTIONS, CASES, PLUGIN_EVAL, WAZA)
}
IMPORTED: Mapping[str, SuiteForm] = {form.name: form for form in (TRIGGERS, CALIPER, SKILL_LAB, OPENAI, AXIS)}
CARRIED = "x-prowess"  # member of JSON
ORIGIN = ".prowess-origin.json"  # file of a folder, and the member of its data


class LostMember(Struct, frozen=True, kw_only=True):
    """A member that the target form does not have. It is carried along, but no other tool reads it.

    `eval` is the eval's id, or its number from 1 if it has none. It is None for a member of the whole file.
    """

    eval: str | int | None
    member: str
    reason: str


class FormedData(Struct, frozen=True, kw_only=True):
    """Data in one form."""

    form: SuiteForm
    data: Any

    def suite(self) -> EvalSuite:
        """Return the evals as typed values.

        Raises:
            SuiteError: the data is not of the form.
        """
        parts = self.form.split(self.data)
        return EvalSuite(skill=self.form.read_head(parts.head), cases=tuple(_cases(self.form, parts)))


def form_named(name: str) -> SuiteForm:
    """Return a form.

    Raises:
        SuiteError: there is no such form.
    """
    if name not in FORMS:
        raise SuiteError(f"there is no form {name!r}; the forms are {', '.join(FORMS)}")
    return FORMS[name]


def form_of(data: Any) -> SuiteForm:  # noqa: ANN401 -- JSON
    """Return the form of JSON data.

    Raises:
        SuiteError: it is none of the forms of JSON.
    """
    if (named := _written_as(data)) is not None:
        return named
    if (imported := imported_form_of(data)) is not None:
        return imported
    if isinstance(data, dict):
        if isinstance(data.get("cases"), list):
            return CASES
        if "question" in data and "evals" not in data:
            return QUESTIONS
        listed = data.get("evals")
    else:
        listed = data
    if not isinstance(listed, list):
        raise SuiteError("expected an object with a list `evals`, or the list itself")
    evals = [one for one in listed if isinstance(one, dict)]
    if listed is data and any("question" in one for one in evals):
        return QUESTIONS
    if any("expectations" in one and "assertions" not in one for one in evals):
        return SKILL_CREATOR
    objects = any(isinstance(item, dict) for one in evals for item in _listed(one.get("assertions")))
    return TYPED if objects else GUIDE


def _written_as(data: Any) -> SuiteForm | None:  # noqa: ANN401 -- JSON
    """Return the form that a converted file names, if its shape agrees; two forms may look alike without assertions."""
    first = data[0] if isinstance(data, list) and data else data
    carried = first.get(CARRIED) if isinstance(first, dict) else None
    form = FORMS.get(str(carried.get("as"))) if isinstance(carried, dict) else None
    if form is None or form.layout == "folder":
        return None
    member = "cases" if form.name == CASES.name else "evals"
    listed = data.get(member) if isinstance(data, dict) and form.layout == "object" else data
    return form if isinstance(listed, list) else None


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def converted(source: FormedData, to: SuiteForm) -> tuple[FormedData, tuple[LostMember, ...]]:
    """Return the data in another form, and the members that other tools lose by it.

    Raises:
        SuiteError: the data is not of its form, or the form `to` cannot be used for it.
    """
    source = original(source)
    if source.form.name == to.name:
        return source, ()
    parts = source.form.split(source.data)
    cases = _cases(source.form, parts)
    skill = source.form.read_head(parts.head)
    written = Parts(
        head=to.write_head(skill),
        cases=[to.write_case(case, number) for number, case in enumerate(cases, 1)],
        names=names_of(cases) if to.layout == "folder" else [],
    )
    if to.name == WAZA.name:
        written.names = [f"{name}.yaml" for name in written.names]
    changes = _Changes(source.form, to, written)
    head = changes.of_head(parts.head)
    each = [changes.of_case(place, case) for place, case in enumerate(parts.cases)]
    lost = [LostMember(eval=None, **what) for what in _lost(head, source.form, to, of_case=False)]
    for number, (case, change) in enumerate(zip(cases, each, strict=True), 1):
        kept = changes.kept(number - 1, case)
        named = number if case.id is None else case.id
        found = _lost(change, source.form, to, of_case=True)
        lost += [LostMember(eval=named, **what) for what in found if what["member"] not in kept]
    carried: dict[str, Any] = {"form": source.form.name, "as": to.name, **({"suite": head} if head else {})}
    if source.form.layout == "folder":
        carried["names"] = parts.names
    return FormedData(form=to, data=_attached(to, written, carried, each)), tuple(lost)


# What foreign data in place of changes can cause. RecursionError: changes inside of changes.
_FOREIGN = (
    *(ChangesDoNotFitError, SuiteError, LookupError, TypeError, AttributeError, ValueError),
    RecursionError,
)


def original(formed: FormedData) -> FormedData:
    """Return the data in the form that it was first written in.

    If the file has more than could be written back to that form, the data is returned unchanged, so that all is kept.
    """
    try:
        found = _detached(formed)
        if found is None:
            return formed
        again, _ = converted(found, formed.form)
    except _FOREIGN:
        return formed
    return found if not difference(_unordered(again.data), _unordered(formed.data)) else formed


def _cases(form: SuiteForm, parts: Parts) -> list[SuiteCase]:
    """Return the evals. One in a folder of its own, without an id, has the folder's name as its id."""
    read = [form.read_case(case) for case in parts.cases]
    if form.layout != "folder":
        return read
    named = zip(read, parts.names, strict=True)
    return [replace(case, id=name) if case.id is None else case for case, name in named]


def _unordered(value: Any) -> Any:  # noqa: ANN401 -- JSON
    """Return the value with sorted members: the order of a file's members has no meaning to a reader."""
    if isinstance(value, dict):
        return {key: _unordered(value[key]) for key in sorted(value)}
    return [_unordered(item) for item in value] if isinstance(value, list) else value


class _Changes:
    """The changes to the first form, rebuilt from the second, that give the first as it was."""

    def __init__(self, source: SuiteForm, to: SuiteForm, written: Parts) -> None:
        self._source, self._to, self._written = source, to, written
        self._read = _cases(to, written)

    def of_head(self, head: Mapping[str, Any]) -> dict[str, Any]:
        return difference(self._source.write_head(self._to.read_head(self._written.head)), head)

    def of_case(self, place: int, case: Mapping[str, Any]) -> dict[str, Any]:
        read = self._read[place]
        return difference(self._source.write_case(read, place + 1), case)

    def kept(self, place: int, case: SuiteCase) -> frozenset[str]:
        after = self._read[place]
        if self._source.name != TYPED.name:
            return kept_members(self._source, case, after)
        kept = kept_of_checks(case.checks, after.checks)
        return frozenset(_shown((TYPED.checks, one, *([name] if name else []))) for one, name in kept)


def _lost(changes: Mapping[str, Any], source: SuiteForm, to: SuiteForm, *, of_case: bool) -> Iterator[dict[str, str]]:
    """Yield the members that were set and have a value; an expected skill may be null."""
    for path, value in changed_paths(changes):
        if not path or (value in (None, [], {}, "") and path[-1] != "expected_skill"):
            continue
        if not of_case and path[0] in ("x-list", "x-single"):
            continue
        if path == ("id",) and isinstance(value, int) and to.layout == "folder":
            continue  # an id is a text there, and otherwise the same
        known = path[0] in (source.members if of_case else ("skill_name", "skill"))
        reason = f"{to.name} has no place for it" if known else f"it is no member of the form {source.name}"
        yield {"member": _shown(path), "reason": reason}


def _shown(path: JsonPath) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _attached(to: SuiteForm, parts: Parts, carried: dict[str, Any], each: list[dict[str, Any]]) -> Any:  # noqa: ANN401 -- JSON
    """Return the data with `carried` for the whole file, and `each` for each eval."""
    if to.layout == "folder":
        listed = [{"name": name, **change} for name, change in zip(parts.names, each, strict=True)]
        parts.head = {**parts.head, ORIGIN: {**carried, "evals": listed}}
        return to.join(parts)
    pairs = zip(parts.cases, each, strict=True)
    parts.cases = [{**case, CARRIED: change} if change else case for case, change in pairs]
    if to.layout == "object":
        parts.head = {**parts.head, CARRIED: carried}
    elif parts.cases:
        parts.cases[0] = {**parts.cases[0], CARRIED: {**carried, "eval": each[0]}}
    else:
        parts.cases = [{CARRIED: {**carried, "empty": True}}]  # a list has no other place for it
    return to.join(parts)


def _detached(formed: FormedData) -> FormedData | None:
    """Return the first form, rebuilt; None if the data carries no changes."""
    parts = formed.form.split(formed.data)
    parts.cases = [dict(case) for case in parts.cases]
    if formed.form.layout == "folder":
        carried = parts.head.pop(ORIGIN, None)
    elif formed.form.layout == "object":
        carried = parts.head.pop(CARRIED, None)
    else:
        carried = parts.cases[0].pop(CARRIED, None) if parts.cases else None
    known = {**FORMS, **IMPORTED}
    if not isinstance(carried, dict) or carried.get("form") not in known:
        return None
    source = known[carried["form"]]
    if carried.get("empty"):
        parts.cases = parts.cases[1:]
    changes = _changes_of(formed.form, parts, carried)
    head = apply(carried.get("suite", {}), source.write_head(formed.form.read_head(parts.head)))
    cases = [
        apply(change, source.write_case(case, number))
        for number, (case, change) in enumerate(zip(_cases(formed.form, parts), changes, strict=True), 1)
    ]
    names = list(carried.get("names", ()))
    if source.layout == "folder" and len(names) != len(cases):
        names = names_of(source.read_case(case) for case in cases)
    return FormedData(form=source, data=source.join(Parts(head=head, cases=cases, names=names)))


def _changes_of(form: SuiteForm, parts: Parts, carried: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the changes of each eval, and put the evals of a folder into their first order."""
    if form.layout != "folder":
        changes = [case.pop(CARRIED, {}) for case in parts.cases]
        if form.layout == "list" and not carried.get("empty"):
            changes[0] = carried.get("eval", {})
        return changes
    by_name = {entry["name"]: entry for entry in carried["evals"]}
    first = {name: place for place, name in enumerate(by_name)}
    order = sorted(range(len(parts.names)), key=lambda place: (first.get(parts.names[place], len(first)), place))
    parts.cases = [parts.cases[place] for place in order]
    parts.names = [parts.names[place] for place in order]
    return [by_name.get(name, {}) for name in parts.names]
