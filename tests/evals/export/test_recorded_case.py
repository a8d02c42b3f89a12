"""A recorded run becomes a case that `prowess test` runs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from prowess.evals import run_tests
from tests.evals.scenario_skills import make_skill
from tests.fork_server import prowess

CAPTURED = Path(__file__).parents[1] / "transcripts" / "captured"
KEY = "ghp_" + "a1B2" * 9


def export(folder: Path, *words: str) -> tuple[int, str]:
    ran = subprocess.run(
        [prowess(), "eval", "export", *words], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert "Traceback" not in ran.stderr
    return ran.returncode, ran.stdout + ran.stderr


def written(folder: Path) -> Path:
    """Write a session of our own agent with a secret in it."""
    read = {"id": "2", "name": "Read", "arguments": {"file_path": "a.txt"}}
    lines = [
        {"role": "user", "text": f"What do I owe? My token is {KEY}"},
        {
            "role": "assistant",
            "text": "",
            "calls": [{"id": "1", "name": "skills_load", "arguments": {"names": ["ledger"]}}],
        },
        {
            "role": "tool",
            "call": {"id": "1", "name": "skills_load", "arguments": {"names": ["ledger"]}},
            "text": "loaded",
        },
        {"role": "assistant", "text": "I read it.", "calls": [read]},
        {"role": "tool", "call": read, "text": "12.50"},
        {"role": "assistant", "text": "You owe 12.50.", "calls": []},
        {"role": "end", "ended": "answered"},
    ]
    path = folder / "run.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.proves("governance.beyond.training")
def test_a_run_becomes_a_test_that_passes_and_notices_a_change(tmp_path: Path) -> None:
    skill = make_skill(tmp_path)
    written(tmp_path)
    (skill / "evals").mkdir()
    code, text = export(tmp_path, "run.jsonl", "--to", "tests", "--skill", "ledger", "--out", "ledger/evals/tests.yaml")
    assert code == 0, text
    report = run_tests(skill)
    assert [(case.outcome, case.reason) for case in report.cases] == [("passed", None)], report.diagnostics
    kinds = [one.type for one in report.cases[0].assertions]
    assert sorted(kinds) == ["activated", "called"]
    content = (skill / "evals" / "tests.yaml").read_text("utf-8")
    assert KEY not in content
    (skill / "evals" / "tests.yaml").write_text(content.replace("times: 1", "times: 2"), encoding="utf-8")
    assert run_tests(skill).cases[0].outcome == "failed"


@pytest.mark.proves("governance.beyond.training")
def test_a_run_becomes_an_eval_of_the_guide(tmp_path: Path) -> None:
    written(tmp_path)
    assert export(tmp_path, "run.jsonl", "--to", "guide", "--skill", "ledger", "--out", "evals.json")[0] == 0
    data = json.loads((tmp_path / "evals.json").read_text("utf-8"))
    assert data["skill_name"] == "ledger"
    assert data["evals"][0]["prompt"].startswith("What do I owe?")
    assert data["evals"][0]["expected_output"] == "You owe 12.50."
    assert KEY not in json.dumps(data)


def test_runs_of_real_hosts_become_tests_without_faults(tmp_path: Path) -> None:
    skill = make_skill(tmp_path, "pdf-tables")
    (skill / "evals").mkdir()
    for name in ("claude-bash-lc.session.jsonl", "claude-cat.stream.jsonl", "claude-another.session.jsonl"):
        out = skill / "evals" / "tests.yaml"
        out.unlink(missing_ok=True)
        words = ("--to", "tests", "--skill", "pdf-tables", "--query", "Get the rows", "--out", str(out))
        code, text = export(tmp_path, str(CAPTURED / name), *words)
        assert code == 0, text
        report = run_tests(skill)
        assert report.diagnostics == ()
        assert report.cases[0].outcome in ("passed", "failed"), report.cases[0].reason


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("hello", encoding="utf-8")
    written(tmp_path)
    for words, told in (
        (("note.txt", "--to", "tests", "--skill", "a"), "note.txt is no transcript of a known host"),
        (("nowhere", "--to", "guide", "--skill", "a"), "nowhere cannot be read"),
        (("run.jsonl", "--to", "guide"), "--to guide needs --skill"),
        (
            ("run.jsonl", "--to", "guide", "--skill", "a", "--out", "note.txt"),
            "note.txt cannot be written: File exists",
        ),
    ):
        code, text = export(tmp_path, *words, *(() if "--out" in words else ("--out", "out")))
        assert (code, told in text) == (2, True), text
