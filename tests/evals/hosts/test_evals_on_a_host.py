"""`prowess eval run` and `eval triggers` with `--host claude`: a host in miniature stands on PATH for the program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.evals.campaigns.skills import an_eval, skill_at
from tests.fork_server import prowess
from tools.hosts.scripted_provider import Part, ScriptedProvider
from tools.hosts.wire_forms import ScriptedCall, Turn

pytestmark = pytest.mark.unmeasured
FAKE = Path(__file__).with_name("fake_host.py")
SECRET = "sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyz"
CALL = ScriptedCall(name="Skill", arguments={"skill": "sums"})
SCRIPT = [Part(turns=(Turn(text="A skill fits.", calls=(CALL,)), Turn(text="The sum is 12.50 EUR.")))]
NAMES_SUM = {"text": "names the sum", "type": "contains_phrase", "phrase": "12.50"}


def with_host(place: Path, provider: str) -> dict[str, str]:
    program = place / "bin/claude"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {FAKE} "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "ANTHROPIC_BASE_URL": provider, "ANTHROPIC_API_KEY": SECRET}


def evaluate(environment: dict[str, str], *words: str, code: int = 0, where: Path | None = None) -> dict[str, Any]:
    command = [prowess(), "eval", *words, "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120, cwd=where)
    assert done.returncode == code, (done.returncode, done.stdout[-500:], done.stderr[-1500:])
    return dict(json.loads(done.stdout)) if done.stdout else {"error": done.stderr}


def test_an_eval_runs_on_a_host_and_is_replayed_without_provider_and_key(tmp_path: Path) -> None:
    skill = skill_at(tmp_path, an_eval(1, NAMES_SUM))
    options = ("--host", "claude-code", "--runs", "1")
    with ScriptedProvider(SCRIPT) as provider:
        report = evaluate(with_host(tmp_path, provider.url), "run", str(skill), *options)
        paid = provider.paid
    by_id = {unit["id"]: unit for unit in report["units"]}
    assert by_id["1/with_skill/run-1"]["outcome"] == "passed"
    assert by_id["1/with_skill/run-1"]["activated"] is True
    assert (paid, report["spent"]["calls"], report["complete"]) == (4, 4, True)

    bare = with_host(tmp_path, "http://127.0.0.1:1")
    del bare["ANTHROPIC_API_KEY"]
    again = evaluate(bare, "run", str(skill), *options[:2], "--replay", str(tmp_path / "sums-workspace/iteration-1"))
    assert {unit["id"]: unit["outcome"] for unit in again["units"]} == {
        unit["id"]: unit["outcome"] for unit in report["units"]
    }
    assert (again["spent"]["calls"], provider.paid) == (0, paid)
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]


def test_a_cap_ends_evals_on_a_host_with_code_5(tmp_path: Path) -> None:
    skill = skill_at(tmp_path, an_eval(1, NAMES_SUM))
    options = ("--host", "claude", "--runs", "2", "--max-calls", "3")
    with ScriptedProvider(SCRIPT) as provider:
        report = evaluate(with_host(tmp_path, provider.url), "run", str(skill), *options, code=5)
        assert (report["stopped"], report["spent"]["calls"], provider.paid) == ("call_cap", 3, 3)


def test_a_host_that_is_not_installed_is_a_usage_error(tmp_path: Path) -> None:
    skill = skill_at(tmp_path, an_eval(1, NAMES_SUM))
    environment = {**os.environ, "PATH": "/nowhere"}
    error = evaluate(environment, "run", str(skill), "--host", "claude", code=2)["error"]
    assert "npm install -g @anthropic-ai/claude-code" in error
    assert not (tmp_path / "sums-workspace/iteration-1").exists()


def test_triggers_are_judged_on_a_host(tmp_path: Path) -> None:
    skill = skill_at(tmp_path)
    (skill / "evals").mkdir()
    queries = [{"query": "Add these numbers up", "should_trigger": True}]
    queries += [{"query": "What time is it?", "should_trigger": False}]
    (skill / "evals/trigger-evals.json").write_text(json.dumps(queries))
    idle = Part(when="What time", turns=(Turn(text="Noon."),))
    with ScriptedProvider([idle, *SCRIPT]) as provider:
        environment = with_host(tmp_path, provider.url)
        options = ("--host", "claude", "--runs", "1", "--out", ".")
        report = evaluate(environment, "triggers", "sums", *options, where=tmp_path)
        assert provider.paid == 3
    assert [row["pass"] for row in report["results"]] == [True, True], report["results"]
