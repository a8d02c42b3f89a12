"""`prowess report`: what skills were used for, and which are used badly, with the numbers of records."""

from __future__ import annotations

import csv
import io
import json
import os
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from prowess.audit import AuditEvent, JsonlAuditLog
from prowess.audit.record import AuditRecord
from prowess.cli.dispatch import run
from prowess.governance.usage import UsageCounter
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from collections.abc import Mapping

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def log(tmp_path: Path) -> JsonlAuditLog:
    made = JsonlAuditLog(Path(os.environ["PROWESS_HOME"]) / "audit" / "audit.jsonl", "second")

    def add(kind: str, session: str, skill: object, **data: object) -> None:
        given = {"skill": skill, "digest": f"sha256:{skill}", "team": "sales", "user": "ada", **data}
        made.append(AuditEvent(kind=kind, session_id=session, call_id="1", data=given))

    for number in range(4):
        session = f"s{number}"
        add("skill.loaded", session, "deploy", tokens=100)
        if number == 0:
            add("tool.finished", session, "deploy", tool="skills.read", outcome="success", duration_ms=30, tokens=5)
        add("skill.unloaded", session, "deploy")
    add("tool.finished", "s1", "deploy", tool="publish", outcome="failure", code="timeout", duration_ms=70, team="ops")
    add("script.finished", "s1", "deploy", exit_code=3, team="ops")
    add("script.finished", "s1", "deploy", exit_code=0, team="ops")
    for number in range(3):
        add("tool.refused", "s9", "closed", tool="skills.load", code="policy_denied", rule=f"r{number}")
    add("tool.refused", "s9", ["closed", "deploy"], digest=["sha256:closed", "sha256:deploy"], code="policy_denied")
    for name in ("deploy", "closed", "lonely"):
        write_skill(tmp_path / "skills", name)
    return made


def _report(capsys: Capture, *arguments: str) -> dict[str, Any]:
    assert run(["report", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.proves("governance.analytics.metrics", "governance.analytics.reports")
def test_each_skill_and_version_has_its_counts_by_team(log: JsonlAuditLog, tmp_path: Path, capsys: Capture) -> None:
    assert log.path
    found = _report(capsys, "--by", "skill,team", "--root", str(tmp_path / "skills"))
    rows = {(row["skill"], row["digest"], row["team"]): row for row in found["rows"]}
    assert set(rows) == {
        ("deploy", "sha256:deploy", "sales"),
        ("deploy", "sha256:deploy", "ops"),
        ("closed", "sha256:closed", "sales"),
    }
    sales, ops = rows["deploy", "sha256:deploy", "sales"], rows["deploy", "sha256:deploy", "ops"]
    assert {key: sales[key] for key in ("activations", "success", "errors", "refusals", "tokens", "duration_ms")} == {
        "activations": 4,
        "success": 1,
        "errors": 0,
        "refusals": 1,
        "tokens": 405,
        "duration_ms": 30,
    }
    assert (ops["errors"], ops["script_runs"], ops["script_failures"], ops["longest_ms"]) == (1, 2, 1, 70)
    assert rows["closed", "sha256:closed", "sales"]["refusals"] == 4
    assert (sales["first"], ops["first"], found["first"], found["last"]) == (1, 10, 1, 16)


@pytest.mark.proves("governance.analytics.weak")
def test_skills_that_are_used_badly_are_listed_with_the_numbers_of_records(
    log: JsonlAuditLog, tmp_path: Path, capsys: Capture
) -> None:
    assert log.path
    found = _report(capsys, "--root", str(tmp_path / "skills"))
    (abandoned,), (refused,) = found["often_abandoned"], found["often_refused"]
    assert (abandoned["skill"], abandoned["cases"], abandoned["of"], abandoned["records"]) == (
        "deploy",
        3,
        4,
        [5, 7, 9],
    )
    assert (refused["skill"], refused["cases"], refused["of"]) == ("closed", 4, 4)
    assert (refused["records"], refused["codes"]) == ([13, 14, 15, 16], {"policy_denied": 4})
    assert [(one["skill"], one["cases"]) for one in found["never_chosen"]] == [("closed", 4), ("lonely", 0)]
    assert run(["report", "--root", str(tmp_path / "skills")]) == 0
    told = capsys.readouterr().out
    assert "often abandoned: deploy (3 of 4 activations): records 5, 7, 9" in told
    assert "never chosen: lonely\n" in told


def test_a_report_is_exported_as_csv_for_a_span_of_time(log: JsonlAuditLog, tmp_path: Path, capsys: Capture) -> None:
    assert log.path
    assert run(["report", "--by", "team,user", "--csv", "--root", str(tmp_path / "skills")]) == 0
    header, *rows = csv.reader(io.StringIO(capsys.readouterr().out))
    assert header[:3] == ["team", "user", "activations"]
    assert [row[:3] for row in rows] == [["ops", "ada", "0"], ["sales", "ada", "4"]]
    assert _report(capsys, "--since", "2100-01-01", "--root", str(tmp_path / "skills"))["rows"] == []
    assert run(["report", "--by", "skill,colour"]) == 2
    assert "'colour' is not a key" in capsys.readouterr().err
    assert run(["report", "--log", str(tmp_path / "none")]) == 1
    assert "there is no log here" in capsys.readouterr().err


def _record(sequence: int, kind: str, data: Mapping[str, object]) -> AuditRecord:
    return AuditRecord(
        sequence=sequence,
        at="2026-11-29T00:00:00.000000Z",
        kind=kind,
        session_id=f"s{sequence % 100}",
        call_id="1",
        data=data,
        previous=None,
        hash="",
    )


def test_memory_does_not_grow_with_the_number_of_records() -> None:
    counter = UsageCounter(("skill", "team"))
    kinds = ("skill.loaded", "tool.finished", "tool.refused", "skill.unloaded")

    def feed(first: int, count: int) -> int:
        for number in range(first, first + count):
            data = {"skill": f"skill-{number % 50}", "digest": "d", "team": "t", "outcome": "success", "code": "c"}
            counter.take(_record(number, kinds[number % 4], data))
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        first = feed(0, 4000)
        assert feed(4000, 4000) - first < 20_000  # bytes
    finally:
        tracemalloc.stop()
