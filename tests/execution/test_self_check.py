"""The check of the sandbox can fail: without walls it says what got out, and without bounds what was not enforced."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from prowess.errors import ExecutionError
from prowess.execution import self_check
from prowess.execution.guarantees import guarantees_of
from prowess.execution.request import ExecRequest
from prowess.execution.result import ExecResult
from prowess.execution.sandbox import SandboxReport
from prowess.execution.self_check import check_sandbox
from tests.execution.bench import within

if TYPE_CHECKING:
    from prowess.execution.request import ExecLimits

pytestmark = pytest.mark.anyio

# Those that leave no mark on this machine where they succeed.
HARMLESS = (
    "read_secret write_outside environment descriptors read_process signal_process tcp udp abstract_socket path_socket "
    "trace device_modes set_id_files asynchronous_queues locks_on_host_files"
)
ESCAPED = {name.replace("_", "-") for name in HARMLESS.split()}


class NoSandbox:
    """Runs scripts on the host, without any wall. It says of every bound that it holds, and none does."""

    def __init__(self, *, honest: bool = False, garbled: bool = False) -> None:
        self._honest, self._garbled = honest, garbled

    def probe(self) -> SandboxReport:
        return SandboxReport(available=True, backend="none", tier=0, version="0", program=None, hint="")

    async def run(self, request: ExecRequest) -> ExecResult:
        if request.interpreter is not None:
            return self._result(b"", request.limits)
        if request.script == "limits.py":
            return self._result(b"99999999", request.limits)
        return self._escape(request)

    def _escape(self, request: ExecRequest) -> ExecResult:
        with open(os.path.join(request.skill_dir, request.script), encoding="utf-8") as file:
            source = file.read()
        chosen = f"{{name: made for name, made in {{**ATTEMPTS, **CALLS}}.items() if name in {ESCAPED!r}}}"
        source = source.replace("\n\nmain()\n", f"\n\nATTEMPTS, CALLS = {chosen}, {{}}\nmain()\n")
        reader, writer = os.pipe()
        command = ["/usr/bin/python3", "-c", source, *request.args]
        env = {"PATH": "/usr/bin", "CANARY": "1"}
        done = subprocess.run(command, capture_output=True, check=False, env=env, pass_fds=[reader])
        for fd in (reader, writer):
            os.close(fd)
        return self._result(b"Killed" if self._garbled else done.stdout, request.limits)

    def _result(self, stdout: bytes, limits: ExecLimits) -> ExecResult:
        lifted = structs.replace(limits, memory_bytes=None, processes=None)
        held = () if self._honest else ("cpu_time", "file_size", "open_files", "processes", "memory")
        return ExecResult(
            exit_code=0,
            stdout=stdout,
            stderr=b"",
            stdout_bytes=len(stdout),
            stderr_bytes=0,
            timed_out=False,
            duration_ms=1,
            guarantees=guarantees_of(ExecRequest(limits=lifted), backend="none", version="0", held=held),
        )


@pytest.fixture(autouse=True)
def needs_python() -> None:
    if not os.access("/usr/bin/python3", os.X_OK):
        pytest.skip("the probe needs /usr/bin/python3")


async def test_without_walls_every_attempt_gets_out_and_is_named() -> None:
    found = await check_sandbox(NoSandbox())
    assert {finding.name for finding in found.escapes} == ESCAPED
    assert [finding.name for finding in found.escapes if finding.held] == []
    assert all(finding.detail for finding in found.escapes)
    assert not found.passed


async def test_what_only_the_host_can_see_counts() -> None:
    found = {finding.name: finding for finding in (await check_sandbox(NoSandbox())).escapes}
    assert found["udp"].detail == "a datagram arrived on the host"


async def test_a_bound_that_is_claimed_and_does_not_hold_fails() -> None:
    found = {finding.name: finding for finding in (await check_sandbox(NoSandbox())).limits}
    assert [name for name, finding in found.items() if finding.held] == []
    assert "status 0 after 1 ms, 8 bytes: 99999999" in found["open_files"].detail


async def test_a_bound_that_is_not_claimed_is_no_failure_but_is_said() -> None:
    found = {finding.name: finding for finding in (await check_sandbox(NoSandbox(honest=True))).limits}
    assert found["memory"].held is None
    assert found["memory"].detail == "no limit was requested"


async def test_a_process_that_is_left_alive_fails_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_check, "_alive", lambda token: True)
    found = (await check_sandbox(NoSandbox())).limits
    assert {finding.detail for finding in found} == {"a process of the run was left alive"}


async def test_a_probe_that_does_not_finish_is_an_error_not_a_pass() -> None:
    with pytest.raises(ExecutionError, match="did not finish"):
        await check_sandbox(NoSandbox(garbled=True))


def test_a_process_is_found_by_its_token() -> None:
    with subprocess.Popen(["/bin/sh", "-c", "read line", "token-of-this-test"], stdin=subprocess.PIPE):
        # The kernel tells of the start a moment before the command line can be read.
        assert within(2, lambda: self_check._alive("token-of-this-test"))
