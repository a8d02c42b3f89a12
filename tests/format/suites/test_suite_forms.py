"""A suite goes into every form and back, equal as data, and the losses for other tools are named."""

from __future__ import annotations

import itertools
import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prowess.format.suites.files import read_suite, texts_of, write_suite
from prowess.format.suites.forms import CARRIED, FORMS, IMPORTED, FormedData, converted, form_of, original
from prowess.format.suites.suite import Check, SuiteError
from tests.format.suites.making_suites import suite

if TYPE_CHECKING:
    from pathlib import Path

SEEDS = int(os.environ.get("PROWESS_SUITES", "48"))


def formed(data: Any) -> FormedData:  # noqa: ANN401 -- JSON
    return FormedData(form=form_of(data), data=data)


def same(one: object, two: object) -> bool:
    return json.dumps(one) == json.dumps(two)


@pytest.mark.parametrize("form", FORMS.values(), ids=lambda form: form.name)
def test_every_suite_survives_a_trip_through_every_form_on_disk(form: Any, tmp_path: Path) -> None:  # noqa: ANN401 -- a form
    for seed in range(SEEDS):
        first = formed(suite(seed))
        out = str(tmp_path / str(seed))
        write_suite(converted(first, form)[0], out)
        back = original(read_suite(out))
        assert back.form.name == first.form.name, seed
        assert same(back.data, first.data), seed


def test_a_suite_survives_a_walk_through_all_forms() -> None:
    for seed in range(16):
        first = formed(suite(seed))
        here = first
        for form in itertools.chain(FORMS.values(), reversed([*FORMS.values()])):
            here, _ = converted(here, form)
        assert same(converted(here, first.form)[0].data, first.data), seed


@pytest.mark.parametrize("name", ["plugin-eval", "waza"])
def test_evals_keep_their_order_in_a_folder(name: str, tmp_path: Path) -> None:
    first = formed([{"id": one, "question": "q", "ground_truth": "g"} for one in ("z", "m", "a", "k")])
    write_suite(converted(first, FORMS[name])[0], str(tmp_path / "out"))
    assert original(read_suite(str(tmp_path / "out"))).data == first.data


def test_an_edit_in_the_second_form_is_kept_on_the_way_back() -> None:
    first = formed([{"id": "a", "question": "Sort.", "expected_skill": "sort", "ground_truth": "Rows.", "level": 3}])
    second, _ = converted(first, FORMS["guide"])
    second.data["evals"][0]["prompt"] = "Sort the rows."
    second.data["evals"].append({"id": "b", "prompt": "Sum.", "expected_output": "7"})
    back = original(second)
    assert back.form.name == "questions"
    assert back.data == [
        {"id": "a", "question": "Sort the rows.", "expected_skill": "sort", "ground_truth": "Rows.", "level": 3},
        {"id": "b", "question": "Sum.", "ground_truth": "7"},
    ]


def test_an_edit_that_the_first_form_cannot_say_keeps_the_file_in_its_form() -> None:
    first = formed([{"id": "a", "question": "Sort.", "ground_truth": "Rows."}])
    second, _ = converted(first, FORMS["waza"])
    second.data["tasks"]["a.yaml"]["golden"] = True
    assert original(second) is second
    third, lost = converted(second, FORMS["guide"])
    assert [(row.eval, row.member) for row in lost if row.eval] == [("a", "golden")]
    assert same(original(third).data, second.data)


def test_what_other_tools_lose_is_named_with_a_reason() -> None:
    one = {
        "id": 7,
        "question": "Q",
        "expected_skill": None,
        "expected_script": None,
        "tier": "gold",
        "ground_truth": "g",
    }
    _, lost = converted(formed([one]), FORMS["guide"])
    assert [(row.eval, row.member, row.reason) for row in lost] == [
        (7, "expected_skill", "guide has no place for it"),
        (7, "tier", "it is no member of the form questions"),
    ]
    guide = {"skill_name": "s", "evals": [{"id": 1, "prompt": "p", "expected_output": "e", "assertions": ["a"]}]}
    assert converted(formed(guide), FORMS["skill-creator"])[1] == ()
    assert [row.member for row in converted(formed(guide), FORMS["questions"])[1]] == ["skill_name"]


def test_typed_assertions_become_what_each_tool_checks_by_itself() -> None:
    check = {"text": "It names rows.", "type": "contains_pattern", "pattern": "rows?"}
    phrase = {"text": "It has no sum.", "type": "not_contains_phrase", "phrase": "sum (a+b)"}
    one = {"id": "a", "prompt": "p", "expected_output": "e", "assertions": [check, phrase]}
    first = formed({"skill_name": "s", "evals": [one]})
    assert first.form.name == "typed"
    assert first.suite().cases[0].checks == (
        Check(text="It names rows.", kind="matches", value="rows?"),
        Check(text="It has no sum.", kind="not_contains", value="sum (a+b)"),
    )
    waza, _ = converted(first, FORMS["waza"])
    assert waza.data["tasks"]["a.yaml"]["graders"][1]["config"] == {"regex_match": ["rows?"]}
    plugin, _ = converted(first, FORMS["plugin-eval"])
    assert texts_of(plugin)["a/graders/001-assertion.md"] == "---\ntype: regex\n---\nrows?\n"
    phrase_file = "---\ntype: regex\nmatch: not_contains\n---\nsum \\(a\\+b\\)\n"
    assert texts_of(plugin)["a/graders/002-phrase.md"] == phrase_file
    assert texts_of(plugin)["a/prompt.md"] == "p\n"
    assert [check.value for check in plugin.suite().cases[0].checks] == ["rows?", "sum (a+b)"]


def test_a_regex_on_the_answer_is_a_pattern_in_every_form() -> None:
    regex = {"text": "names euros", "type": "regex", "pattern": "EUR$"}
    others = [{**regex, "match": "not_contains"}, {**regex, "target": "trace"}, {**regex, "flags": "i"}]
    suite = {"skill_name": "s", "evals": [{"id": 1, "prompt": "p", "assertions": [regex, *others]}]}
    first = formed(suite)
    kinds = [check.kind for check in first.suite().cases[0].checks]
    assert kinds == ["matches", "not_matches", "judged", "judged"]
    plugin, _ = converted(first, FORMS["plugin-eval"])
    assert texts_of(plugin)["1/graders/001-assertion.md"] == "---\ntype: regex\n---\nEUR$\n"
    assert texts_of(plugin)["1/graders/003-assertion.md"] == "---\ntype: regex\ntarget: trace\n---\nEUR$\n"
    for form in FORMS.values():
        assert same(original(converted(first, form)[0]).data, suite)


def test_graders_on_tools_and_files_are_graders_of_claude_plugin_eval_too() -> None:
    graders: list[dict[str, object]] = [
        {"type": "tool_used", "tool": "Read", "input_match": "a.csv", "weight": 2},
        {"type": "tool_order", "before": "Read", "after": {"tool": "Bash"}},
        {"type": "file_exists", "path": "*.csv"},
        {"type": "regex", "pattern": "EUR$", "flags": "i"},
        {"type": "regex", "pattern": "EUR$", "weight": 3, "target": "last_message"},
        {"type": "tool_used"},  # faulty: it would make the tool refuse the case
        {"type": "cost", "usd": 1},
    ]
    assertions = [{"text": f"text {number}", **grader} for number, grader in enumerate(graders)]
    suite = {"skill_name": "s", "evals": [{"id": 1, "prompt": "p", "assertions": assertions}]}
    plugin, lost = converted(formed(suite), FORMS["plugin-eval"])

    files = [text for path, text in texts_of(plugin).items() if path.startswith("1/graders/0")]
    assert files[0] == "---\ntype: tool_used\ntool: Read\ninput_match: a.csv\nweight: 2\n---\n\n"
    assert [text.split("\n")[1] for text in files] == [
        "type: tool_used", "type: tool_order", "type: file_exists", "type: regex", "type: regex", *["type: llm"] * 2,
    ]  # fmt: skip
    assert {row.member for row in lost} == {
        *(f"assertions[{number}].text" for number in range(5)),
        *("assertions[5].type", "assertions[6].type", "assertions[6].usd", "skill_name"),
    }
    assert same(original(plugin).data, suite)
    plugin.data["cases"]["1"]["graders"]["001-assertion"]["fields"]["tool"] = "Glob"
    assert original(plugin).data["evals"][0]["assertions"][0]["tool"] == "Glob"


def test_an_assertion_that_is_a_text_among_objects_is_not_lost_in_a_form_of_texts() -> None:
    typed = {"text": "names it", "type": "contains_phrase", "phrase": "EUR"}
    suite = {"skill_name": "s", "evals": [{"id": 1, "prompt": "p", "assertions": [typed, "It is polite."]}]}
    guide, lost = converted(formed(suite), FORMS["guide"])
    assert guide.data["evals"][0]["assertions"] == ["names it", "It is polite."]
    assert [row.member for row in lost] == ["assertions[0].type", "assertions[0].phrase"]
    assert same(original(guide).data, suite)


def test_folders_of_the_two_tools_are_read_with_files_of_their_own(tmp_path: Path) -> None:
    case = tmp_path / "evals" / "first"
    (case / "graders").mkdir(parents=True)
    (case / "prompt.md").write_text("---\nmax_turns: 5\nallowed_tools: [Read]\n---\nSort the rows.\n", encoding="utf-8")
    (case / "graders" / "says.md").write_text("---\ntype: regex\nweight: 2\n---\nrows\n", encoding="utf-8")
    (case / "scaffold.sh").write_bytes(b"#!/bin/sh\ntouch a\n")
    (case / "odd.bin").write_bytes(b"\xff\x00")
    first = read_suite(str(tmp_path))
    assert first.form.name == "plugin-eval"
    (one,) = first.suite().cases
    assert (one.id, one.prompt, [check.value for check in one.checks]) == ("first", "Sort the rows.", ["rows"])
    second, lost = converted(first, FORMS["questions"])
    assert {row.member.partition(".")[0] for row in lost} >= {"prompt", "other"}
    out = tmp_path / "back"
    write_suite(original(FormedData(form=second.form, data=json.loads(json.dumps(second.data)))), str(out))
    assert (out / "first" / "odd.bin").read_bytes() == b"\xff\x00"
    assert read_suite(str(out)).data == first.data


@pytest.mark.parametrize(
    ("name", "content", "form", "prompts"),
    [
        ("t.json", '[{"query": "Sort it", "should_trigger": true}]', "triggers", ["Sort it"]),
        ("s.eval.yaml", "skills: [{path: ./sort}]\ntasks:\n- {name: a, prompt: P, expect: E}\n", "caliper", ["P"]),
        ("t.yaml", "skill: sort\ntest_cases:\n- {id: a, prompt: P, expected: no_trigger}\n", "skill-lab", ["P"]),
        ("o.json", '{"name": "a", "query": "P", "success_criteria": ["c"]}', "openai", ["P"]),
        ("x.yaml", "prompt: P\njudge:\n- {check: It is sorted, weight: 2}\n", "axis", ["P"]),
    ],
)
def test_forms_of_other_tools_are_imported_without_loss(
    name: str, content: str, form: str, prompts: list[str], tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    first = read_suite(str(tmp_path / name))
    assert first.form.name == form
    assert [case.prompt for case in first.suite().cases] == prompts
    for target in FORMS.values():
        second, _ = converted(first, target)
        assert same(original(second).data, first.data)


def test_what_an_imported_eval_says_in_other_members_is_not_lost() -> None:
    openai = FormedData(form=IMPORTED["openai"], data={"a.json": {"query": "P", "expected_behavior": ["It sorts."]}})
    assert converted(openai, FORMS["guide"])[1] == ()
    caliper = formed({"skills": ["./sort"], "tasks": [{"prompt": "P", "expect": "E", "activates": "sort"}]})
    assert caliper.suite().skill == "sort"
    assert [row.member for row in converted(caliper, FORMS["questions"])[1]] == ["skills"]
    assert [(row.eval, row.member) for row in converted(caliper, FORMS["guide"])[1]][1:] == [(1, "activates")]
    axis = formed({"prompt": "P", "judge": [{"check": "It is sorted", "weight": 2}]})
    assert [row.member for row in converted(axis, FORMS["guide"])[1]] == ["judge"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("[", "is not JSON: Expecting value"),
        ("7", "is no suite: expected an object with a list `evals`"),
        ('{"evals": [7]}', "evals.json is no suite: evals[0] is not an object"),
        (None, "cannot be read"),
    ],
)
def test_a_file_that_is_no_suite_is_named_with_the_reason(content: str | None, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "evals.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(SuiteError, match=reason.replace("[", r"\[").replace("`", ".")):
        converted(read_suite(str(path)), FORMS["waza"])


def test_names_in_data_cannot_leave_the_folder_that_is_written(tmp_path: Path) -> None:
    case = {"graders": {"../../../out": {"fields": {}, "body": "x"}}}
    data = FormedData(form=FORMS["plugin-eval"], data={"cases": {"a": case}})
    with pytest.raises(SuiteError, match="no path below the folder"):
        write_suite(data, str(tmp_path / "out"))
    assert not (tmp_path / "out.md").exists()
    with pytest.raises(SuiteError, match="exists"):
        write_suite(data, str(tmp_path))


def test_an_id_cannot_name_a_file_outside_the_folder() -> None:
    ids = ["../../etc/passwd", "..", "", "a/b", "A b", "a-b", "\0"]
    evals = [{"id": one, "prompt": "p", "expected_output": "e"} for one in ids]
    waza, _ = converted(formed({"skill_name": "s", "evals": evals}), FORMS["waza"])
    names = [*waza.data["tasks"]]
    assert names == [
        "etc-passwd.yaml", "eval-2.yaml", "eval-3.yaml", "a-b.yaml", "a-b-2.yaml", "a-b-3.yaml", "eval-7.yaml",
    ]  # fmt: skip


_KEYS = ["form", "as", "suite", "set", "unset", "order", "eval", "evals", "names", "name", "empty"]
SMALL = st.recursive(
    st.none() | st.sampled_from(["questions", "evals", "id", "prompt", "x-prowess", "", 0, 1]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(_KEYS), inner
    ),
    max_leaves=8,
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(SMALL, st.sampled_from([*FORMS]), SMALL)
def test_no_carried_value_makes_a_conversion_fail(carried: object, named: str, inner: object) -> None:
    value = {"form": named, "set": carried, **(inner if isinstance(inner, dict) else {})}
    one = {"id": 1, "prompt": "p", "expected_output": "e", CARRIED: carried}
    for data in ({"skill_name": "s", "evals": [one], CARRIED: value}, [{"question": "q", CARRIED: value}]):
        for form in FORMS.values():
            assert converted(original(formed(data)), form)[0].form is form


def test_a_folder_cannot_be_written_from_data_of_another_shape(tmp_path: Path) -> None:
    shapes: list[Any] = [{"a": 7}, {"a": {"other": 7}}, {"a": {"prompt.md": {"fields": {}, "body": 7}}}]
    for number, cases in enumerate(shapes):
        with pytest.raises(SuiteError, match="cannot be written as a folder"):
            write_suite(FormedData(form=FORMS["plugin-eval"], data={"cases": cases}), str(tmp_path / str(number)))


def test_a_value_that_is_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    (tmp_path / "evals.json").write_text('{"evals": ' + "[" * 300 + "]" * 300 + "}", encoding="utf-8")
    with pytest.raises(SuiteError, match="nested too deeply"):
        read_suite(str(tmp_path / "evals.json"))


def test_what_is_carried_cannot_make_reading_fail() -> None:
    evals = [{"id": 1, "prompt": "p", "expected_output": "e"}]
    for carried in (7, {"form": "nothing"}, {"form": "questions", "suite": 7}, {"form": "waza", "names": [1, 2]}):
        data = {"skill_name": "s", "evals": evals, CARRIED: carried}
        found = original(formed(data))
        assert found.data == data
