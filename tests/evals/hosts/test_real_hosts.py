"""The real command lines of four hosts, through the gateway: recorded, killed in the middle, resumed, replayed.

`make hosts` installs them and runs this without a network. Elsewhere these tests are skipped.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tools.hosts.calls import shell_call, skill_call
from tools.hosts.capture import MODELS, PROGRAMS
from tools.hosts.scripted_provider import Part, ScriptedProvider
from tools.hosts.wire_forms import ScriptedCall, Turn

pytestmark = [
    pytest.mark.unmeasured,
    pytest.mark.skipif(
        "PROWESS_HOSTS" not in os.environ, reason="`make hosts` installs the hosts and runs these tests"
    ),
]
PROGRAM = Path(__file__).with_name("one_run.py")
HELD = "HELD"


def script(host: str, hold: float = 0.0) -> tuple[Part, ...]:
    """Four answers with calls, and a last one: five that are needed. The third is held back."""
    turns = (
        Turn(text="I look.", calls=(shell_call(host, "ls"),)),
        Turn(text="A skill fits.", calls=(_choice(host),)),
        Turn(text="I read.", calls=(shell_call(host, "cat notes.txt"),), hold=hold),
        Turn(text="I write.", calls=(shell_call(host, "echo a > rows.csv"),)),
        Turn(text="The rows are in rows.csv."),
    )
    return (Part(turns=turns),)


def _choice(host: str) -> ScriptedCall:
    codex = shell_call(host, "cat ~/.agents/skills/pdf-tables/SKILL.md")  # it has no skill tool
    return codex if host == "codex" else skill_call(host, "pdf-tables")


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    place = tmp_path / "skills/pdf-tables"
    place.mkdir(parents=True)
    (place / "SKILL.md").write_text(
        "---\nname: pdf-tables\ndescription: Turns tables of PDF files into rows.\n---\n\nRun it.\n"
    )
    return place


def settings(
    host: str, skill: Path, place: Path, journal: Path, upstream: str, *, replays: bool = False, calls: int = 50
) -> str:
    journal.parent.mkdir(exist_ok=True)
    given = {"host": host, "skill": str(skill), "place": str(place), "journal": str(journal), "upstream": upstream}
    given |= {"calls": str(calls), "mode": "replay" if replays else "ledger", "executable": "\n".join(PROGRAMS[host])}
    if (model := MODELS[host]) is not None:
        given["model"] = model
    return json.dumps(given)


def run(given: str) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, str(PROGRAM), given], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads(done.stdout))


def processes_of(place: Path) -> list[str]:
    """The command lines of processes that work below `place` or have it in an argument."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            directory = os.readlink(folder / "cwd")
        except OSError:
            continue
        if str(place) in line or directory.startswith(str(place)):
            found.append(line)
    return found


@pytest.mark.parametrize("host", ["claude", "codex", "gemini", "copilot"])
def test_a_run_is_recorded_killed_resumed_and_replayed(host: str, tmp_path: Path, skill: Path) -> None:
    with ScriptedProvider(script(host)) as provider:
        whole = run(settings(host, skill, tmp_path / "whole", tmp_path / "whole-journal/journal", provider.url))
        needed = provider.paid
    assert (whole["verdict"], whole["ended"], whole["error"]) == ("triggered", "completed", None)
    assert whole["answer"] == "The rows are in rows.csv."
    assert whole["booked"] == needed

    place, journal = tmp_path / "killed", tmp_path / "killed-journal/journal"
    with ScriptedProvider(script(host, hold=60.0)) as provider:
        arguments = [sys.executable, str(PROGRAM), settings(host, skill, place, journal, provider.url)]
        campaign = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert provider.holding.wait(60)
        campaign.send_signal(signal.SIGKILL)
        _, status, _ = os.wait4(campaign.pid, 0)
        campaign.returncode = os.waitstatus_to_exitcode(status)
        assert gone(place)
        paid_before_the_kill = provider.paid
    assert 0 < paid_before_the_kill < needed

    with ScriptedProvider(script(host)) as provider:
        resumed = run(settings(host, skill, tmp_path / "again", journal, provider.url))
        paid = paid_before_the_kill + provider.paid
    assert paid <= needed + 1
    assert resumed["verdict"] == whole["verdict"]

    replayed = run(settings(host, skill, tmp_path / "replayed", journal, provider.url, replays=True))
    assert (replayed["verdict"], replayed["answer"], replayed["error"]) == (whole["verdict"], whole["answer"], None)
    assert replayed["calls"] == whole["calls"]
    # After a heading "host, needed, paid before the kill, paid in all, verdict" these rows are the table of the docs.
    sys.stdout.write(f"| {host} | {needed} | {paid_before_the_kill} | {paid} | {resumed['verdict']} |\n")
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"key-0000-secret" in path.read_bytes()]


@pytest.mark.parametrize("host", ["claude", "codex", "gemini", "copilot"])
def test_a_cap_ends_a_run_and_is_not_passed(host: str, tmp_path: Path, skill: Path) -> None:
    with ScriptedProvider(script(host)) as provider:
        ended = run(settings(host, skill, tmp_path / "run", tmp_path / "journal", provider.url, calls=2))
        assert (ended, provider.paid) == ({"cap": "call_cap", "booked": 2}, 2)
    assert gone(tmp_path / "run")


def gone(place: Path) -> bool:
    """Whether every process of a run ends within the time that the supervisor may take."""
    deadline = time.monotonic() + 8
    while processes_of(place):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
