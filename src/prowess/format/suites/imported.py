"""Forms of other tools that are read, and not written: trigger sets, caliper, skill-lab, openai's evaluations, axis.

| form | data | evals |
|---|---|---|
| `triggers` | a list of `{query, should_trigger}` (Agent Skills guide on descriptions) | its items |
| `caliper` | `*.eval.yaml` with `skills` and `tasks` | `tasks`: `name`, `prompt`, `expect`, `activates` |
| `skill-lab` | `triggers.yaml` with `skill` and `test_cases` | `id`, `prompt`, `type`, `expected` |
| `openai` | a folder `evaluations/` of `{query, expected_behavior, success_criteria}` | its files |
| `axis` | a scenario with `prompt` and `judge`, a list of `{check, weight}` | the scenario |

Other members, such as the Python assertions of caliper, are carried along and listed as lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Struct

from prowess.format.suites.fields import flag_in, id_in, text_in, texts_in
from prowess.format.suites.form import Parts, SuiteLayout, objects
from prowess.format.suites.suite import Check, SuiteCase, SuiteError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from prowess.format.suites.form import SuiteForm

_ALONE = "x-single"


class ImportedForm(Struct, frozen=True, kw_only=True):
    """A form whose evals are in the list `listed`; None if the data is the list, or one eval alone."""

    name: str
    members: Collection[str]
    listed: str | None = None
    layout: SuiteLayout = "object"

    def split(self, data: Any) -> Parts:  # noqa: ANN401 -- JSON
        """Take the evals out."""
        if self.layout == "folder" and isinstance(data, dict):
            return Parts(head={}, cases=objects([*data.values()], "files"), names=[*data])
        if self.listed is not None and isinstance(data, dict) and isinstance(data.get(self.listed), list):
            return Parts(head={**data, self.listed: None}, cases=objects(data[self.listed], self.listed), names=[])
        if self.listed is None and isinstance(data, list):
            return Parts(head={}, cases=objects(data, ""), names=[])
        if self.listed is None and isinstance(data, dict):
            return Parts(head={_ALONE: True}, cases=[data], names=[])
        raise SuiteError(f"expected a list {self.listed or 'of evals'}, as the form {self.name} has it")

    def join(self, parts: Parts) -> Any:  # noqa: ANN401 -- JSON
        """Put the evals back."""
        if self.layout == "folder":
            return dict(zip(parts.names, parts.cases, strict=True))
        if self.listed is not None:
            return {**parts.head, self.listed: parts.cases}
        return parts.cases[0] if _ALONE in parts.head and len(parts.cases) == 1 else parts.cases

    def read_head(self, head: Mapping[str, Any]) -> str | None:
        """Return `skill`, or the only one of `skills`."""
        skill = head.get("skill")
        skills = head.get("skills")
        if isinstance(skills, list) and len(skills) == 1:
            skill = skills[0]
        if isinstance(skill, dict):
            path = text_in(skill, "path") or ""
            skill = text_in(skill, "name") or path
        if isinstance(skill, str) and "/" in skill:
            skill = skill.removesuffix("SKILL.md").strip("./").rpartition("/")[2] or None
        return skill if isinstance(skill, str) else None

    def write_head(self, skill: str | None) -> dict[str, Any]:
        """Return the head."""
        return {} if self.listed is None else {"skill": skill, self.listed: None}

    def read_case(self, data: Mapping[str, Any]) -> SuiteCase:
        """Return one eval."""
        name = id_in(data) if "id" in self.members else text_in(data, "name")
        checks = _texts(data, "expect") if "expect" in self.members else ()
        checks += texts_in(data, "expected_behavior") if "expected_behavior" in self.members else ()
        checks += texts_in(data, "success_criteria") if "success_criteria" in self.members else ()
        if "judge" in self.members and isinstance(listed := data.get("judge"), list):
            checks += tuple(item["check"] for item in listed if isinstance(item, dict) and text_in(item, "check"))
        activates = _texts(data, "activates") if "activates" in self.members else ()
        return SuiteCase(
            id=name,
            prompt=text_in(data, "query" if "query" in self.members else "prompt"),
            checks=tuple(Check(text=text) for text in checks),
            expected_skill=activates[0] if len(activates) == 1 else UNSET,
            should_trigger=_triggers(data) if "expected" in self.members else flag_in(data, "should_trigger"),
        )

    def write_case(self, case: SuiteCase, number: int) -> dict[str, Any]:
        """Return the members that all of these forms have; the rest of an eval is carried as changes to it."""
        del number
        written: dict[str, Any] = {} if case.id is None else {"id" if "id" in self.members else "name": case.id}
        written["query" if "query" in self.members else "prompt"] = case.prompt
        if case.should_trigger is not None and "should_trigger" in self.members:
            written["should_trigger"] = case.should_trigger
        return written


def _texts(data: Mapping[str, Any], member: str) -> tuple[str, ...]:
    value = text_in(data, member)
    return texts_in(data, member) if value is None else (value,)


def _triggers(data: Mapping[str, Any]) -> bool | None:
    """Return whether a test of skill-lab expects the skill: `trigger`, or `{skill_triggered: true}`."""
    expected = data.get("expected")
    if isinstance(expected, dict):
        return flag_in(expected, "skill_triggered")
    return None if not isinstance(expected, str) else expected == "trigger"


TRIGGERS = ImportedForm(name="triggers", members=("query", "should_trigger"))
CALIPER = ImportedForm(name="caliper", members=("name", "prompt", "expect", "activates"), listed="tasks")
SKILL_LAB = ImportedForm(name="skill-lab", members=("id", "prompt", "expected"), listed="test_cases")
OPENAI = ImportedForm(
    name="openai", members=("name", "query", "expected_behavior", "success_criteria"), layout="folder"
)
AXIS = ImportedForm(name="axis", members=("name", "prompt", "judge"))


_READ_AS = {
    **dict.fromkeys(("expect", "expected_behavior", "success_criteria"), "checks"),
    "activates": "expected_skill",
    "expected": "should_trigger",
}


def kept_members(form: SuiteForm, before: SuiteCase, after: SuiteCase) -> frozenset[str]:
    """Return the members of an imported eval whose meaning the converted one has in members of its own form.

    The weights of axis have no place elsewhere, so `judge` is not among them.
    """
    if not isinstance(form, ImportedForm):
        return frozenset()
    return frozenset(key for key, field in _READ_AS.items() if _meaning(before, field) == _meaning(after, field))


def _meaning(case: SuiteCase, field: str) -> object:
    return [check.text for check in case.checks] if field == "checks" else getattr(case, field)


def imported_form_of(data: Any) -> ImportedForm | None:  # noqa: ANN401 -- JSON
    """Return the form of data in one file, if it is one of these."""
    if isinstance(data, list):
        return TRIGGERS if data and all(isinstance(one, dict) and "query" in one for one in data) else None
    if not isinstance(data, dict):
        return None
    if isinstance(data.get("tasks"), list) and ("skills" in data or "skill" in data):
        return CALIPER
    if isinstance(data.get("test_cases"), list):
        return SKILL_LAB
    return AXIS if isinstance(data.get("judge"), list) else None


def is_openai_evaluation(data: Any) -> bool:  # noqa: ANN401 -- JSON
    """Whether the data is one file of a folder `evaluations/`."""
    return isinstance(data, dict) and "query" in data and ("expected_behavior" in data or "success_criteria" in data)
