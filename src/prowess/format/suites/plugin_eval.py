"""The form `plugin-eval`: the folders that `claude plugin eval` reads, one for each eval.

A folder has `prompt.md` (optional front matter, then the prompt) or `case.yaml`, or both, and `graders/NAME.md` (front
matter with `type`, then the rubric or the pattern). As data, an eval is

    {"prompt.md": {"fields": {}, "body": "..."}, "case.yaml": {...}, "graders": {"NAME": {"fields": {}, "body": "..."}}}

`claude plugin eval` refuses unknown keys, so these files get no further ones.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from prowess.format.suites.fields import pattern_of_answer, said, text_in
from prowess.format.suites.form import Parts, SuiteLayout, objects
from prowess.format.suites.grader_specs import parse_grader
from prowess.format.suites.suite import Check, CheckKind, SuiteCase, SuiteError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

PROMPT, CASE, GRADERS = "prompt.md", "case.yaml", "graders"
_OUTPUT = "expected-output"
_NATIVE = ("regex", "tool_used", "tool_order", "file_exists")  # graders without a model, as typed assertions name them
_ASSERTION = "-assertion"  # ends the names of graders that were assertions of another form
_PHRASE = "-phrase"  # ends the name of a grader whose pattern is a phrase, with signs escaped
_SIGNS = re.compile(r"[\\^$.|?*+()\[\]{}/-]")  # of patterns in JavaScript


class PluginEvalForm(Struct, frozen=True, kw_only=True):
    """A folder of cases. The data is an object of the cases by the names of their folders."""

    name: str = "plugin-eval"
    layout: SuiteLayout = "folder"
    members: Collection[str] = (PROMPT, CASE, GRADERS)

    def split(self, data: Any) -> Parts:  # noqa: ANN401 -- JSON
        """Take the cases out."""
        if not isinstance(data, dict) or not isinstance(data.get("cases"), dict):
            raise SuiteError("expected a folder with one folder for each eval")
        head = {key: value for key, value in data.items() if key != "cases"}
        return Parts(head=head, cases=objects([*data["cases"].values()], "cases"), names=[*data["cases"]])

    def join(self, parts: Parts) -> Any:  # noqa: ANN401 -- JSON
        """Put the cases back."""
        return {**parts.head, "cases": dict(zip(parts.names, parts.cases, strict=True))}

    def read_head(self, head: Mapping[str, Any]) -> str | None:
        """Return None: a plugin may have many skills."""
        del head
        return None

    def write_head(self, skill: str | None) -> dict[str, Any]:
        """Return an empty head."""
        del skill
        return {}

    def read_case(self, data: Mapping[str, Any]) -> SuiteCase:
        """Return one case. A grader named `expected-output` has the expected output."""
        case = _object(data.get(CASE))
        prompt = text_in(_object(data.get(PROMPT)), "body") or text_in(_object(case.get("execution")), "prompt")
        expected = text_in(case, "expected_outcome")
        checks = []
        for name, grader in _object(data.get(GRADERS)).items():
            check = _check(name, _object(grader))
            if name == _OUTPUT and check is not None and check.kind == "judged":
                expected = check.text
            elif check is not None:
                checks.append(check)
        return SuiteCase(
            id=text_in(data, "id"),
            prompt=prompt,
            expected_output=expected,
            checks=tuple(checks),
            graders=tuple(_further(data, case)),
        )

    def write_case(self, case: SuiteCase, number: int) -> dict[str, Any]:
        """Return one case. It has at least one grader, without which the case would be refused."""
        del number
        graders = {}
        if case.expected_output or not case.checks:
            body = case.expected_output or "The answer does what the prompt asks for."
            graders[_OUTPUT] = {"fields": {"type": "llm"}, "body": body}
        for number, check in enumerate(case.checks, 1):
            about = _PHRASE if check.kind in ("contains", "not_contains") else _ASSERTION
            graders[f"{number:03}{about}"] = _grader(check)
        return {PROMPT: {"fields": {}, "body": case.prompt or ""}, GRADERS: graders}


def _check(name: str, grader: Mapping[str, Any]) -> Check | None:
    body, fields = text_in(grader, "body"), _object(grader.get("fields"))
    if body is None:
        return None
    if _is_assertion(name, fields):
        return Check(text=name, grader=fields)
    if fields.get("type") != "regex":
        return Check(text=body) if fields.get("type") == "llm" else None
    kind: CheckKind = "not_matches" if fields.get("match") == "not_contains" else "matches"
    if name.endswith(_PHRASE):
        kind, body = ("contains" if kind == "matches" else "not_contains"), re.sub(r"\\(.)", r"\1", body)
    text, written = said(kind, body), None if name.endswith(_PHRASE) else {"pattern": body, **fields}
    if written is not None and pattern_of_answer(written) is None:
        return Check(text=text, grader=written)
    return Check(text=text, kind=kind, value=body, grader=written)


def _is_assertion(name: str, fields: Mapping[str, Any]) -> bool:
    """Whether a grader on tools or files was an assertion of another form. Others have no text that could be judged."""
    return name.endswith(_ASSERTION) and fields.get("type") in _NATIVE and fields.get("type") != "regex"


def _further(data: Mapping[str, Any], case: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the graders that are no assertions of other forms: those on tools and files, and those in `case.yaml`."""
    for name, grader in _object(data.get(GRADERS)).items():
        fields = _object(_object(grader).get("fields"))
        if fields.get("type") not in ("regex", "llm") and not _is_assertion(name, fields):
            yield {"name": name, **fields}
    listed = case.get("graders")
    for grader in listed if isinstance(listed, list) else ():
        if isinstance(grader, dict):
            yield grader


def _grader(check: Check) -> dict[str, Any]:
    """Patterns of other tools are taken as they are; the dialect here is JavaScript's."""
    if check.grader is not None and _is_native(check.grader):
        fields = {key: value for key, value in check.grader.items() if key not in ("text", "name", "pattern")}
        return {"fields": fields, "body": text_in(check.grader, "pattern") or ""}
    if check.kind == "judged" or check.value is None:
        return {"fields": {"type": "llm"}, "body": check.text}
    fields = {"type": "regex", **({"match": "not_contains"} if check.kind.startswith("not_") else {})}
    phrase = check.kind in ("contains", "not_contains")
    return {"fields": fields, "body": _SIGNS.sub(r"\\\g<0>", check.value) if phrase else check.value}


def _is_native(grader: Mapping[str, Any]) -> bool:
    """Whether this tool has the grader. One that is faulty would make it refuse the case."""
    try:
        parse_grader(grader)
    except SuiteError:
        return False
    return grader.get("type") in _NATIVE


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


PLUGIN_EVAL = PluginEvalForm()
