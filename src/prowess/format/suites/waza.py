"""The form `waza`: `eval.yaml`, and one file below `tasks/` for each eval.

The data is the object of `eval.yaml`, and its tasks by the names of their files, as `{"eval": {...}, "tasks": {...}}`.
Waza refuses unknown keys in both files. A prompt grader named `expected-output` has the expected output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Struct

from prowess.format.suites.fields import id_in, said, text_in, texts_in
from prowess.format.suites.form import Parts, SuiteLayout, objects
from prowess.format.suites.suite import Check, CheckKind, SuiteCase, SuiteError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_OUTPUT, _SKILL = "expected-output", "expected-skill"
_TEXT: Mapping[str, CheckKind] = {
    "contains": "contains",
    "not_contains": "not_contains",
    "regex_match": "matches",
    "regex_not_match": "not_matches",
}
_MEMBERS = {kind: member for member, kind in _TEXT.items()}


class WazaForm(Struct, frozen=True, kw_only=True):
    """A folder with `eval.yaml` and `tasks/`."""

    name: str = "waza"
    layout: SuiteLayout = "folder"
    members: Collection[str] = ("id", "name", "inputs", "expected", "graders")

    def split(self, data: Any) -> Parts:  # noqa: ANN401 -- JSON
        """Take the tasks out."""
        if not isinstance(data, dict) or not isinstance(data.get("eval"), dict):
            raise SuiteError("expected a folder with eval.yaml, a mapping, and tasks")
        tasks = data.get("tasks", {})
        head = {key: value for key, value in data.items() if key != "tasks"}
        return Parts(head=head, cases=objects([*tasks.values()], "tasks"), names=[*tasks])

    def join(self, parts: Parts) -> Any:  # noqa: ANN401 -- JSON
        """Put the tasks back."""
        return {**parts.head, "tasks": dict(zip(parts.names, parts.cases, strict=True))}

    def read_head(self, head: Mapping[str, Any]) -> str | None:
        """Return `skill` of `eval.yaml`."""
        return text_in(head.get("eval", {}), "skill")

    def write_head(self, skill: str | None) -> dict[str, Any]:
        """Return an `eval.yaml` that the schema of Waza accepts; the mock executor needs no provider."""
        name = skill or "skill"
        config = {"trials_per_task": 3, "timeout_seconds": 300, "executor": "mock", "model": "mock"}
        metric = {"name": "task_completion", "weight": 1.0, "threshold": 0.8}
        about = {"name": f"{name}-eval", "skill": name, "version": "1.0"}
        return {"eval": {**about, "config": config, "metrics": [metric], "tasks": ["tasks/*.yaml"]}}

    def read_case(self, data: Mapping[str, Any]) -> SuiteCase:
        """Return one task."""
        inputs, expected = _object(data.get("inputs")), _object(data.get("expected"))
        found = _Graders()
        graders = data.get("graders")
        for grader in graders if isinstance(graders, list) else ():
            found.add(_object(grader))
        trigger = expected.get("should_trigger")
        listed = inputs.get("files")
        files = [text_in(_object(item), "path") for item in listed] if isinstance(listed, list) else []
        return SuiteCase(
            id=id_in(data),
            prompt=text_in(inputs, "prompt"),
            expected_output=found.output,
            checks=tuple(found.checks),
            files=tuple(path for path in files if path is not None),
            expected_skill=UNSET if found.skill is None else found.skill,
            should_trigger=trigger if isinstance(trigger, bool) else None,
            graders=tuple(found.further),
        )

    def write_case(self, case: SuiteCase, number: int) -> dict[str, Any]:
        """Return one task. An id is a text here."""
        ident = str(number if case.id in (None, "") else case.id)
        inputs: dict[str, Any] = {"prompt": case.prompt or ""}
        if case.files:
            inputs["files"] = [{"path": path} for path in case.files]
        written: dict[str, Any] = {"id": ident, "name": ident, "inputs": inputs}
        if case.should_trigger is not None:
            written["expected"] = {"should_trigger": case.should_trigger}
        graders = []
        if case.expected_output:
            graders.append({"name": _OUTPUT, "type": "prompt", "config": {"prompt": case.expected_output}})
        if isinstance(case.expected_skill, str):
            config = {"mode": "any_order", "required_skills": [case.expected_skill]}
            graders.append({"name": _SKILL, "type": "skill_invocation", "config": config})
        graders += [_grader(check, place) for place, check in enumerate(case.checks, 1)]
        return {**written, "graders": graders} if graders else written


class _Graders:
    """Sorts the graders of a task: the expected output, the expected skill, and assertions."""

    def __init__(self) -> None:
        self.output: str | None = None
        self.skill: str | None = None
        self.checks: list[Check] = []
        self.further: list[Mapping[str, Any]] = []

    def add(self, grader: Mapping[str, Any]) -> None:
        config, name = _object(grader.get("config")), text_in(grader, "name")
        match grader.get("type"):
            case "prompt" if (text := text_in(config, "prompt")) is not None:
                if name == _OUTPUT:
                    self.output = text
                else:
                    self.checks.append(Check(text=text))
            case "skill_invocation" if len(skills := texts_in(config, "required_skills")) == 1:
                self.skill = skills[0]
            case "text":
                for member, kind in _TEXT.items():
                    self.checks += [
                        Check(text=said(kind, value), kind=kind, value=value) for value in texts_in(config, member)
                    ]
            case _:
                self.further.append(grader)


def _grader(check: Check, number: int) -> dict[str, Any]:
    name = f"assertion-{number}"
    if check.kind == "judged" or check.value is None:
        return {"name": name, "type": "prompt", "config": {"prompt": check.text or "-"}}
    return {"name": name, "type": "text", "config": {_MEMBERS[check.kind]: [check.value]}}


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


WAZA = WazaForm()
