"""`prowess audit` as people and programs read it."""

from __future__ import annotations

import csv
import io
import json
import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from prowess.audit import AuditEvent, JsonlAuditLog
from prowess.audit.caller import CALLER_KEYS, SKILL_KEYS
from prowess.cli.dispatch import run
from tests.fork_server import prowess

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
    assert ["unfinished or still running" in row for row in rows] == [False, False, True, False]
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
    assert "no record has the head kept elsewhere" in capsys.readouterr().out
    assert run(["audit", "verify", "--head", "abc"]) == 2


def _outcome(capsys: Capture, *arguments: str) -> list[int]:
    assert run(["audit", "show", "--json", *arguments]) == 0
    return [record["sequence"] for record in json.loads(capsys.readouterr().out)["records"]]


@pytest.fixture
def mixed() -> JsonlAuditLog:
    """Return the log of the command line, with records of two users and three skills."""
    made = JsonlAuditLog(Path(os.environ["PROWESS_HOME"]) / "audit" / "audit.jsonl", "second")
    for kind, session, data in (
        ("tool.started", "s1", {"user": "ada", "skill": "deploy", "tool": "skills.load"}),
        ("tool.finished", "s1", {"user": "ada", "skill": "deploy", "tool": "skills.load", "outcome": "success"}),
        ("tool.refused", "s2", {"user": "grace", "skill": ["deploy", "cafe\u0301"], "code": "policy_denied"}),
        ("skill.loaded", "s2", {"user": "grace", "skill": "other"}),
        ("tool.finished", "s2", {"user": "grace", "skill": None, "tool": "Bash", "outcome": "failure", "code": "x"}),
    ):
        made.append(AuditEvent(kind=kind, session_id=session, call_id="1", data=data))
    return made


@pytest.mark.parametrize(
    ("arguments", "sequences"),
    [
        (["--skill", "deploy"], [1, 2, 3]),
        (["--skill", "caf\u00e9"], [3]),
        (["--skill", "deploy", "--skill", "other"], [1, 2, 3, 4]),
        (["--user", "grace"], [3, 4, 5]),
        (["--session", "s1"], [1, 2]),
        (["--kind", "tool"], [1, 2, 3, 5]),
        (["--kind", "tool.finished"], [2, 5]),
        (["--outcome", "refused"], [3]),
        (["--outcome", "failure", "--outcome", "success"], [2, 5]),
        (["--user", "grace", "--kind", "tool", "--outcome", "failure"], [5]),
        (["--since", "2020-01-01", "--tail", "2"], [4, 5]),
        (["--since", "2100-01-01T00:00Z"], []),
        (["--until", "2020-01-01"], []),
        (["--until", "2100-01-01", "--skill", "other"], [4]),
    ],
)
def test_show_finds_records_by_what_they_name(
    mixed: JsonlAuditLog, arguments: list[str], sequences: list[int], capsys: Capture
) -> None:
    assert mixed.path
    assert _outcome(capsys, *arguments) == sequences


def test_a_day_is_within_until_and_since(mixed: JsonlAuditLog, capsys: Capture) -> None:
    day = json.loads(Path(mixed.path).read_text(encoding="utf-8").splitlines()[0])["at"][:10]
    assert len(_outcome(capsys, "--since", day)) == 5
    assert len(_outcome(capsys, "--until", day)) == 5
    at = json.loads(Path(mixed.path).read_text(encoding="utf-8").splitlines()[2])["at"]
    assert _outcome(capsys, "--since", at) == [3, 4, 5]
    assert _outcome(capsys, "--until", at) == [1, 2]
    assert run(["audit", "show", "--since", "yesterday"]) == 2
    assert run(["audit", "show", "--outcome", "lost"]) == 2


def test_a_line_that_is_no_record_is_mentioned_beside_those_that_fit(mixed: JsonlAuditLog, capsys: Capture) -> None:
    _change(mixed, b"skill.loaded", b"skill.hidden")
    assert run(["audit", "show", "--user", "grace"]) == 0
    told = capsys.readouterr()
    assert "1 record of the log cannot be read or was changed; run `prowess audit verify`" in told.err
    assert [line.split()[0] for line in told.out.splitlines()] == ["session", "3", "5"]


@pytest.mark.parametrize(
    "arguments", [["--kind", "tool.finish"], ["--session", "s"], ["--since", "2100-01-02", "--until", "2100-01-01"]]
)
def test_show_says_that_no_record_matches(mixed: JsonlAuditLog, arguments: list[str], capsys: Capture) -> None:
    assert mixed.path
    assert run(["audit", "show", *arguments]) == 0
    assert capsys.readouterr() == ("", "no record matches these options\n")


def test_programs_get_an_empty_document_or_table_without_a_remark(mixed: JsonlAuditLog, capsys: Capture) -> None:
    assert mixed.path
    assert _outcome(capsys, "--session", "s") == []
    assert run(["audit", "show", "--csv", "--session", "s"]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("sequence,at,kind,")
    assert told.out.count("\n") == 1
    assert told.err == ""


def test_show_says_that_a_log_has_no_records(log: JsonlAuditLog, capsys: Capture) -> None:
    Path(log.path).write_bytes(b"")
    assert run(["audit", "show"]) == 0
    assert capsys.readouterr() == ("", "the log has no records\n")


def test_a_table_is_safe_in_a_spreadsheet(capsys: Capture) -> None:
    log = JsonlAuditLog(Path(os.environ["PROWESS_HOME"]) / "audit" / "audit.jsonl", "second")
    evil = ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", " =1", "\uff1d1", 'a"b,c', "a\x1b[31m\nb", "plain"]
    for text in evil:
        log.append(AuditEvent(kind="tool.refused", session_id=text, call_id=None, data={"user": text, "skill": text}))
    assert run(["audit", "show", "--csv"]) == 0
    out = capsys.readouterr().out
    assert not any(ord(character) < 32 and character != "\n" for character in out)
    header, *table = csv.reader(io.StringIO(out))
    assert header[:5] == ["sequence", "at", "kind", "session_id", "call_id"]
    assert {*CALLER_KEYS, *SKILL_KEYS} < set(header)
    assert len(table) == len(evil)
    for row in table:
        cells = dict(zip(header, row, strict=True))
        assert cells["outcome"] == "refused"
        for cell in row:
            assert not cell.strip().startswith(("=", "+", "-", "@", "\uff1d"))
    assert [dict(zip(header, row, strict=True))["user"] for row in table] == [
        *("'=1+1", "'+1", "'-1", "'@x", "\\t=1", "\\x0d=1", "' =1", "'\uff1d1"),
        *('a"b,c', "a\\x1b[31m\\nb", "plain"),
    ]
    assert run(["audit", "show", "--csv", "--json"]) == 2


@pytest.mark.proves("governance.audit.head")
def test_records_behind_the_head_stop_the_log_until_they_are_accepted(log: JsonlAuditLog, capsys: Capture) -> None:
    head = Path(log.path).with_name("head.json")
    before = head.read_bytes()
    log.append(AuditEvent(kind="tool.started", data={"tool": "x"}))
    head.write_bytes(before)
    assert run(["audit", "verify"]) == 1
    assert "record 5 is not counted in head.json" in capsys.readouterr().out.replace("\n  ", " ")
    assert run(["audit", "accept"]) == 0
    assert capsys.readouterr().out == "1 record accepted\n"
    assert run(["audit", "verify"]) == 0
    told = capsys.readouterr()
    assert "accepted them" in told.out.replace("\n  ", " ")
    assert run(["audit", "accept"]) == 0
    assert capsys.readouterr().out == "no records to accept\n"
    assert run(["audit", "accept", "--log", str(head.parent / "none.jsonl")]) != 0


def test_verify_reports_owner_mode_and_links(log: JsonlAuditLog, capsys: Capture) -> None:
    assert run(["audit", "verify"]) == 0
    told = capsys.readouterr()
    assert f"audit.jsonl: owner {pwd.getpwuid(os.getuid()).pw_name} ({os.getuid()}), mode 0600, 1 hard link" in told.err
    os.link(log.path, Path(log.path).with_name("second"))
    Path(log.path).chmod(0o644)
    assert run(["audit", "verify", "--json"]) == 0
    verdict = json.loads(capsys.readouterr().out)
    assert verdict["files"][0] == {"path": log.path, "owner": os.getuid(), "mode": "0644", "links": 2}
    assert [notice["kind"] for notice in verdict["notices"]] == ["exposed", "exposed"]
    assert verdict["ok"]


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
    assert list(verdict) == [
        "ok",
        "log",
        "records",
        "head",
        "kept_at",
        "faults",
        "notices",
        "more",
        "unfinished",
        "files",
    ]
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
    assert capsys.readouterr().out.startswith("note: an incomplete line of 6 bytes follows record 4")


def test_no_log_is_a_failure_in_one_sentence(capsys: Capture) -> None:
    for words in (["verify"], ["show"]):
        assert run(["audit", *words]) == 1
        error = capsys.readouterr().err
        assert error.endswith("audit.jsonl: there is no log here\n")
        assert error.count("\n") == 1


def test_piped_output_has_no_colour_and_fits(log: JsonlAuditLog) -> None:
    for words in (["show"], ["verify"]):
        done = subprocess.run([prowess(), "audit", *words], capture_output=True, check=True)
        assert b"\x1b" not in done.stdout
        if words == ["verify"]:
            assert max(len(line) for line in done.stdout.decode().splitlines()) <= 80


def test_help_has_an_example(capsys: Capture) -> None:
    for words in ([], ["show"], ["verify"], ["export"], ["checkpoint"], ["witness"]):
        assert run(["audit", *words, "--help"]) == 0
        assert "prowess audit" in capsys.readouterr().out.split("Example:")[1]
