from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.examples.conftest import Outcome

APP = """\
2026-03-02 10:13:00,001 INFO api started on 10.0.0.1:8080
2026-03-02 10:14:05,100 ERROR connection pool exhausted (20 of 20)
2026-03-02 10:14:07,100 ERROR payment A17-0042 failed: timeout after 3000 ms
2026-03-02 10:14:08,100 [ERROR] payment B17-0043 failed: timeout after 3001 ms
2026-03-02 10:14:09,000 ERROR job crashed
Traceback (most recent call last):
  File "job.py", line 3, in run
    raise RuntimeError("no space")
RuntimeError: no space
2026-03-02T10:15:08.100Z WARNING disk "data" is 91% full
"""


@pytest.fixture
def app(workspace: Path) -> str:
    (workspace / "app.log").write_text(APP)
    return "app.log"


def _patterns(done: Outcome) -> dict[str, int]:
    return {
        one["pattern"] if "pattern" in one else one["text"]: one["count"] for one in json.loads(done.stdout)["patterns"]
    }


def test_equal_events_count_together(run: Callable[..., Outcome], app: str) -> None:
    done = run("log-triage", "triage.py", app, "--json")
    report = json.loads(done.stdout)
    assert report["levels"] == {"error": 4, "warn": 1, "info": 1}
    first = report["patterns"][0]
    assert (first["count"], first["text"]) == (2, "payment <id> failed: timeout after <n> ms")
    assert (first["first"], first["last"]) == ("2026-03-02 10:14:07", "2026-03-02 10:14:08")
    assert {"api started on <ip>", "disk <text> is <n>% full"} <= set(_patterns(done))


def test_a_traceback_is_one_entry_that_ends_with_its_error(run: Callable[..., Outcome], app: str) -> None:
    done = run("log-triage", "triage.py", app, "--level", "error", "--json")
    assert "job crashed: RuntimeError: no space" in _patterns(done)
    assert "api started on <ip>" not in _patterns(done)


def test_access_logs_and_json_lines_are_understood(run: Callable[..., Outcome], workspace: Path) -> None:
    (workspace / "access.log").write_text(
        '1.2.3.4 - - [02/Mar/2026:10:14:07 +0100] "GET /a?b=1 HTTP/1.1" 502 12\n'
        '1.2.3.4 - - [02/Mar/2026:10:14:08 +0100] "GET /a?b=2 HTTP/1.1" 502 12\n'
    )
    (workspace / "json.log").write_text('{"ts": "2026-03-02T10:14:09Z", "level": "FATAL", "msg": "gone"}\n')
    done = run("log-triage", "triage.py", "access.log", "json.log", "--json")
    assert json.loads(done.stdout)["levels"] == {"fatal": 1, "error": 2}
    assert _patterns(done) == {"GET /a <n>": 2, "gone": 1}


def test_a_burst_stands_out(run: Callable[..., Outcome], workspace: Path) -> None:
    quiet = "".join(f"2026-03-02 10:{minute:02}:00 ERROR slow\n" for minute in range(10))
    loud = "".join(f"2026-03-02 10:10:{second:02} ERROR slow\n" for second in range(12))
    (workspace / "a.log").write_text(quiet + loud)
    done = run("log-triage", "triage.py", "a.log")
    assert "Bursts: 2026-03-02 10:10 (12 errors, usual is 1)" in done.stdout


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["none.log"], 1, "cannot read none.log"),
        (["app.log", "--match", "("], 2, "not a regular expression"),
        (["app.log", "--level", "fatal"], 3, "no entry matches; 6 entries were read"),
    ],
)
def test_triage_says_what_is_wrong(
    run: Callable[..., Outcome], app: str, args: list[str], code: int, said: str
) -> None:
    del app
    done = run("log-triage", "triage.py", *args)
    assert done.code == code
    assert said in done.stderr


def test_a_window_holds_its_lines_and_what_belongs_to_them(run: Callable[..., Outcome], app: str) -> None:
    done = run("log-triage", "window.sh", app, "2026-03-02T10:14:09", "2026-03-02 10:14")
    assert done.code == 0
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["5", "6", "7", "8", "9"]
    short = run("log-triage", "window.sh", app, "2026-03-02 10:14", "2026-03-02 10:14", "2")
    assert len(short.stdout.splitlines()) == 2
    assert "6 more lines" in short.stderr


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["app.log", "2026-03-03", "2026-03-04"], 3, "no line between"),
        (["none.log", "2026-03-03", "2026-03-04"], 1, "cannot read none.log"),
        (["app.log", "10:14", "10:15"], 2, "a time starts with a date"),
        (["app.log", "2026-03-03", "2026-03-04", "many"], 2, "MAX_LINES must be a number"),
        ([], 2, "usage:"),
    ],
)
def test_a_window_says_what_is_wrong(
    run: Callable[..., Outcome], app: str, args: list[str], code: int, said: str
) -> None:
    del app
    done = run("log-triage", "window.sh", *args)
    assert done.code == code
    assert said in done.stderr
