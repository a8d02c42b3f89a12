"""A signal while a script sleeps: the command ends at once, the script with it, and everything stands in the records.

Real processes, several times each, because what goes wrong here depends on the moment.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import uuid
from typing import TYPE_CHECKING

import pytest

from prowess.execution import default_sandbox

if TYPE_CHECKING:
    from pathlib import Path

TIMES = 2
SECONDS = 2.0  # from the signal to the end of the process
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
LOAD = ("skills.load", {"names": ["demo"]})


@pytest.fixture(autouse=True)
def needs_sandbox() -> None:
    if not default_sandbox().probe().available:
        pytest.skip("no sandbox can be started on this machine")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with a skill `demo` whose script sleeps, and a workspace."""
    scripts = tmp_path / "skills" / "demo" / "scripts"
    scripts.mkdir(parents=True)
    (scripts.parent / "SKILL.md").write_text("---\nname: demo\ndescription: Sleeps.\n---\nRun it.\n")
    (scripts / "sleep.sh").write_text("echo before\nsleep 30\n")
    (tmp_path / "work").mkdir()
    return tmp_path


def _words(place: Path, command: str, token: str) -> tuple[list[str], bytes]:
    """Return the command line and the standard input that make `command` run the script."""
    run = ("skills.run_script", {"path": "scripts/sleep.sh", "args": [token]})
    if command == "run":
        return ["run", "demo", "scripts/sleep.sh", "--", token], b""
    if command == "session":
        lines = [{"id": at, "tool": tool, "arguments": given} for at, (tool, given) in enumerate((LOAD, run))]
        return ["session"], b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    turns = [{"text": "", "calls": [{"name": tool, "arguments": given}]} for tool, given in (LOAD, run)]
    (place / f"{token}.json").write_text(json.dumps([*turns, {"text": "done"}]))
    words = [
        "agent",
        "task",
        "--model",
        f"scripted:{place / token}.json",
        "--transcript",
        str(place / f"{token}.jsonl"),
    ]
    return words, b""


def _runs(token: str) -> bool:
    words = f"/skill/scripts/sleep.sh {token}"
    return subprocess.run(["pgrep", "-f", words], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(
    "number",
    [signal.SIGTERM, *(pytest.param(one, marks=pytest.mark.unmeasured) for one in (signal.SIGINT, signal.SIGHUP))],
    ids=lambda number: number.name,
)
@pytest.mark.parametrize("command", ["run", "session", "agent"])
def test_a_signal_ends_command_and_script_within_two_seconds(
    place: Path, own_home: Path, command: str, number: signal.Signals
) -> None:
    for _ in range(TIMES if number == signal.SIGINT else 1):
        token = uuid.uuid4().hex
        words, given = _words(place, command, token)
        line = [sys.executable, "-m", "prowess", words[0], "--root", str(place / "skills"), *words[1:]]
        with subprocess.Popen(
            line, cwd=place / "work", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as child:
            assert child.stdin is not None
            child.stdin.write(given)
            child.stdin.flush()
            deadline = time.monotonic() + 20
            while not _runs(token) and time.monotonic() < deadline and child.poll() is None:
                time.sleep(0.02)
            begun = time.monotonic()
            child.send_signal(number)
            code = child.wait(timeout=20)
            took = time.monotonic() - begun
            assert child.stderr is not None
            said = child.stderr.read()

        assert code == CODES[number], said
        assert took < SECONDS
        assert not _runs(token)
        assert b"Traceback" not in said
        records = [json.loads(line) for line in (own_home / ".prowess/audit/audit.jsonl").read_text().splitlines()]
        kinds = [record["kind"] for record in records]
        assert kinds.count("tool.started") == kinds.count("tool.finished")
        assert records[-1]["data"].get("outcome") in {"cancelled", "failure", "success"}
        assert not any((own_home / ".prowess" / "artifacts").glob("*"))
        if command == "agent":
            kept = [json.loads(line) for line in (place / f"{token}.jsonl").read_text().splitlines()]
            assert [line["role"] for line in kept] == ["user", "assistant", "tool", "assistant", "end"]
            assert kept[-1]["ended"] == "interrupted"
