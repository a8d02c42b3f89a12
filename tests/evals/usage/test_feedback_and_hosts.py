"""`prowess feedback`, and `prowess report --from` over real sessions of four hosts."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from prowess.errors import InvalidArgumentsError
from prowess.evals.usage.feedback import MOST_NOTE, feedback_counts, read_feedback
from prowess.evals.usage.host_usage import host_usage
from tests.evals.scenario_skills import make_skill
from tests.evals.transcripts.written import answer, init, lines, result, skill
from tests.fork_server import prowess

CAPTURED = Path(__file__).parents[1] / "transcripts" / "captured"


def run(folder: Path, *words: str) -> tuple[int, str]:
    ran = subprocess.run(
        [prowess(), *words],
        cwd=folder,
        env={**os.environ, "PROWESS_HOME": str(folder / "home")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Traceback" not in ran.stderr
    return ran.returncode, ran.stdout + ran.stderr


@pytest.mark.proves("governance.feedback.collect")
def test_feedback_is_kept_by_version_for_this_user_and_without_contents(tmp_path: Path) -> None:
    skill = make_skill(tmp_path / "skills")
    root = ("--root", "skills")
    assert not (tmp_path / "home" / "feedback").exists()
    assert run(tmp_path, "feedback", "ledger", "good", *root)[0] == 0
    code, text = run(tmp_path, "feedback", "ledger", "bad", "--note", "forgets the currency", *root)
    assert (code, text.startswith("recorded: ledger was bad (sha256:")) == (0, True)
    (skill / "SKILL.md").write_text(
        f"{(skill / 'SKILL.md').read_text('utf-8')}\nName the currency.\n", encoding="utf-8"
    )
    assert run(tmp_path, "feedback", "ledger", "good", *root)[0] == 0
    file = tmp_path / "home" / "feedback" / "feedback.jsonl"
    assert file.stat().st_mode & 0o077 == 0
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line]
    assert {tuple(line) for line in lines} == {("at", "skill", "digest", "opinion", "note")}
    first, second = sorted(feedback_counts(read_feedback(str(file))), key=lambda one: -one.bad)
    assert (first.good, first.bad, first.notes, second.good) == (1, 1, ("forgets the currency",), 1)
    code, text = run(tmp_path, "report", *root, "--json")
    assert [one["bad"] for one in json.loads(text)["feedback"]] == [
        one.bad for one in sorted((first, second), key=lambda one: one.digest)
    ]
    assert "feedback: ledger  sha256:" in run(tmp_path, "report", *root)[1]


def test_feedback_can_be_read_as_json(tmp_path: Path) -> None:
    make_skill(tmp_path / "skills")
    code, text = run(tmp_path, "feedback", "ledger", "bad", "--note", "slow", "--root", "skills", "--json")
    recorded = json.loads(text)["recorded"]
    file = tmp_path / "home" / "feedback" / "feedback.jsonl"
    assert (code, recorded) == (0, json.loads(file.read_text("utf-8")))
    assert (recorded["skill"], recorded["opinion"], recorded["note"]) == ("ledger", "bad", "slow")


def test_feedback_on_an_unknown_skill_and_a_long_note_are_refused(tmp_path: Path) -> None:
    make_skill(tmp_path / "skills")
    assert run(tmp_path, "feedback", "nobody", "good", "--root", "skills")[0] == 1
    code, text = run(tmp_path, "feedback", "ledger", "bad", "--note", "x" * (MOST_NOTE + 1), "--root", "skills")
    assert (code, f"{MOST_NOTE} are possible" in text) == (2, True)
    assert run(tmp_path, "feedback", "ledger", "perfect", "--root", "skills")[0] == 2


def test_lines_that_are_damaged_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "feedback.jsonl"
    good = '{"at": "2026-01-01T00:00:00Z", "skill": "a", "digest": "sha256:1", "opinion": "good"}'
    file.write_bytes(f"{good}\n{good[:30]}\n{good.replace('good', 'best')}\n\xff\n\n{good}\n".encode("latin-1"))
    assert [one.skill for one in read_feedback(str(file))] == ["a", "a"]
    assert list(read_feedback(str(tmp_path / "none"))) == []


def test_feedback_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentsError, match="cannot be read: Is a directory"):
        list(read_feedback(str(tmp_path)))


def test_the_sessions_of_hosts_tell_who_used_a_skill() -> None:
    cases = [json.loads(line) for line in (CAPTURED / "cases.jsonl").read_text("utf-8").splitlines()]
    skills = sorted({case["skill"] for case in cases})
    found = host_usage([str(CAPTURED)], skills)
    triggered = Counter(
        case["transcript"].split("-")[0]
        for case in cases
        if case["verdict"] == "triggered" and not Path(CAPTURED, case["transcript"]).is_dir()
    )
    assert {row.host for row in found.rows} == set(triggered) == {"claude", "codex", "copilot", "gemini"}
    assert found.sessions >= len({case["transcript"] for case in cases}) // 2
    for row in found.rows:
        assert row.sessions >= (1 if row.by_model + row.by_user + row.by_host else 0)
        assert row.last.startswith("20")
    assert sum(row.by_user for row in found.rows) > 0
    assert sum(row.refusals for row in found.rows) + sum(row.errors for row in found.rows) > 0


def test_the_report_adds_sessions_and_takes_used_skills_from_those_never_chosen(tmp_path: Path) -> None:
    name = next(
        row.skill
        for row in host_usage([str(CAPTURED)]).rows
        if row.host == "claude" and row.by_model and row.skill.isascii()
    )
    make_skill(tmp_path / "skills", "unused")
    make_skill(tmp_path / "skills", name.rpartition(":")[2])
    code, text = run(tmp_path, "report", "--root", "skills", "--only-root", "--from", str(CAPTURED), "--json")
    document: dict[str, Any] = json.loads(text)
    assert code == 0
    assert [one["skill"] for one in document["never_chosen"]] == ["unused"]
    rows = {(row["skill"], row["host"]): row for row in document["hosts"]["rows"]}
    assert rows[name.rpartition(":")[2], "claude"]["by_model"] >= 1
    assert "message" not in text
    code, text = run(tmp_path, "report", "--root", "skills", "--from", str(CAPTURED))
    assert (code, "sessions of agent hosts" in text) == (0, True)
    code, text = run(tmp_path, "report", "--root", "skills", "--from", "nowhere")
    assert (code, "--from nowhere: there is no such directory" in text) == (2, True)
    assert run(tmp_path, "report", "--from", ".", "--csv")[0] == 2


def test_a_session_with_a_huge_name_of_a_skill_fills_no_terminal(tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir()
    stream = lines(init(), skill("x" * 100_000), answer(), result())
    (tmp_path / "sessions" / "s.jsonl").write_bytes(stream)
    code, text = run(tmp_path, "report", "--from", "sessions")
    assert code == 0
    assert f"{'x' * 64}...  claude" in text
    assert len(text) < 5_000
