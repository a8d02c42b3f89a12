"""A file of evaluations is judged by the shape of the guide."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from prowess.lint import lint_skill
from prowess.rule_engine import Selection
from tests.lint.case import Case, body, lay_out

if TYPE_CHECKING:
    from pathlib import Path


def faults(folder: Path, **changed: object) -> list[str]:
    case = Case(rule="testing.evals", bad=body("x"), good=())
    skill = lay_out(case, case.bad, folder)
    (skill / "evals").mkdir()
    one: dict[str, object] = {
        "id": 1,
        "prompt": "Sort.",
        "expected_output": "Rows.",
        "files": ["SKILL.md"],
        "assertions": ["Sorted."],
    }
    document: dict[str, object] = {"skill_name": case.name, "evals": [one, {**one, "id": 2}]}
    for key, value in changed.items():
        target = document if key in document else one
        target[key] = value
    (skill / "evals" / "evals.json").write_text(json.dumps(document, indent=1), encoding="utf-8")
    return [found.message for found in lint_skill(skill, selection=Selection(select=(case.rule,)))]


@pytest.mark.proves("evals.json.shape", "evals.json.validation")
def test_what_the_guide_asks_for_is_right_and_each_departure_is_named(tmp_path: Path) -> None:
    assert faults(tmp_path / "right") == []
    assert faults(tmp_path / "id", id=2) == ["evals[1].id is '2' as in an earlier eval"]
    assert faults(tmp_path / "name", skill_name="other") == [
        "skill_name is 'other', but the name of the skill is 'pdf-tables'"
    ]
    assert faults(tmp_path / "evals", evals={}) == ["expected an object with a list `evals`, or the list itself"]
    assert faults(tmp_path / "prompt", prompt=7) == ["evals[0].prompt must be a text that is not empty"]
    assert faults(tmp_path / "output", expected_output="") == [
        "evals[0].expected_output must be a text that is not empty"
    ]
    assert faults(tmp_path / "assertions", assertions=[{}]) == [
        "evals[0].assertions[0] must be a text, or an object with a text `text`"
    ]
    assert faults(tmp_path / "typed", assertions=[{"text": "a", "type": "contains_phrase", "phrase": "b"}]) == []
    assert faults(tmp_path / "phrase", assertions=[{"text": "a", "type": "contains_phrase"}]) == [
        "evals[0].assertions[0] is of type contains_phrase, and must have a text `phrase`"
    ]


@pytest.mark.proves("evals.trigger.shape")
def test_a_trigger_set_is_a_list_of_queries_with_an_answer_each(tmp_path: Path) -> None:
    case = Case(rule="testing.evals", bad=body("x"), good=())
    skill = lay_out(case, case.bad, tmp_path)
    (skill / "evals").mkdir()
    good = {"query": "Sort it", "should_trigger": True}
    rows = [good, {**good, "should_trigger": "yes"}, {"query": " ", "should_trigger": False}, 7]
    path = skill / "evals" / "triggers.json"
    for given, expected in (
        ([good, {**good, "query": "Sum it", "should_trigger": False}], []),
        (
            rows,
            [
                "[1].query is there twice",
                "[1].should_trigger must be true or false",
                "[2].query must be a text that is not empty",
                "[3] is not an object",
            ],
        ),
        ({"query": 1}, []),
    ):
        path.write_text(json.dumps(given), encoding="utf-8")
        found = lint_skill(skill, selection=Selection(select=(case.rule,)))
        assert [one.message for one in found] == expected


@pytest.mark.proves("evals.json.files")
@pytest.mark.parametrize("path", ["../out.csv", "/etc/hosts", "evals/gone.csv", "a\0b"])
def test_a_file_outside_the_skill_is_no_file_of_it(path: str, tmp_path: Path) -> None:
    (found,) = faults(tmp_path, files=["SKILL.md", path])
    assert found == f"{path!r} is not a file of the skill; paths are relative to its directory"
