"""`prowess audit` as people and programs read it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from prowess.audit import AuditEvent, JsonlAuditLog
from prowess.cli.dispatch import run

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def log() -> JsonlAuditLog:
    """Return the log of the command line, with four records of one session."""
    made = JsonlAuditLog(Path(os.environ["PROWESS_HOME"]) / "audit" / "audit.jsonl", "second")
    for kind, data in (
        ("tool.started", {"tool": "skills.run_script"}),
        ("tool.finished", {"tool": "skills.run_script", "outcome": "failure", "code": "timeout", "duration_ms": 30010}),
        ("tool.refused", {"tool": "evil\x1b[31m\u202e" + "x" * 70, "code": "tool_not_found"}),
        ("skill.loaded", {"digest": "sha256:1"}),
    ):
        made.append(AuditEvent(kind=kind, session_id="0193a5b2-7c1e-7def-8123-456789abcdef", call_id="1", data=data))
    return made


def _change(log: JsonlAuditLog, old: bytes, new: bytes) -> None:
    path = Path(log.path)
    path.write_bytes(path.read_bytes().replace(old, new))


def test_show_is_readable_in_80_columns_and_cannot_move_the_cursor(log: JsonlAuditLog, capsys: Capture) -> None:
    assert run(["audit", "show"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "session 0193a5b2-7c1e-7def-8123-456789abcdef"
    assert [line.split()[0] for line in lines[1:]] == ["1", "2", "3", "4"]
    assert lines[2].endswith("Z  tool.finished  skills.run_script  timeout  30.0 s")
    assert "evil\\x1b[31m" in lines[3]
    assert lines[4].endswith("skill.loaded   digest=sha256:1")


def test_a_pipe_gets_whole_lines_and_a_terminal_the_outcome(
    log: JsonlAuditLog, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = {"tool": "skills.run_script", "skill": "s" * 64, "code": "digest_changed", "duration_ms": 7}
    log.append(AuditEvent(kind="tool.finished", session_id=None, call_id="c", data=data))
    assert run(["audit", "show"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith(f"{'s' * 64}  digest_changed  7 ms")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["audit", "show"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.endswith("…  digest_changed  7 ms")
    assert len(last) == 80


def test_a_call_without_an_end_is_mentioned_and_no_fault(log: JsonlAuditLog, capsys: Capture) -> None:
    for kind, call in (("tool.started", "a"), ("tool.started", "b"), ("tool.finished", "a")):
        log.append(AuditEvent(kind=kind, session_id="s", call_id=call, data={"tool": "x"}))
    assert run(["audit", "show", "--tail", "3"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert ["never finished, or at work" in row for row in rows] == [False, False, True, False]
    assert run(["audit", "verify", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unfinished"] == [6]
    assert run(["audit", "verify"]) == 0
    assert "note: 1 call began and did not finish, the first at record 6" in capsys.readouterr().out


def test_show_takes_the_last_records(log: JsonlAuditLog, capsys: Capture) -> None:
    assert run(["audit", "show", "--tail", "2"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["session", "3", "4"]
    assert run(["audit", "show", "--tail", "0"]) == 2


def test_show_as_json_has_every_field(log: JsonlAuditLog, capsys: Capture) -> None:
    assert run(["audit", "show", "--json", "--log", log.path]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["log"] == log.path
    assert shown["records"] == [json.loads(line) for line in Path(log.path).read_text(encoding="utf-8").splitlines()]


def test_show_does_not_hide_a_line_that_is_no_record(log: JsonlAuditLog, capsys: Capture) -> None:
    _change(log, b"skill.loaded", b"skill.hidden")
    assert run(["audit", "show", "--tail", "1"]) == 0
    assert "not a record; run `prowess audit verify`" in capsys.readouterr().out
    assert run(["audit", "show", "--tail", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["records"] == [None]


def test_verify_prints_the_head_to_keep(log: JsonlAuditLog, capsys: Capture) -> None:
    assert run(["audit", "verify"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == "4 records, chain unbroken"
    head = second.removeprefix("head ")
    assert run(["audit", "verify", "--head", head]) == 0
    assert "and record 4 is the head kept elsewhere" in capsys.readouterr().out
    assert run(["audit", "verify", "--head", "0" * 64]) == 1
    assert "the head kept elsewhere is in no record" in capsys.readouterr().out
    assert run(["audit", "verify", "--head", "abc"]) == 2


@pytest.mark.proves("governance.audit.tamper")
@pytest.mark.parametrize(
    ("spoil", "place", "word"),
    [
        (lambda lines: [lines[0], lines[1].replace(b"timeout", b"success"), *lines[2:]], "line 2: record 2", "changed"),
        (lambda lines: [lines[0], *lines[2:]], "line 2: record 2", "missing"),
        (lambda lines: [lines[1], lines[0], *lines[2:]], "line 2: record 1", "moved"),
        (lambda lines: [*lines, lines[0]], "line 5: record 1", "inserted"),
        (lambda lines: lines[:2], "fault: 2 records", "cut from the end"),
    ],
)
def test_verify_says_what_was_done_to_which_record(
    log: JsonlAuditLog, capsys: Capture, spoil: object, place: str, word: str
) -> None:
    path = Path(log.path)
    assert callable(spoil)
    path.write_bytes(b"".join(spoil(path.read_bytes().splitlines(keepends=True))))
    assert run(["audit", "verify"]) == 1
    out = capsys.readouterr().out
    assert out.startswith(place)
    assert word in out
    assert out.splitlines()[-1].endswith("1 fault: the log was tampered with or damaged")
    assert max(len(line) for line in out.splitlines()) <= 80


def test_verify_as_json_is_one_document(log: JsonlAuditLog, capsys: Capture) -> None:
    _change(log, b"skills.run_script", b"skills.run_scripd")
    assert run(["audit", "verify", "--json"]) == 1
    verdict = json.loads(capsys.readouterr().out)
    assert list(verdict) == ["ok", "log", "records", "head", "kept_at", "faults", "notices", "more", "unfinished"]
    assert [(fault["kind"], fault["record"], fault["line"]) for fault in verdict["faults"]] == [
        ("changed", 1, 1),
        ("changed", 2, 2),
    ]


def test_verify_counts_what_it_does_not_list(log: JsonlAuditLog, capsys: Capture) -> None:
    Path(log.path).write_bytes(b"{}\n" * 1500)
    assert run(["audit", "verify"]) == 1
    out = capsys.readouterr().out
    assert "and 1401 more\n" in out
    assert "0 records, 100 faults" in out


def test_a_killed_writer_is_a_note_and_no_failure(log: JsonlAuditLog, capsys: Capture) -> None:
    with open(log.path, "ab") as stream:
        stream.write(b'{"at":')
    assert run(["audit", "verify"]) == 0
    assert capsys.readouterr().out.startswith("note: after record 4 stands half a line of 6 bytes")


def test_no_log_is_a_failure_in_one_sentence(capsys: Capture) -> None:
    for words in (["verify"], ["show"]):
        assert run(["audit", *words]) == 1
        error = capsys.readouterr().err
        assert error.endswith("audit.jsonl: there is no log here\n")
        assert error.count("\n") == 1


def test_piped_output_has_no_colour_and_fits(log: JsonlAuditLog) -> None:
    for words in (["show"], ["verify"]):
        done = subprocess.run([sys.executable, "-m", "prowess", "audit", *words], capture_output=True, check=True)
        assert b"\x1b" not in done.stdout
        if words == ["verify"]:
            assert max(len(line) for line in done.stdout.decode().splitlines()) <= 80


def test_help_has_an_example(capsys: Capture) -> None:
    for words in ([], ["show"], ["verify"]):
        assert run(["audit", *words, "--help"]) == 0
        assert "Example: prowess audit" in capsys.readouterr().out
