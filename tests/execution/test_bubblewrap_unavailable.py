"""Without a working bubblewrap nothing runs, and the sentence says what to install."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from prowess.errors import InvalidArgumentsError, SandboxUnavailableError, ScriptUnsupportedError
from prowess.execution.backends import bubblewrap, bubblewrap_start
from prowess.execution.backends.bubblewrap import BubblewrapSandbox
from prowess.execution.backends.bubblewrap_start import hint_from
from prowess.execution.request import ExecRequest
from prowess.execution.sandbox import default_sandbox
from tests.execution.bench import processes_with, within

if TYPE_CHECKING:
    from pathlib import Path

    from tests.execution.bench import Bench

pytestmark = pytest.mark.anyio

_HAS_GROUPS_V1 = os.path.exists("/sys/fs/cgroup/pids/tasks") and os.geteuid() == 0


def _skill(root: Path, *, keeps: bool = True) -> ExecRequest:
    (root / "run.sh").write_text(f"touch {root}/ran\n")
    return ExecRequest(skill_dir=str(root), script="run.sh", out_dir=str(root / "artifacts") if keeps else None)


def _fake(root: Path, source: str) -> str:
    program = root / "bwrap"
    program.write_text(f"#!/bin/sh\n{source}\n")
    program.chmod(0o755)
    return str(program)


async def _refused(program: str, root: Path, *, keeps: bool = True) -> str:
    sandbox = BubblewrapSandbox(program=program)
    with pytest.raises(SandboxUnavailableError) as fault:
        await sandbox.run(_skill(root, keeps=keeps))
    report = sandbox.probe()
    assert not report.available
    assert report.tier == 0
    assert not (root / "ran").exists()
    return fault.value.hint


@pytest.mark.proves("runtime.run.sandboxed", "client.safety.isolation")
async def test_an_absent_bubblewrap_names_the_package(tmp_path: Path) -> None:
    assert "apt-get install bubblewrap" in await _refused(str(tmp_path / "none"), tmp_path)


async def test_a_bubblewrap_that_fails_to_set_up_is_quoted(tmp_path: Path) -> None:
    message = "bwrap: No permissions to create a new namespace"
    source = f'[ "$1" = --version ] && echo bubblewrap 1 && exit 0\necho "{message}" >&2\nexit 1'
    hint = await _refused(_fake(tmp_path, source), tmp_path)
    assert "No permissions" in hint
    assert "max_user_namespaces" in hint


@pytest.mark.parametrize(
    "step", ["prowess.execution.cgroup._own_groups", "prowess.execution.backends.bubblewrap.set_bounds"]
)
async def test_a_step_that_the_system_refuses_ends_in_one_clear_error(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(1, "Operation not permitted", "/proc/thread-self/cgroup")

    if step.endswith("_own_groups") and not _HAS_GROUPS_V1:
        pytest.skip("control groups of version 1 alone ask for it")
    monkeypatch.setattr(step, refuse)
    with pytest.raises(SandboxUnavailableError, match=r"refused a step of its set-up.*Operation not permitted"):
        await bench.sh("echo ran > /out/ran")
    assert not bench.out.exists()


async def test_a_script_that_speaks_as_bubblewrap_is_not_believed(bench: Bench) -> None:
    token = f"token-{os.urandom(8).hex()}"

    def kill_the_monitor() -> None:
        assert within(5, (bench.workspace / "ready").exists)
        monitor = min(int(pid) for pid in processes_with(token))
        os.kill(monitor, signal.SIGKILL)

    threading.Thread(target=kill_the_monitor).start()
    source = "echo 'bwrap: No permissions to create a new namespace' >&2; touch ready; sleep 5"
    result = await bench.sh(source, token, workspace=True, write=True)
    assert result.exit_code == 137
    assert result.stderr.startswith(b"bwrap: No permissions")


async def test_a_bubblewrap_that_does_not_answer_is_named(tmp_path: Path) -> None:
    assert "does not answer" in await _refused(_fake(tmp_path, "exit 3"), tmp_path)


async def test_a_bubblewrap_that_ends_silently_is_named(tmp_path: Path) -> None:
    source = '[ "$1" = --version ] && echo bubblewrap 1\nexit 0'
    assert "ended with status 0 before its set-up" in await _refused(_fake(tmp_path, source), tmp_path)


async def test_a_program_that_cannot_be_executed_is_named(tmp_path: Path) -> None:
    program = tmp_path / "bwrap"
    program.write_text("no program")
    program.chmod(0o755)
    assert "does not answer" in await _refused(str(program), tmp_path)


async def test_a_script_cannot_pretend_that_the_sandbox_failed(tmp_path: Path) -> None:
    sandbox = BubblewrapSandbox()
    if not sandbox.probe().available:
        pytest.skip(sandbox.probe().hint)
    (tmp_path / "run.sh").write_text("echo 'bwrap: execvp: no' >&2; exit 1")
    result = await sandbox.run(ExecRequest(skill_dir=str(tmp_path), script="run.sh"))
    assert (result.exit_code, result.stderr) == (1, b"bwrap: execvp: no\n")


async def test_a_command_that_is_not_there_is_no_status_of_a_script(tmp_path: Path) -> None:
    sandbox = BubblewrapSandbox()
    if not sandbox.probe().available:
        pytest.skip(sandbox.probe().hint)
    request, written = _skill(tmp_path), list[bytes]()
    with pytest.raises(ScriptUnsupportedError, match="/usr/bin/no-such-interpreter is not in the sandbox"):
        await sandbox.run(
            ExecRequest(
                skill_dir=request.skill_dir,
                script=request.script,
                interpreter=("/usr/bin/no-such-interpreter",),
                on_output=lambda _, data: written.append(data),
            )
        )
    assert written == []  # the line of the start gate is none of the script's output


def test_bubblewrap_is_never_taken_from_the_working_directory_or_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fake(tmp_path, "exit 0")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InvalidArgumentsError, match="absolute"):
        BubblewrapSandbox(program="bwrap")
    assert all(os.path.isabs(path) for path in bubblewrap.PROGRAMS)
    report = BubblewrapSandbox().probe()
    assert report.program in {None, *bubblewrap.PROGRAMS}


def test_another_system_is_told_what_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    report = BubblewrapSandbox().probe()
    assert not report.available
    assert "Linux" in report.hint


def test_the_default_sandbox_is_one_for_the_process() -> None:
    assert default_sandbox() is default_sandbox()


def test_an_old_bubblewrap_is_recognised() -> None:
    assert "0.8 or later" in hint_from(b"bwrap: Unknown option --disable-userns")
    assert hint_from(b"") == "it ended without a message"


def test_a_masked_proc_is_not_blamed_on_namespaces() -> None:
    hint = hint_from(b"bwrap: Can't mount proc on /newroot/proc: Operation not permitted")
    assert "/proc are masked" in hint
    assert "systempaths=unconfined" in hint
    assert "namespaces" not in hint


_VERSION = '[ "$1" = --version ] && echo bubblewrap 1 && exit 0\n'


async def test_a_bubblewrap_that_is_gone_is_named(tmp_path: Path) -> None:
    program = _fake(tmp_path, _VERSION)
    sandbox = BubblewrapSandbox(program=program)
    with pytest.raises(SandboxUnavailableError):
        await sandbox.run(_skill(tmp_path))
    os.unlink(program)  # after it has told its version
    with pytest.raises(SandboxUnavailableError, match="cannot be started"):
        await sandbox.run(_skill(tmp_path))


async def test_a_set_up_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap_start, "_SETUP_SECONDS", 0.2)
    silent = _fake(tmp_path, f"{_VERSION}exec sleep 20")
    assert "not ready within 0.2 s" in await _refused(silent, tmp_path)


# A stand-in reads the options as bubblewrap does and reports a process, here itself, on the status descriptor.
_REPORTS = """fd=$(tr '\\0' '\\n' < /proc/self/fd/$2 | grep -A1 -x -e --json-status-fd | tail -1)
echo "{ \\"child-pid\\": $$ }" > /proc/self/fd/$fd
"""


async def test_a_sandbox_that_never_gets_its_own_root_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap_start, "_SETUP_SECONDS", 0.3)
    stuck = _fake(tmp_path, f"{_VERSION}{_REPORTS}exec sleep 20")
    assert "not ready within 0.3 s" in await _refused(stuck, tmp_path)


@pytest.mark.parametrize("keeps", [True, False], ids=["out is kept", "out is dropped"])
async def test_a_sandbox_that_ends_during_its_set_up_is_named(tmp_path: Path, *, keeps: bool) -> None:
    brief = _fake(tmp_path, f"{_VERSION}{_REPORTS}sleep 0.1; exit 5")
    hint = await _refused(brief, tmp_path, keeps=keeps)
    assert "ended with status 5 during its set-up" in hint


async def test_a_probe_that_hangs_is_no_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox = BubblewrapSandbox()
    if not sandbox.probe().available:
        pytest.skip(sandbox.probe().hint)
    monkeypatch.setattr(bubblewrap, "_PROBE_COMMAND", ("/usr/bin/sleep", "20"))
    monkeypatch.setattr(bubblewrap, "_PROBE_SECONDS", 0.2)
    report = BubblewrapSandbox().probe()
    assert not report.available
    assert "did not end" in report.hint


async def test_a_probe_that_cannot_start_a_program_is_no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    if not BubblewrapSandbox().probe().available:
        pytest.skip("no bubblewrap here")
    monkeypatch.setattr(bubblewrap, "_PROBE_COMMAND", ("/usr/bin/no-such-program",))
    assert "/usr/bin/no-such-program is not in the sandbox" in BubblewrapSandbox().probe().hint


_ELSEWHERE = """
import subprocess
import sys
sys.modules["resource"] = sys.modules["fcntl"] = None
from prowess.execution import default_sandbox, stage, usable_workspace
sys.platform = "win32"
report = default_sandbox().probe()
assert not report.available and "Linux" in report.hint, report
"""


def test_the_room_can_be_imported_where_there_are_no_resource_limits() -> None:
    subprocess.run([sys.executable, "-c", _ELSEWHERE], check=True)
