"""`prowess audit show`: filters by every fact, pages with a cursor, and lines with an audit mark."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from prowess.audit import AuditEvent, JsonlAuditLog
from prowess.audit.selection import FACTS
from prowess.cli.dispatch import run

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def log() -> JsonlAuditLog:
    made = JsonlAuditLog(Path(os.environ["PROWESS_HOME"]) / "audit" / "audit.jsonl", "second")
    for number in range(12):
        facts: dict[str, object] = {key: f"{key}-{number % 3}" for key in FACTS if key != "role"}
        facts |= {"roles": [f"role-{number % 3}", "all"], "skill": [f"skill-{number % 3}", "other"]}
        made.append(AuditEvent(kind="tool.started", session_id="s", call_id=str(number), data=facts))
    return made


def _show(capsys: Capture, *arguments: str) -> dict[str, Any]:
    assert run(["audit", "show", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def _numbers(found: dict[str, Any]) -> list[int]:
    return [record["sequence"] for record in found["records"]]


@pytest.mark.proves("governance.audit.queries")
def test_each_fact_selects_records(log: JsonlAuditLog, capsys: Capture) -> None:
    assert log.path
    for fact in (*FACTS, "skill"):
        found = _show(capsys, f"--{fact}", f"{fact}-1")
        assert (_numbers(found), found["next"]) == ([2, 5, 8, 11], None), fact
        assert _numbers(_show(capsys, f"--{fact}", f"{fact}-9")) == []
    assert _numbers(_show(capsys, "--role", "all", "--team", "team-0", "--team", "team-2", "--user", "user-2")) == [
        3,
        6,
        9,
        12,
    ]


def test_pages_go_on_from_their_cursor_until_there_are_no_more(log: JsonlAuditLog, capsys: Capture) -> None:
    pages: list[list[int]] = []
    cursor: list[str] = []
    while True:
        found = _show(capsys, "--limit", "3", *cursor)
        pages.append(_numbers(found))
        if found["next"] is None:
            break
        cursor = ["--cursor", found["next"]]
    assert pages == [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]]
    first = _show(capsys, "--limit", "2", "--team", "team-0")
    assert _numbers(first) == [1, 4]
    assert _numbers(_show(capsys, "--limit", "2", "--team", "team-0", "--cursor", first["next"])) == [7, 10]
    log.append(AuditEvent(kind="tool.started", data={"team": "team-0"}))
    assert run(["audit", "show", "--limit", "12"]) == 0
    told = capsys.readouterr()
    cursor = told.err.rsplit("--cursor ", 1)[1].split()
    assert "there are more records" in told.err
    assert _numbers(_show(capsys, "--cursor", cursor[0])) == [13]


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        ("--cursor 7", 1, "no record begins at the place of this cursor"),
        ("--cursor x", 1, "is not a cursor"),
        ("--limit 501", 2, "501"),
        ("--limit 2 --tail 3", 2, "give one"),
        ("--lines --csv", 2, "exclude each other"),
    ],
)
def test_bad_input_is_named(arguments: str, code: int, told: str, log: JsonlAuditLog, capsys: Capture) -> None:
    assert log.path
    assert run(["audit", "show", *arguments.split()]) == code
    assert told in capsys.readouterr().err


@pytest.mark.proves("governance.audit.line")
def test_lines_begin_with_an_audit_mark(log: JsonlAuditLog, capsys: Capture) -> None:
    script = {
        "skill": "deploy",
        "path": "scripts/deploy.sh",
        "user": "alice",
        "command": ["scripts/deploy.sh", "--env", "two words\x1b"],
        "exit_code": 0,
        "duration_ms": 45_000,
    }
    log.append(AuditEvent(kind="script.finished", data=script))
    refused = {"skill": "deploy", "tool": "skills.load", "user": "alice", "code": "policy_denied", "rule": "no"}
    log.append(AuditEvent(kind="tool.refused", data=refused))
    assert run(["audit", "show", "--lines", "--tail", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("[AUDIT] Skill: deploy | Script: scripts/deploy.sh | User: alice | Time: 2")
    assert lines[0].endswith("Z | Record: script.finished")
    assert lines[1:3] == [
        "[AUDIT] Command: scripts/deploy.sh --env 'two words\\x1b'",
        "[AUDIT] Exit code: 0 | Duration: 45.0s",
    ]
    assert lines[3].startswith("[AUDIT] Skill: deploy | Tool: skills.load | User: alice | Time: ")
    assert lines[4] == "[AUDIT] Outcome: refused | Code: policy_denied | Rule: no"


def test_records_of_governance_begin_with_who_did_what_and_show_lists_plainly(capsys: Capture) -> None:
    log = JsonlAuditLog(Path(os.environ["PROWESS_HOME"]) / "audit" / "audit.jsonl", "second")
    refused = {"user": "ann", "operation": "deploy", "rule": "roles.user", "code": "policy_denied"}
    log.append(AuditEvent(kind="governance.refused", data=refused))
    block = {"user": "bob", "id": "block-1", "match": {"name": "leaky"}, "layers": ["a", "b"], "reason": None}
    log.append(AuditEvent(kind="governance.block", data=block))
    assert run(["audit", "show"]) == 0
    rows = capsys.readouterr().out.splitlines()[-2:]
    assert [row.split("Z  ", 1)[1].split() for row in rows] == [
        ["governance.refused", "ann", "deploy", "policy_denied"],
        ["governance.block", "bob", "id=block-1", "layers=a,", "b", "match=name", "leaky"],
    ]
