"""Folders of evals in the forms of Waza and of `claude plugin eval` are checked, with the place of each fault."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.format.suites.folder_faults import GRADER_TYPES
from prowess.lint import lint_skill
from prowess.rule_engine import Selection
from tests.lint.case import Case, body, lay_out

if TYPE_CHECKING:
    from pathlib import Path

_EVAL = "name: e\nskill: pdf-tables\nconfig: {executor: mock}\nmetrics: [{name: m}]\ntasks: [tasks/*.yaml]\n"
_TASK = "id: a\nname: A\ninputs: {prompt: Sort it}\n"


def faults(folder: Path, **files: str) -> list[str]:
    """Return `PATH:LINE message` for each fault; a name has `__` for `/`, and its last `_` is the point."""
    case = Case(rule="testing.evals", bad=body("x"), good=())
    skill = lay_out(case, case.bad, folder)
    for name, text in files.items():
        stem, _, ending = name.replace("__", "/").rpartition("_")
        path = skill / "evals" / f"{stem}.{ending}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    found = lint_skill(skill, selection=Selection(select=("testing.evals",)))
    return sorted(f"{str(one.location.path).partition('evals/')[2]}:{one.location.line} {one.message}" for one in found)


@pytest.mark.proves("evals.json.validation")
def test_a_suite_of_waza_is_checked(tmp_path: Path) -> None:
    assert faults(tmp_path / "right", eval_yaml=_EVAL, tasks__a_yaml=_TASK) == []
    assert faults(tmp_path / "wrong", eval_yaml=f"{_EVAL}runs: 3\n", tasks__a_yaml=_TASK, tasks__b_yaml=_TASK) == [
        "eval.yaml:6 eval.yaml has no key 'runs'",
        "tasks/b.yaml:1 id is 'a' as in an earlier task",
    ]
    assert faults(tmp_path / "empty", eval_yaml="name: [\n") != []
    assert faults(
        tmp_path / "no", eval_yaml="tasks: []\nconfig: 1\n", tasks__a_yaml="id: 1\nname: A\ninputs: {}\n"
    ) == [
        "eval.yaml:1 metrics must be a list, and not empty",
        "eval.yaml:1 name must be a text, and not empty",
        "eval.yaml:1 skill must be the name of the skill",
        "eval.yaml:1 tasks must be a list of patterns such as tasks/*.yaml",
        "eval.yaml:2 config must be a mapping, and not empty",
        "tasks/a.yaml:1 id must be a text that is not empty",
        "tasks/a.yaml:3 inputs must have a prompt, or a prompt_file",
    ]


def test_cases_of_claude_plugin_eval_are_checked(tmp_path: Path) -> None:
    good = {"a__prompt_md": "Sort it.\n", "a__graders__says_md": "---\ntype: regex\n---\nrows\n"}
    assert faults(tmp_path / "right", **good) == []
    assert faults(tmp_path / "wrong", **{**good, "a__prompt_md": "---\nturns: 3\n---\n\n"}) == [
        "a/prompt.md:1 the case has no prompt",
        "a/prompt.md:1 the front matter has no key 'turns'",
    ]
    assert faults(tmp_path / "grader", b__case_yaml="execution: {prompt: Sort}\nturns: 3\n", **good) == [
        "b/case.yaml:1 the case has no grader; add graders/NAME.md",
        "b/case.yaml:2 the case has no key 'turns'",
    ]
    assert faults(tmp_path / "kind", **{**good, "a__graders__says_md": "---\ntype: rubric\n---\nx\n"}) == [
        f"a/graders/says.md:1 the grader's `type` must be one of {', '.join(GRADER_TYPES)}"
    ]
    assert faults(tmp_path / "blank", **{**good, "a__graders__says_md": "---\ntype: llm\n---\n"}) == [
        "a/graders/says.md:1 the grader has no text below its front matter"
    ]


def test_a_pattern_that_cannot_be_used_is_a_finding_in_both_forms(tmp_path: Path) -> None:
    good = {"a__prompt_md": "Sort it.\n", "a__graders__says_md": "---\ntype: regex\n---\nro(ws\n"}
    calls = "---\ntype: tool_used\ntool: Read\ninput_match: '(a'\n---\n"
    listed = "execution: {prompt: Sort}\ngraders:\n- {type: regex, pattern: a}\n- {type: regex, pattern: '(a'}\n"
    task = f"{_TASK}graders:\n- {{name: a, type: text, config: {{regex_match: ['(a']}}}}\n"
    for folder, files, place in (
        ("regex", good, "a/graders/says.md:1 the grader can decide nothing: pattern 'ro(ws'"),
        ("calls", {**good, "a__graders__says_md": calls}, "a/graders/says.md:1 the grader can decide nothing: pattern"),
        ("listed", {"b__case_yaml": listed}, "b/case.yaml:4 graders[1] can decide nothing: pattern '(a'"),
        ("waza", {"eval_yaml": _EVAL, "tasks__a_yaml": task}, "tasks/a.yaml:5 the assertion 'The answer matches (a'"),
    ):
        (found,) = faults(tmp_path / folder, **files)
        assert found.startswith(place)


def test_files_of_the_same_names_of_other_tools_draw_nothing(tmp_path: Path) -> None:
    assert faults(tmp_path / "a", eval_yaml="name: e\nprompts: [p.md]\n") == []
    assert faults(tmp_path / "b", a__prompt_md="---\nturns: 3\n---\n\n", a__notes_txt="x") == []
