from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from prowess.errors import InvalidArgumentsError
from prowess.evals.campaigns.planning import JudgedCheck, TextCheck, UngradedCheck, plan_evals
from prowess.format.suites.files import read_suite, write_suite
from prowess.format.suites.forms import FORMS, converted
from prowess.format.suites.grader_specs import ToolOrderGrader, ToolUsedGrader
from prowess.format.suites.suite import SuiteError
from tests.evals.campaigns.skills import BAD_GRADERS, an_eval, skill_at

if TYPE_CHECKING:
    from pathlib import Path


def test_assertions_that_code_can_check_are_not_for_the_judge(tmp_path: Path) -> None:
    phrase = {"text": "names the sum", "type": "contains_phrase", "phrase": "12.50"}
    tool = {"text": "reads the file", "type": "tool_used", "tool": "Read"}
    root = skill_at(tmp_path, an_eval(1, phrase, tool, {"text": "is polite"}))
    (planned,) = plan_evals(str(root)).evals
    code, used, judged = planned.assertions

    assert code.check == TextCheck(kind="contains", value="12.50")
    assert isinstance(used.check, ToolUsedGrader)
    assert judged.check == JudgedCheck(text="is polite")
    assert planned.is_judged


@pytest.mark.parametrize("form", FORMS)
def test_an_eval_in_every_form_has_a_directory_a_prompt_and_assertions(form: str, tmp_path: Path) -> None:
    root = skill_at(tmp_path, an_eval(1, "names the sum"), an_eval("Q1 sums", "is polite"))
    data, _ = converted(read_suite(str(root)), FORMS[form])
    other = skill_at(tmp_path / "other")
    (other / "evals").mkdir()
    place = other / "evals" if data.form.layout == "folder" else other / "evals" / "evals.json"
    write_suite(data, str(place / "suite" if data.form.layout == "folder" else place))
    plan = plan_evals(str(place / "suite" if data.form.layout == "folder" else other))

    assert plan.root == str(other)
    assert [one.directory for one in plan.evals] == ["eval-1", "eval-q1-sums"]
    assert all(one.prompt == "Sum it up" and one.assertions and one.fault is None for one in plan.evals)


def test_an_eval_without_assertions_is_judged_by_its_expected_output(tmp_path: Path) -> None:
    (planned,) = plan_evals(str(skill_at(tmp_path, an_eval()))).evals
    assert planned.assertions[0].text == "The result is as expected: The sum."
    assert planned.assertions[0].is_judged


def test_the_folders_of_claude_plugin_eval_keep_graders_of_tools(tmp_path: Path) -> None:
    root = skill_at(tmp_path)
    case = root / "evals" / "reads"
    (case / "graders").mkdir(parents=True)
    (case / "prompt.md").write_text("Sum it up")
    (case / "graders" / "skill.md").write_text("---\ntype: tool_used\ntool: Skill\narm: with-only\n---\n")
    (case / "graders" / "order.md").write_text("---\ntype: tool_order\nbefore: Read\nafter: {tool: Bash}\n---\n")
    (case / "graders" / "like.md").write_text("---\ntype: baseline\nbaseline_file: run.jsonl\n---\n")
    by_text = {one.text: one for one in plan_evals(str(root)).evals[0].assertions}

    assert isinstance(by_text["skill"].check, ToolUsedGrader)
    assert not by_text["skill"].in_baseline
    assert isinstance(by_text["order"].check, ToolOrderGrader)
    assert by_text["like"].check == UngradedCheck(reason="no grader has the type 'baseline'")


@pytest.mark.parametrize(
    ("members", "fault"),
    [
        ({"prompt": "  "}, "no prompt"),
        ({"prompt": "half \ud800"}, "the prompt has half of a surrogate pair; write the whole character"),
        ({"expected_output": ""}, "nothing can be graded"),
        ({"files": ["evals/files/missing.csv"]}, "cannot be read"),
        ({"files": ["evals/a.csv", "evals/files/a.csv"]}, "two files would be 'a.csv'"),
        ({"files": "evals/a.csv"}, "files must be a list of texts"),
        ({"assertions": ["is polite", 3]}, "assertions[1] must be a text, or an object"),
        ({"assertions": {"text": "is polite"}}, "assertions must be a list"),
    ],
)
def test_a_broken_eval_does_not_take_down_the_others(members: dict[str, Any], fault: str, tmp_path: Path) -> None:
    root = skill_at(tmp_path, an_eval(1, **members), an_eval(2))
    for place in ("evals/a.csv", "evals/files/a.csv"):
        (root / place).parent.mkdir(exist_ok=True)
        (root / place).write_text("1,2")
    broken, other = plan_evals(str(root)).evals

    assert broken.fault is not None
    assert fault in broken.fault
    assert other.fault is None


@pytest.mark.parametrize(
    ("members", "fault"),
    [
        *BAD_GRADERS,
        ({"type": "program", "path": "../x"}, "leaves the skill"),
        ({"type": "program", "path": "evals/missing.py"}, "cannot be read"),
    ],
)
def test_an_eval_whose_grader_can_decide_nothing_is_not_run(
    members: dict[str, Any], fault: str, tmp_path: Path
) -> None:
    (planned,) = plan_evals(str(skill_at(tmp_path, an_eval(1, "is polite", {"text": "it", **members})))).evals
    assert planned.fault is not None
    assert planned.fault.startswith("the assertion 'it' cannot be graded: ")
    assert fault in planned.fault


@pytest.mark.parametrize(
    ("kind", "reason"), [("nope", "no grader has the type 'nope'"), ("contains_phrase", "needs a text 'phrase'")]
)
def test_an_assertion_of_an_unknown_type_or_without_a_phrase_is_not_for_the_judge(
    kind: str, reason: str, tmp_path: Path
) -> None:
    (planned,) = plan_evals(str(skill_at(tmp_path, an_eval(1, {"text": "it", "type": kind})))).evals
    (one,) = planned.assertions
    assert isinstance(one.check, UngradedCheck)
    assert reason in one.check.reason


@pytest.mark.proves("evals.json.files")
@pytest.mark.parametrize(
    ("evals", "reason"),
    [
        ([], "has no eval"),
        ([an_eval(1), an_eval("1")], "two evals have the id '1'"),
        ([{**an_eval(9), "id": None}, an_eval(1)], "two evals have the id '1'"),
        ([an_eval(1, files=["../secret"])], "leaves the skill"),
        ([an_eval(1, files=["/etc/passwd"])], "leaves the skill"),
    ],
)
def test_a_suite_that_cannot_be_run_is_refused_with_the_reason(
    evals: list[dict[str, Any]], reason: str, tmp_path: Path
) -> None:
    root = skill_at(tmp_path, an_eval(1))
    (root / "evals" / "evals.json").unlink()
    root = skill_at(tmp_path, *evals)
    if not evals:
        (root / "evals" / "evals.json").write_text('{"skill_name": "sums", "evals": []}')
    with pytest.raises(InvalidArgumentsError, match=reason):
        plan_evals(str(root))


def test_a_path_that_is_no_suite_or_in_no_skill_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentsError, match="does not exist"):
        plan_evals(str(tmp_path / "missing"))
    (tmp_path / "evals.json").write_text('{"skill_name": "x", "evals": [{"id": 1, "prompt": "x"}]}')
    with pytest.raises(InvalidArgumentsError, match="not inside of one"):
        plan_evals(str(tmp_path / "evals.json"))
    skill = skill_at(tmp_path)
    place = re.escape(str(skill / "evals" / "evals.json"))
    with pytest.raises(SuiteError, match=f"{re.escape(str(skill))} has no suite: .*; write {place}$"):
        plan_evals(str(skill))
    (skill / "evals").mkdir()
    with pytest.raises(SuiteError, match=f"evals has no suite: .*; write {place}$"):
        plan_evals(str(skill))


@pytest.mark.parametrize(
    "path",
    [
        ".claude/settings.json",
        ".Claude/Settings.json",
        "deep/.codex/config.toml",
        ".github/copilot-instructions.md",
        ".github/hooks/a.json",
        ".git/config",
        ".mcp.json",
        "CLAUDE.md",
        "docs/AGENTS.md",
        "opencode.json",
    ],
)
def test_an_eval_with_a_file_that_would_configure_the_agent_does_not_run(tmp_path: Path, path: str) -> None:
    root = skill_at(tmp_path, {**an_eval(1, "is polite"), "files": [f"evals/files/{path}"]})
    place = root / "evals" / "files" / path
    place.parent.mkdir(parents=True)
    place.write_text("{}")
    (planned,) = plan_evals(str(root)).evals
    assert planned.files == ()
    assert planned.fault is not None
    assert "would configure the agent" in planned.fault


@pytest.mark.parametrize("path", [".github/workflows/ci.yml", "claude/settings.json", "src/agents.py"])
def test_other_files_of_an_eval_are_planned(tmp_path: Path, path: str) -> None:
    root = skill_at(tmp_path, {**an_eval(1, "is polite"), "files": [f"evals/files/{path}"]})
    place = root / "evals" / "files" / path
    place.parent.mkdir(parents=True)
    place.write_text("{}")
    (planned,) = plan_evals(str(root)).evals
    assert (planned.fault, planned.files) == (None, ((f"evals/files/{path}", path),))
