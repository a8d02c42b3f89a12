"""The forms `questions` and `cases`: evals with `question`, `expected_skill`, `ground_truth`, `expected_behavior`.

`questions` is a bare list of them, or one alone. `cases` is an object with `skill` and a list `cases`. Both forms are
those of large public catalogs of skills.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Struct

from prowess.format.suites.fields import flag_in, id_in, text_in, texts_in
from prowess.format.suites.form import Parts, SuiteLayout, objects
from prowess.format.suites.suite import Check, SuiteCase, SuiteError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_SINGLE = "x-single"  # marks the head of a file with one eval and no list


class QuestionsForm(Struct, frozen=True, kw_only=True):
    """A file of questions; of the layout `object` the list is in `cases`."""

    name: str
    layout: SuiteLayout
    members: Collection[str] = (
        "id",
        "question",
        "expected_skill",
        "ground_truth",
        "expected_behavior",
        "files",
        "should_trigger",
    )

    def split(self, data: Any) -> Parts:  # noqa: ANN401 -- JSON
        """Take the questions out."""
        if self.layout == "object":
            if not isinstance(data, dict) or not isinstance(data.get("cases"), list):
                raise SuiteError("expected an object with a list `cases`")
            return Parts(head={**data, "cases": None}, cases=objects(data["cases"], "cases"), names=[])
        if isinstance(data, dict) and "question" in data:
            return Parts(head={_SINGLE: True}, cases=[data], names=[])
        if not isinstance(data, list):
            raise SuiteError("expected a list of questions")
        return Parts(head={}, cases=objects(data, ""), names=[])

    def join(self, parts: Parts) -> Any:  # noqa: ANN401 -- JSON
        """Put the questions back."""
        if self.layout == "object":
            return {**parts.head, "cases": parts.cases}
        return parts.cases[0] if _SINGLE in parts.head and len(parts.cases) == 1 else parts.cases

    def read_head(self, head: Mapping[str, Any]) -> str | None:
        """Return `skill`; a list has none."""
        return text_in(head, "skill")

    def write_head(self, skill: str | None) -> dict[str, Any]:
        """Return an object without questions, or the head of a list."""
        return {"skill": skill or "", "cases": None} if self.layout == "object" else {}

    def read_case(self, data: Mapping[str, Any]) -> SuiteCase:
        """Return one question. `expected_skill: null` means that no skill should be chosen."""
        skill = data.get("expected_skill", UNSET)
        return SuiteCase(
            id=id_in(data),
            prompt=text_in(data, "question"),
            expected_output=text_in(data, "ground_truth"),
            checks=tuple(Check(text=text) for text in texts_in(data, "expected_behavior")),
            files=texts_in(data, "files"),
            expected_skill=skill if skill is None or isinstance(skill, str) else UNSET,
            should_trigger=flag_in(data, "should_trigger"),
        )

    def write_case(self, case: SuiteCase, number: int) -> dict[str, Any]:
        """Return one question."""
        written: dict[str, Any] = {"id": number if case.id is None else case.id, "question": case.prompt or ""}
        if case.expected_skill is not UNSET:
            written["expected_skill"] = case.expected_skill
        if case.expected_output is not None:
            written["ground_truth"] = case.expected_output
        if case.checks:
            written["expected_behavior"] = [check.text for check in case.checks]
        if case.files:
            written["files"] = list(case.files)
        if case.should_trigger is not None:
            written["should_trigger"] = case.should_trigger
        return written


QUESTIONS = QuestionsForm(name="questions", layout="list")
CASES = QuestionsForm(name="cases", layout="object")
