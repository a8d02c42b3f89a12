"""Hosts are real processes here: the supervisor starts them, and nothing of them is left, however the run ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import anyio
import pytest

from prowess.evals.hosts import process_supervisor
from prowess.evals.hosts.host_process import HostProcess

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="descendants are adopted on Linux alone")
SUPERVISOR = [sys.executable, "-I", "-S", str(Path(process_supervisor.__file__))]
# Starts a grandchild in a session of its own that ignores every signal it can, writes both numbers, and waits.
STUBBORN = """
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
child = os.fork()
if child == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    open(sys.argv[1], "w").write(f"{os.getppid()} {os.getpid()}")
time.sleep(60)
"""


@pytest.fixture
def prompt(tmp_path: Path) -> Path:
    (tmp_path / "prompt").write_text("the prompt\n")
    return tmp_path / "prompt"


def wait_for(path: Path) -> int:
    """The number of the process that wrote `path`."""
    deadline = time.monotonic() + 20
    while not (path.exists() and path.read_text().count(" ") == 1):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return int(path.read_text().split()[1])


def is_gone(number: int) -> bool:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True  # dead, and not reaped by who adopted it
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.02)
    return False


def test_the_program_reads_its_input_and_its_code_is_passed_on(prompt: Path) -> None:
    program = [sys.executable, "-c", "import sys; print(sys.stdin.read().strip()); sys.exit(7)"]
    with subprocess.Popen([*SUPERVISOR, str(prompt), *program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as done:
        assert done.stdout is not None
        assert done.stdout.read() == b"the prompt\n"
        assert done.wait() == 7


def test_a_program_that_cannot_be_started_is_named(prompt: Path) -> None:
    program = [*SUPERVISOR, str(prompt), "/nowhere/host"]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as done:
        assert done.stderr is not None
        assert done.stderr.read() == b"/nowhere/host: No such file or directory\n"
        assert done.wait() == 127


def test_what_a_program_left_in_the_background_is_killed_when_it_ends(tmp_path: Path, prompt: Path) -> None:
    leaving = STUBBORN.replace("time.sleep(60)", "time.sleep(60) if child == 0 else time.sleep(1)")
    program = [sys.executable, "-c", leaving, str(tmp_path / "numbers")]
    with subprocess.Popen([*SUPERVISOR, str(prompt), *program], stdin=subprocess.PIPE) as done:
        grandchild = wait_for(tmp_path / "numbers")
        assert done.wait() == 0
    assert is_gone(grandchild)


@pytest.mark.parametrize("how", ["pipe", "terminated"])
def test_nothing_is_left_if_the_run_is_ended(how: str, tmp_path: Path, prompt: Path) -> None:
    program = [sys.executable, "-c", STUBBORN, str(tmp_path / "numbers")]
    with subprocess.Popen([*SUPERVISOR, str(prompt), *program], stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        grandchild = wait_for(tmp_path / "numbers")
        if how == "pipe":
            process.stdin.close()
        else:
            process.terminate()
        assert process.wait(10) == 128 + signal.SIGKILL
    assert is_gone(grandchild)


def test_nothing_is_left_if_the_campaign_itself_is_killed(tmp_path: Path, prompt: Path) -> None:
    campaign = textwrap.dedent(f"""
        import subprocess, time
        subprocess.Popen({[*SUPERVISOR, str(prompt), sys.executable, "-c", STUBBORN, str(tmp_path / "numbers")]!r},
                         stdin=subprocess.PIPE, start_new_session=True)
        time.sleep(60)
    """)
    process = subprocess.Popen([sys.executable, "-c", campaign])
    grandchild = wait_for(tmp_path / "numbers")
    process.kill()
    number, status, _ = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert (number, process.returncode) == (process.pid, -signal.SIGKILL)
    assert is_gone(grandchild)


@pytest.mark.parametrize("reason", ["time", "stopped"])
def test_a_host_process_ends_at_its_limit_or_when_it_is_stopped(reason: str, tmp_path: Path, prompt: Path) -> None:
    stopped = anyio.Event()
    process = HostProcess(source=prompt, output=tmp_path / "out", errors=tmp_path / "errors")

    async def stop() -> None:
        await anyio.to_thread.run_sync(wait_for, tmp_path / "numbers")
        stopped.set()

    async def run() -> list[int | None]:
        codes = []
        async with anyio.create_task_group() as tasks:
            if reason == "stopped":
                tasks.start_soon(stop)
            codes.append(
                await process.run(
                    [sys.executable, "-c", STUBBORN, str(tmp_path / "numbers")],
                    environment={},
                    directory=str(tmp_path),
                    seconds=1.5 if reason == "time" else 30,
                    stopped=stopped,
                )
            )
        return codes

    assert anyio.run(run) == [None]
    assert is_gone(wait_for(tmp_path / "numbers"))


def test_a_host_process_keeps_output_and_messages_apart(tmp_path: Path, prompt: Path) -> None:
    async def run() -> int | None:
        program = "import sys; print('out'); print('problem', file=sys.stderr); sys.exit(3)"
        return await HostProcess(source=prompt, output=tmp_path / "out", errors=tmp_path / "errors").run(
            [sys.executable, "-c", program], environment={}, directory=str(tmp_path), seconds=30, stopped=anyio.Event()
        )

    assert anyio.run(run) == 3
    assert ((tmp_path / "out").read_text(), (tmp_path / "errors").read_text()) == ("out\n", "problem\n")
