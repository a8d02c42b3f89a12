"""A file of evaluations is judged by the shape of the guide."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from prowess.lint import lint_skill
from prowess.rule_engine import Selection
from tests.evals.campaigns.skills import BAD_GRADERS
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
    assert faults(tmp_path / "flag", id=True) == ["evals[0].id must be a number or a text"]
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
        "evals[0].assertions[0] cannot be graded: an assertion of the type contains_phrase needs a text 'phrase'"
    ]


@pytest.mark.proves("evals.json.validation")
@pytest.mark.parametrize(("members", "reason"), BAD_GRADERS)
def test_a_grader_that_eval_run_refuses_is_a_finding(members: dict[str, object], reason: str, tmp_path: Path) -> None:
    (found,) = faults(tmp_path, assertions=["Sorted.", {"text": "it", **members}])
    assert found.startswith("evals[0].assertions[1] cannot be graded: ")
    assert reason in found


@pytest.mark.parametrize(
    "members",
    [
        {"type": "tool_used", "tool": "Read", "min": 2, "max": 2},
        {"type": "tool_used", "tool": "Read", "min": 0, "max": 0},
        {"type": "regex", "pattern": "[[a]"},  # Python warns that a later version may read it differently
        {"type": "regex", "pattern": "(?<year>20[0-9]{2})", "flags": "ims", "match": "count:0"},
    ],
)
def test_a_grader_that_can_decide_is_no_finding(members: dict[str, object], tmp_path: Path) -> None:
    assert faults(tmp_path, assertions=[{"text": "it", **members}]) == []


def test_a_grader_of_another_tool_is_no_finding(tmp_path: Path) -> None:
    others: list[dict[str, object]] = [
        {"text": "a", "type": "rubric", "pattern": "("},
        {"text": "b", "type": "program", "config": {"x": 1}},
    ]
    others += [{"text": "c", "type": kind} for kind in ("contains", "llm-rubric", "tool_calls", "custom", "judged", "")]
    assert faults(tmp_path, assertions=others) == []


@pytest.mark.parametrize(("kind", "meant"), [("contains_phrse", "contains_phrase"), ("file_exist", "file_exists")])
def test_a_type_that_is_nearly_one_of_ours_is_a_finding_with_the_word_that_was_meant(
    kind: str, meant: str, tmp_path: Path
) -> None:
    assert faults(tmp_path, assertions=["Sorted.", {"text": "it", "type": kind, "phrase": "b"}]) == [
        f"evals[0].assertions[1] cannot be graded: no grader has the type {kind!r}; did you mean {meant!r}?"
    ]


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        (
            "evals.json",
            '{"skill_name": "pdf-tables",\n"evals": [{"id":1, "prompt": "a", "expected_output": "b",\n"prompt": "c"}]}',
            3,
        ),
        ("triggers.json", '[{"query": "a", "should_trigger": true,\n "should_trigger": false}]', 2),
        ("tests.yaml", "cases:\n- case: a\n  input: b\n  input: c\n  turns: [{text: d}]\n", 4),
        ("one/case.yaml", "execution: {prompt: a}\ngraders: [{type: llm, text: a}]\nexecution: {prompt: b}\n", 3),
    ],
)
def test_a_key_that_is_written_twice_is_a_finding_at_the_second(
    name: str, text: str, line: int, tmp_path: Path
) -> None:
    case = Case(rule="testing.evals", bad=body("x"), good=())
    path = lay_out(case, case.bad, tmp_path) / "evals" / name
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    found = lint_skill(tmp_path / case.name, selection=Selection(select=("testing.evals", "testing.tests")))
    assert [(one.location.line, one.message.partition(" is ")[2]) for one in found] == [
        (line, "written twice; keep one of them")
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


def test_a_file_that_lies_beside_the_evals_is_named_with_its_path_in_the_skill(tmp_path: Path) -> None:
    (found,) = faults(tmp_path, files=["evals.json"])
    assert found.endswith("paths are relative to its directory; write 'evals/evals.json'")
