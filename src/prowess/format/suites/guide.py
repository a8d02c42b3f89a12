"""The forms `guide`, `skill-creator` and `typed`: an object with `skill_name` and `evals`.

They differ in the assertions: `assertions` as texts (the Agent Skills guide on evaluating skills), `expectations` as
texts (the skill-creator skill), and `assertions` as objects with `text`, `type` and `phrase` or `pattern`. A bare list
of such evals is read too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from prowess.format.suites.fields import checks_in, flag_in, id_in, text_in, texts_in, typed_check
from prowess.format.suites.form import Parts, SuiteLayout, objects
from prowess.format.suites.suite import SuiteCase, SuiteError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_ALONE = "x-list"  # marks the head of a bare list


class EvalsForm(Struct, frozen=True, kw_only=True):
    """A file with `evals`; `checks` is the member of the assertions, and with `typed` they are objects."""

    name: str
    checks: str = "assertions"
    typed: bool = False
    layout: SuiteLayout = "object"

    @property
    def members(self) -> Collection[str]:
        """The members of an eval."""
        return ("id", "prompt", "expected_output", "files", self.checks, "should_trigger")

    def split(self, data: Any) -> Parts:  # noqa: ANN401 -- JSON
        """Take the evals out of the object."""
        if isinstance(data, list):
            return Parts(head={_ALONE: True}, cases=objects(data, "evals"), names=[])
        if not isinstance(data, dict) or not isinstance(data.get("evals"), list):
            raise SuiteError("expected an object with a list `evals`, or the list itself")
        return Parts(head={**data, "evals": None}, cases=objects(data["evals"], "evals"), names=[])

    def join(self, parts: Parts) -> Any:  # noqa: ANN401 -- JSON
        """Put the evals into the object."""
        return parts.cases if _ALONE in parts.head else {**parts.head, "evals": parts.cases}

    def read_head(self, head: Mapping[str, Any]) -> str | None:
        """Return `skill_name`."""
        return text_in(head, "skill_name")

    def write_head(self, skill: str | None) -> dict[str, Any]:
        """Return an object without evals."""
        return {"skill_name": skill or "", "evals": None}

    def read_case(self, data: Mapping[str, Any]) -> SuiteCase:
        """Return one eval."""
        return SuiteCase(
            id=id_in(data),
            prompt=text_in(data, "prompt"),
            expected_output=text_in(data, "expected_output"),
            checks=checks_in(data, self.checks),
            files=texts_in(data, "files"),
            should_trigger=flag_in(data, "should_trigger"),
        )

    def write_case(self, case: SuiteCase, number: int) -> dict[str, Any]:
        """Return one eval. Without an expected output, the assertions stand for it."""
        expected = case.expected_output or " ".join(check.text for check in case.checks)
        written = [typed_check(check) if self.typed else check.text for check in case.checks]
        more = {"files": list(case.files)} if case.files else {}
        triggers = {} if case.should_trigger is None else {"should_trigger": case.should_trigger}
        return {
            "id": number if case.id is None else case.id,
            "prompt": case.prompt or "",
            "expected_output": expected,
            **more,
            **({self.checks: written} if written else {}),
            **triggers,
        }


GUIDE = EvalsForm(name="guide")
SKILL_CREATOR = EvalsForm(name="skill-creator", checks="expectations")
TYPED = EvalsForm(name="typed", typed=True)
