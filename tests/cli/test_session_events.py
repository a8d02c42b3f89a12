from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from prowess.execution import default_sandbox
from tests.fork_server import prowess
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Lines = list[dict[str, Any]]


@pytest.fixture
def run(tmp_path: Path, own_home: Path) -> Callable[..., Lines]:
    """Run `prowess session` over a few skills with these requests; return every line it prints."""
    write_skill(tmp_path / "skills", "kit", files={"scripts/hi.py": "print('hi')\n"}, extra="allowed-tools: Read\n")
    (tmp_path / "work").mkdir()

    def run(*options: str, requests: list[dict[str, Any]]) -> Lines:
        done = subprocess.run(
            [prowess(), "session", "--root", str(tmp_path / "skills"), *options],
            input=b"".join(json.dumps({"id": n, **request}).encode() + b"\n" for n, request in enumerate(requests)),
            capture_output=True,
            cwd=tmp_path / "work",
            timeout=60,
            check=True,
        )
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run


def _load(*names: str) -> dict[str, Any]:
    return {"tool": "skills.load", "arguments": {"names": list(names)}}


def _shape(lines: Lines) -> list[object]:
    return [line["event"]["kind"] if "event" in line else line["id"] for line in lines]


@pytest.mark.proves("tooling.cli.session")
def test_calls_results_events_and_decisions_are_one_object_a_line_in_the_order_in_which_they_happen(
    run: Callable[..., Lines],
) -> None:
    refused = {"tool": "Bash", "arguments": {"command": "make"}}
    lines = run("--events", "--tools", "bash", requests=[_load("kit"), refused, {"method": "close", "arguments": {}}])
    assert _shape(lines) == [
        *("tool.started", "skill.loading", "skill.activating", "skill.loaded", "restriction.changed", "tool.finished"),
        0,
        *("tool.refused", "restriction.prevented"),
        1,
        *("skill.unloaded", "restriction.changed", "session.closed"),
        2,
    ]
    assert all(set(line) == {"event"} for line in lines if "event" in line)
    assert lines[2]["event"]["message"] == "Activating 'kit' skill…"
    assert [line["event"]["sequence"] for line in lines if "event" in line] == list(range(1, 12))
    assert lines[6]["result"]["active_skills"][0]["digest"] == lines[3]["event"]["digest"]

    judged = run("--decide", "--events", requests=[_load("kit"), refused])
    assert [line["decision"] for line in judged if "decision" in line] == ["allow", "deny"]
    assert "skill.loaded" in _shape(judged)
    assert _shape(run(requests=[_load("kit"), refused])) == [0, 1]


@pytest.mark.skipif(not default_sandbox().probe().available, reason="no sandbox can start here")
def test_an_event_is_printed_while_its_call_goes_on(tmp_path: Path, own_home: Path) -> None:
    waits = "while not os.path.exists(os.environ['WORKSPACE'] + '/go'):\n    time.sleep(0.02)\n"
    slow = f"import os, time\nprint('begun')\n{waits}"
    write_skill(tmp_path / "skills", "kit", files={"scripts/slow.py": slow})
    (tmp_path / "work").mkdir()
    command = [prowess(), "session", "--root", str(tmp_path / "skills"), "--events"]
    with subprocess.Popen(command, cwd=tmp_path / "work", stdin=subprocess.PIPE, stdout=subprocess.PIPE) as host:
        assert host.stdin is not None
        assert host.stdout is not None
        run = {"id": 2, "tool": "skills.run_script", "arguments": {"path": "scripts/slow.py"}}
        host.stdin.write(json.dumps({"id": 1, **_load("kit")}).encode() + b"\n" + json.dumps(run).encode() + b"\n")
        host.stdin.flush()
        for line in host.stdout:
            if b"script.output" in line:
                break
        assert json.loads(line)["event"]["text"] == "begun\n"
        (tmp_path / "work" / "go").touch()  # had the event come with the answer, the script would wait for ever
        host.stdin.close()
        rest = [json.loads(line) for line in host.stdout]
    assert _shape(rest)[:3] == ["script.finished", "tool.finished", 2]


def test_a_session_with_a_name_has_its_events_for_the_next_process(run: Callable[..., Lines]) -> None:
    run("--id", "one", requests=[_load("kit")])
    (answer,) = run("--id", "one", requests=[{"method": "events", "arguments": {"since": 2, "limit": 3}}])
    kinds = [event["kind"] for event in answer["result"]["events"]]
    assert kinds == ["skill.activating", "skill.loaded", "restriction.changed"]
    assert answer["result"]["last"] == 5
    nothing, wrong = run(
        requests=[{"method": "events", "arguments": {}}, {"method": "events", "arguments": {"since": -1}}]
    )
    assert nothing["result"] == {"events": [], "last": 0}
    assert wrong["error_detail"]["code"] == "invalid_arguments"


def test_a_host_that_stops_reading_ends_the_session_in_order(tmp_path: Path, own_home: Path) -> None:
    write_skill(tmp_path / "skills", "kit")
    command = [prowess(), "session", "--root", str(tmp_path / "skills"), "--events"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as host:
        assert host.stdin is not None
        assert host.stdout is not None
        assert host.stderr is not None
        host.stdout.close()
        host.stdin.write(json.dumps({"id": 1, **_load("kit")}).encode() + b"\n")
        host.stdin.close()
        assert host.stderr.read() == b""
        assert host.wait(30) == 0
