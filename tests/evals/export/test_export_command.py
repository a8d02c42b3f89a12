"""`prowess eval export`: what it writes for each tool, and what it refuses.

`tools/peers.sh inspect_ai promptfoo` has the tools themselves read it.
"""

from __future__ import annotations

import ast
import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from prowess._internal.text.terminal_text import json_text
from prowess.errors import InvalidArgumentsError
from prowess.evals.export import exported_skill
from prowess.format.parsing import parse_document
from prowess.format.suites.yaml_text import YamlText
from tests.evals.reports.sample_report import sample
from tests.evals.scenario_skills import make_skill
from tests.fork_server import prowess

if TYPE_CHECKING:
    from pathlib import Path

EVALS = [
    {
        "id": 1,
        "prompt": "Read {{ env.HOME }} {# a.txt #}",
        "expected_output": "The sum",
        "files": ["evals/files/a.txt"],
        "assertions": [
            {"text": "has it", "type": "contains_phrase", "phrase": "12.50"},
            {"text": "is polite", "type": "judged"},
        ],
    },
    {"id": "poem", "prompt": "Write a poem", "expected_output": "A poem", "should_trigger": False},
]


def skill_with(folder: Path, evals: list[dict[str, Any]]) -> Path:
    skill = make_skill(folder)
    (skill / "evals" / "files").mkdir(parents=True)
    (skill / "evals" / "files" / "a.txt").write_text("12.50\n", encoding="utf-8")
    (skill / "evals" / "evals.json").write_text(json.dumps({"skill_name": "ledger", "evals": evals}), encoding="utf-8")
    return skill


def export(folder: Path, *words: str) -> tuple[int, str]:
    ran = subprocess.run(
        [prowess(), "eval", "export", *words], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert "Traceback" not in ran.stderr
    return ran.returncode, ran.stdout + ran.stderr


def below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_promptfoo_gets_texts_that_it_does_not_render_and_a_skill_without_its_evals(tmp_path: Path) -> None:
    skill_with(tmp_path, EVALS)
    assert export(tmp_path, "ledger", "--to", "promptfoo", "--out", "out")[0] == 0
    assert below(tmp_path / "out") == [
        "promptfooconfig.yaml",
        "workspace/.claude/skills/ledger/SKILL.md",
        "workspace/a.txt",
    ]
    config: Any = YamlText.parse((tmp_path / "out" / "promptfooconfig.yaml").read_text("utf-8")).value
    first, second = config["tests"]
    assert first["vars"]["prompt"] == 'Read {{ "{{" }} env.HOME }} {{ "{#" }} a.txt {{ "#}" }}'
    assert first["assert"] == [
        {"type": "contains", "value": "12.50"},
        {"type": "llm-rubric", "value": "is polite"},
        {"type": "skill-used", "value": "ledger"},
    ]
    assert second["assert"][-1] == {"type": "not-skill-used", "value": "ledger"}


@pytest.mark.parametrize("form", ["promptfoo", "inspect"])
def test_an_eval_cannot_plant_settings_of_an_agent_in_a_workspace(tmp_path: Path, form: str) -> None:
    skill = skill_with(tmp_path, [{**EVALS[0], "files": ["evals/files/.claude/settings.json"]}])
    (skill / "evals" / "files" / ".claude").mkdir()
    (skill / "evals" / "files" / ".claude" / "settings.json").write_text("{}", encoding="utf-8")
    code, told = export(tmp_path, "ledger", "--to", form, "--out", "out")
    assert code == 2
    assert "would configure the agent" in told
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("member", ["prompt", "phrase"])
def test_a_text_that_promptfoo_would_load_is_refused(tmp_path: Path, member: str) -> None:
    check = {"text": "t", "type": "contains_phrase", "phrase": "x"}
    case: dict[str, Any] = {"id": 1, "prompt": "p", "expected_output": "e", "assertions": [check]}
    (check if member == "phrase" else case)[member] = " FILE:///etc/passwd.js"
    skill_with(tmp_path, [case])
    code, text = export(tmp_path, "ledger", "--to", "promptfoo", "--out", "out")
    assert (code, "eval 1: promptfoo would load" in text) == (2, True)
    assert not (tmp_path / "out").exists()


def test_promptfoo_has_one_workspace_so_two_evals_need_the_same_file_at_a_path(tmp_path: Path) -> None:
    for name, code in (("same", 0), ("other", 2)):
        skill = skill_with(tmp_path / name, [EVALS[0], {**EVALS[0], "id": 2, "files": ["a.txt"]}])
        (skill / "a.txt").write_text("12.50\n" if name == "same" else "0\n", encoding="utf-8")
        found, text = export(tmp_path / name, "ledger", "--to", "promptfoo", "--out", "out")
        assert (found, "two evals need different files at 'a.txt'" in text) == (code, code == 2), text
        assert (tmp_path / name / "out").exists() == (code == 0)


@pytest.mark.parametrize(("limit", "most"), [("MAX_BYTES", 10), ("MAX_FILES", 1)])
def test_a_skill_above_a_limit_is_not_exported_in_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    (tmp_path / "one.txt").write_text("12345")
    (tmp_path / "two.txt").write_text("12345")
    if limit == "MAX_BYTES":
        monkeypatch.setattr(exported_skill, limit, most)
        assert len(exported_skill.skill_files(str(tmp_path), "x")) == 2
    monkeypatch.setattr(exported_skill, limit, most - (limit == "MAX_BYTES"))
    with pytest.raises(InvalidArgumentsError, match="has more than"):
        exported_skill.skill_files(str(tmp_path), "x")


def test_a_file_of_an_eval_above_the_limit_is_not_exported_in_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = exported_skill.exported_skill(str(skill_with(tmp_path, [EVALS[0]])))
    whole = exported_skill.file_of(found, "evals/files/a.txt")
    monkeypatch.setattr(exported_skill, "MAX_BYTES", len(whole))
    assert exported_skill.file_of(found, "evals/files/a.txt") == whole
    monkeypatch.setattr(exported_skill, "MAX_BYTES", len(whole) - 1)
    with pytest.raises(InvalidArgumentsError, match=r"evals/files/a\.txt of the skill has more than"):
        exported_skill.file_of(found, "evals/files/a.txt")


def test_inspect_gets_a_dataset_and_one_program_for_all_skills(tmp_path: Path) -> None:
    skill_with(tmp_path, EVALS)
    assert export(tmp_path, "ledger", "--to", "inspect", "--out", "out")[0] == 0
    assert below(tmp_path / "out") == ["dataset.jsonl", "files/1/1", "skills/ledger/SKILL.md", "task.py"]
    program = (tmp_path / "out" / "task.py").read_text("utf-8")
    ast.parse(program)
    assert "env.HOME" not in program
    rows = [json.loads(line) for line in (tmp_path / "out" / "dataset.jsonl").read_text("utf-8").splitlines()]
    assert rows[0] == {
        "id": "1",
        "input": "Read {{ env.HOME }} {# a.txt #}",
        "target": "The sum\nis polite",
        "metadata": {"checks": [{"kind": "contains", "value": "12.50"}], "expected_skill": "ledger"},
        "files": {"a.txt": "files/1/1"},
    }
    assert rows[1]["metadata"]["expected_skill"] is None


def test_inspect_gets_only_the_fields_of_the_specification_because_it_refuses_others(tmp_path: Path) -> None:
    skill = skill_with(tmp_path, EVALS)
    fields = ["name: ledger", "description: Books.", "license: MIT", "owner: me", "metadata: {team: a}"]
    fields += ["version: '1'", f"compatibility: {'x' * 501}", "allowed-tools: [Read]"]
    (skill / "SKILL.md").write_text("\n".join(["---", *fields, "---", "# Steps", "", "Sum up.", ""]), encoding="utf-8")
    assert export(tmp_path, "ledger", "--to", "inspect", "--out", "out")[0] == 0
    copied = parse_document((tmp_path / "out/skills/ledger/SKILL.md").read_bytes())
    assert copied.mapping() == {"name": "ledger", "description": "Books.", "license": "MIT", "metadata": {"team": "a"}}
    assert copied.body == "# Steps\n\nSum up.\n"


@pytest.mark.parametrize("name", ["../../outside", "a/b", "..", "/tmp/outside"])
@pytest.mark.parametrize("form", ["inspect", "promptfoo"])
def test_a_skill_whose_name_leads_elsewhere_is_not_exported(tmp_path: Path, form: str, name: str) -> None:
    skill = skill_with(tmp_path, EVALS)
    (skill / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Books.\n---\nSum up.\n", encoding="utf-8")
    before = below(tmp_path)
    code, text = export(tmp_path, "ledger", "--to", form, "--out", "in/out")
    assert (code, "cannot be the name of a folder" in text) == (2, True)
    assert below(tmp_path) == before


@pytest.mark.parametrize(("form", "name"), [("waza", "eval.yaml"), ("plugin-eval", "1/prompt.md")])
def test_waza_and_claude_plugin_eval_get_their_folders(tmp_path: Path, form: str, name: str) -> None:
    skill_with(tmp_path, EVALS)
    code, text = export(tmp_path, "ledger", "--to", form, "--out", "out", "--json")
    assert code == 0
    assert json.loads(text)["files"] == below(tmp_path / "out")
    assert name in below(tmp_path / "out")


@pytest.mark.proves("governance.beyond.training")
def test_each_export_lists_what_the_other_tool_will_not_see(tmp_path: Path) -> None:
    tool = {"text": "reads it", "type": "tool_used", "tool": "Read"}
    regex = {"text": "names euros", "type": "regex", "pattern": "EUR"}
    first = {**EVALS[0], "assertions": [tool, "is polite", regex], "prompt": "Sum", "weight": 2}
    skill_with(tmp_path / "skills", [first])
    expected = {
        "promptfoo": {"assertions[0]", "expected_output"},
        "inspect": {"assertions[0]"},
        "waza": {"weight", "assertions[0].type", "assertions[0].tool"},
        "plugin-eval": {"weight", "files", "assertions[0].text"},
    }
    for form, members in expected.items():
        code, text = export(tmp_path, "skills/ledger", "--to", form, "--out", form, "--json")
        lost = json.loads(text)["lost"]
        assert code == 0
        assert members <= {row["member"] for row in lost}, (form, lost)
        assert {row["eval"] for row in lost if row["eval"] is not None} <= {1, "1"}
        assert all(row["reason"] for row in lost)
    _, text = export(tmp_path, "skills/ledger", "--to", "promptfoo", "--out", "again")
    assert "2 members will not be seen by other tools that read promptfoo\n" in text
    assert "  eval 1: assertions[0]: promptfoo has no grader tool_used; a model judges its text instead\n" in text


def test_results_become_one_log_for_each_configuration(tmp_path: Path) -> None:
    run = tmp_path / "iteration-1"
    unit = "two-vat-rates/with_skill/run-1"
    (run / unit).mkdir(parents=True)
    lines = [
        {"role": "user", "text": "Check it"},
        {"role": "assistant", "text": "", "calls": [{"id": "1", "name": "Read", "arguments": {"file_path": "a"}}]},
        {"role": "tool", "call": {"id": "1", "name": "Read", "arguments": {"file_path": "a"}}, "text": "12.50"},
        {"role": "assistant", "text": "You owe 12.50.", "calls": []},
        {"role": "end", "ended": "answered"},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (run / unit / "transcript.jsonl").write_text(text, encoding="utf-8")
    (run / "report.json").write_text(json_text(sample(2, 3).as_dict()), encoding="utf-8")
    assert export(tmp_path, "iteration-1", "--to", "inspect-log", "--out", "logs")[0] == 0
    logs = {
        name.split("_")[1]: json.loads((tmp_path / "logs" / name).read_text("utf-8"))
        for name in below(tmp_path / "logs")
    }
    assert sorted(logs) == ["invoice-check-with-skill", "invoice-check-without-skill"]
    log = logs["invoice-check-with-skill"]
    assert (log["version"], log["status"], len(log["samples"])) == (2, "success", 6)
    first = log["samples"][0]
    assert (first["id"], first["epoch"], first["input"]) == ("two-vat-rates", 1, "Check it")
    assert first["output"]["choices"][0]["message"]["content"] == "You owe 12.50."
    assert first["messages"][1]["tool_calls"][0]["function"] == "Read"
    failed = [one for one in log["samples"] if one.get("error")]
    assert all("529" in one["error"]["message"] and not one["scores"] for one in failed)


def test_a_report_cannot_lead_to_files_outside_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text('{"role": "user", "text": "SECRET"}\n', encoding="utf-8")
    run = tmp_path / "iteration-1"
    run.mkdir()
    (run / "link").symlink_to(tmp_path)
    report = sample(1, 2).as_dict()
    for place, unit in enumerate(report["units"]):
        unit["directory"], unit["transcript"] = ((".", "../secret"), ("link", "secret"))[place % 2]
    (run / "report.json").write_text(json_text(report), encoding="utf-8")
    assert export(tmp_path, "iteration-1", "--to", "inspect-log", "--out", "logs")[0] == 0
    assert not any("SECRET" in (tmp_path / "logs" / name).read_text("utf-8") for name in below(tmp_path / "logs"))


def test_what_cannot_be_exported_is_refused_with_a_reason(tmp_path: Path) -> None:
    skill_with(tmp_path, EVALS)
    for words, told in (
        (("ledger", "--to", "inspect-log"), "name a folder that prowess eval run made"),
        (("nowhere", "--to", "inspect"), "nowhere does not exist"),
        (("ledger", "--to", "inspect", "--out", "ledger"), "ledger exists; name a new folder"),
    ):
        code, text = export(tmp_path, *words, *(() if "--out" in words else ("--out", "out")))
        assert (code, told in text) == (2, True), text


@pytest.mark.parametrize("form", ["waza", "plugin-eval"])
def test_an_export_that_is_refused_leaves_no_half_of_a_folder(tmp_path: Path, form: str) -> None:
    skill_with(
        tmp_path, [{"id": 1, "prompt": "Sum", "expected_output": "x"}, {**EVALS[0], "id": 2, "prompt": "\ud800"}]
    )
    code, told = export(tmp_path, "ledger", "--to", form, "--out", "out")
    assert (code, "surrogate" in told) == (2, True), told
    assert not (tmp_path / "out").exists()
