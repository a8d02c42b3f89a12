"""`prowess agent`, as a person and as a pipe see it; the model is a script, everything else is real."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from prowess.agent.transcript import Transcript
from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from prowess.execution import default_sandbox

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLES = str(Path(__file__).parents[3] / "examples" / "skills")
LOAD = {"name": "skills_load", "arguments": {"names": ["csv-report"]}}


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Run `prowess agent` in an empty directory, over the example skills and a script of these turns."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    script = tmp_path / "script.json"

    def call(turns: list[dict[str, object]], *words: str) -> int:
        script.write_text(json.dumps(turns), encoding="utf-8")
        return run(["agent", "Sum up march.csv", "--root", EXAMPLES, "--model", f"scripted:{script}", *words])

    return call


def test_a_task_is_done_with_a_skill_and_the_answer_is_all_that_a_pipe_gets(
    agent: Callable[..., int], capfd: pytest.CaptureFixture[str]
) -> None:
    if not default_sandbox().probe().available:
        pytest.skip("no sandbox")
    Path("march.csv").write_text("region,revenue\nNorth,1\nSouth,2\n", encoding="utf-8")
    run_it = {"name": "skills_run_script", "arguments": {"path": "scripts/report.py", "args": ["march.csv"]}}
    assert agent([{"text": "I load it.", "calls": [LOAD]}, {"calls": [run_it]}, {"text": "Three."}]) == exit_codes.OK
    out, err = capfd.readouterr()
    assert out == "Three.\n"
    assert err.splitlines() == [
        "calls skills_load",
        "Activating 'csv-report' skill…",
        "skill csv-report; while it is active, tools are limited to Read Glob",
        "calls skills_run_script",
    ]


def test_the_result_is_one_json_document(agent: Callable[..., int], capfd: pytest.CaptureFixture[str]) -> None:
    usage = {"input_tokens": 5, "output_tokens": 7, "cost_usd": 0.25}
    assert agent([{"calls": [LOAD]}, {"text": "Done.", "usage": usage}], "--json", "--quiet") == exit_codes.OK
    out, err = capfd.readouterr()
    result = json.loads(out)
    assert len(result.pop("session_id")) == 36
    assert result == {
        "text": "Done.",
        "ended": "answered",
        "reason": None,
        "skills_used": ["csv-report"],
        "turns": 2,
        "usage": {"input_tokens": 5, "output_tokens": 7, "cost_usd": 0.25},
    }
    assert err == ""


def test_a_run_without_an_answer_fails_with_the_reason(
    agent: Callable[..., int], capfd: pytest.CaptureFixture[str]
) -> None:
    assert agent([{"calls": [LOAD]}] * 3, "--max-turns", "2", "-q") == exit_codes.FAILED
    assert "error: ended without an answer: all 2 turns are used" in capfd.readouterr().err


def test_a_failed_call_is_told(agent: Callable[..., int], capfd: pytest.CaptureFixture[str]) -> None:
    wrong = {"name": "skills_load", "arguments": {"names": ["csv-raport"]}}
    assert agent([{"calls": [wrong]}, {"text": "Sorry."}]) == exit_codes.OK
    assert "skills_load failed: no skill is called 'csv-raport'" in capfd.readouterr().err


def test_the_transcript_is_written_and_the_call_is_recorded(agent: Callable[..., int], own_home: Path) -> None:
    assert agent([{"calls": [LOAD]}, {"text": "Done."}], "--transcript", "run.jsonl", "-q") == exit_codes.OK
    assert len(Path("run.jsonl").read_text(encoding="utf-8").splitlines()) == 5
    assert '"skills.load"' in (own_home / ".prowess" / "audit" / "audit.jsonl").read_text(encoding="utf-8")


def test_nothing_is_written_where_nobody_can_be_asked(agent: Callable[..., int], tmp_path: Path) -> None:
    skill = {"name": "new-skill", "description": "Does new things.", "instructions": "Do it."}
    create = {"name": "create_skill", "arguments": skill}
    turns: list[dict[str, object]] = [{"calls": [create]}, {"text": "I could not."}]
    assert agent(turns, "--skills-dir", str(tmp_path / "made"), "--json") == exit_codes.OK
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "no model is given; use --model provider:name"),
        (("--model", "nosuch:model"), "cannot be used"),
        (("--model", "scripted:none.json"), "none.json is not a script of turns: No such file or directory"),
    ],
)
def test_without_a_model_one_sentence_says_so(
    words: tuple[str, ...], sentence: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["agent", "Go.", *words]) == exit_codes.USAGE
    out, err = capfd.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("error: ")
    assert sentence in err


def test_without_pydantic_ai_the_sentence_says_what_to_install(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    monkeypatch.setitem(sys.modules, "pydantic_ai.exceptions", None)
    assert run(["agent", "Go.", "--model", "openai:gpt-4o"]) == exit_codes.USAGE
    assert "pip install 'prowess[agent]'" in capfd.readouterr().err


def test_a_person_at_a_terminal_sees_text_as_it_comes_and_says_yes(tmp_path: Path) -> None:
    skill = {"name": "new-skill", "description": "Does new things.", "instructions": "Do it."}
    turns = [
        {"text": "I write \x1b[31mit.", "calls": [{"name": "create_skill", "arguments": skill}]},
        {"text": "Created. Shall I test it?"},
    ]
    script = tmp_path / "script.json"
    script.write_text(json.dumps(turns), encoding="utf-8")
    words = ["agent", "Make a skill", "--root", EXAMPLES, "--skills-dir", str(tmp_path / "made")]
    command = [sys.executable, "-m", "prowess", *words, "--model", f"scripted:{script}"]
    controller, terminal = os.openpty()
    with subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, cwd=tmp_path) as process:
        os.close(terminal)
        shown = _until(controller, b"[N]o: ")
        os.write(controller, b"y\n")
        shown += _until(controller, b"test it?")
        assert process.wait(timeout=30) == exit_codes.OK
    os.close(controller)
    text = shown.decode()
    assert "I write \\x1b[31mit." in text
    assert "Tool create_skill asks to run" in text
    assert "    name: " in text
    assert (tmp_path / "made" / "new-skill" / "SKILL.md").is_file()


def _until(terminal: int, end: bytes) -> bytes:
    shown = b""
    while end not in shown:
        assert select.select([terminal], [], [], 30)[0], shown
        piece = os.read(terminal, 4096)
        assert piece, shown
        shown += piece
    return shown


def test_files_of_the_workspace_are_read_and_what_would_change_them_is_asked_about(
    agent: Callable[..., int], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("notes.txt").write_text("milk\n", encoding="utf-8")
    read = {"name": "Read", "arguments": {"file_path": "notes.txt"}}
    write = {"name": "Write", "arguments": {"file_path": "notes.txt", "content": "tea\n"}}
    transcript = str(tmp_path / "run.jsonl")
    turns: list[dict[str, object]] = [{"calls": [read, write]}, {"text": "Milk."}]
    words = ("--tools", "read,write", "--write", "--transcript", transcript)
    assert agent(turns, *words) == exit_codes.OK
    lines = [json.loads(line) for line in Path(transcript).read_text(encoding="utf-8").splitlines()]
    assert "milk" in json.dumps(lines[2]["result"])
    assert lines[3]["error_detail"]["code"] == "approval_required"
    assert Path("notes.txt").read_text(encoding="utf-8") == "milk\n"
    said = capfd.readouterr().err
    assert "Write was not run: Tool 'Write' needs the approval of a person" in said
    assert "allow the call in a policy file" in said
    assert "Approve request" not in said  # the command has no way to do that


def test_a_tool_that_is_not_there_is_a_wrong_command_line(
    agent: Callable[..., int], capfd: pytest.CaptureFixture[str]
) -> None:
    assert agent([{"text": "Done."}], "--tools", "Read,frob") == exit_codes.USAGE
    assert "no tool is called 'frob'; did you mean 'Read' or 'Write' or" in capfd.readouterr().err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_transcript_that_cannot_be_written_ends_the_run_and_says_which_file(
    agent: Callable[..., int], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Transcript.__init__

    def filling(self: Transcript, path: str) -> None:  # the disk fills up after the file was made
        made(self, path)
        self._file.close()
        self._file = open("/dev/full", "w", encoding="utf-8")  # noqa: SIM115 -- closed by the transcript

    monkeypatch.setattr(Transcript, "__init__", filling)
    assert agent([{"text": "Done."}], "--transcript", "run.jsonl", "-q") == exit_codes.FAILED
    assert "transcript run.jsonl cannot be written: No space left on device" in capfd.readouterr().err


def test_a_policy_file_forbids_what_it_names(
    agent: Callable[..., int], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(
        'default = "allow"\n[[rule]]\neffect = "deny"\ntool = "Read"\nreason = "nothing is read here"\n',
        encoding="utf-8",
    )
    read = {"name": "Read", "arguments": {"file_path": "notes.txt"}}
    assert agent([{"calls": [read]}, {"text": "I may not."}], "--policy", str(policy)) == exit_codes.OK
    assert "nothing is read here" in capfd.readouterr().err


@pytest.mark.parametrize("task", ["", " \n"])
def test_a_blank_task_starts_no_run(
    task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["agent", task, "--root", EXAMPLES, "--model", "scripted:none.json"]) == exit_codes.USAGE
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("Error: TASK is empty; describe the task\n")
    assert os.listdir(tmp_path) == []
