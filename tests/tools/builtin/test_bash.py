"""Bash: a command line in the sandbox, on the workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.execution import ExecNotice, ExecResult, Guarantees
from prowess.execution.backends.bubblewrap import BubblewrapSandbox
from prowess.tools.builtin import bash
from tests.tools.builtin.desk import Desk

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.execution import ExecRequest, SandboxReport

pytestmark = pytest.mark.anyio

_SANDBOX = BubblewrapSandbox()


@pytest.fixture
def shell(desk: Desk) -> Desk:
    report = _SANDBOX.probe()
    if not report.available:
        pytest.skip(report.hint)
    return Desk(desk.root, sandbox=_SANDBOX)


@pytest.mark.proves("runtime.builtin.bash")
async def test_a_command_gives_both_streams_and_its_status(shell: Desk) -> None:
    shell.put("a.txt", "text\n")
    for name in ("Bash", "bash_exec"):
        result = await shell.good(
            name, command="cat a.txt; echo oops >&2; exit 3", timeout_ms=10_000, description="try"
        )
        assert (result["stdout"], result["stderr"]) == ("text\n", "oops\n")
        assert (result["return_code"], result["exit_code"]) == (3, 3)
        assert (result["stdout_truncated"], result["stderr_truncated"]) == (False, False)


@pytest.mark.proves("runtime.builtin.confined")
async def test_a_command_sees_the_workspace_and_nothing_else_of_this_machine(shell: Desk) -> None:
    (shell.root.parent / "secret.txt").write_text("secret")
    (shell.root / "link").symlink_to(shell.root.parent / "secret.txt")
    result = await shell.good("Bash", command=f"cat link; cat {shell.root.parent}/secret.txt; pwd")
    assert "secret\n" not in str(result["stdout"])
    assert result["stdout"] == "/workspace\n"


@pytest.mark.parametrize("write", [True, False])
async def test_a_command_writes_where_the_session_may(shell: Desk, *, write: bool) -> None:
    own = Desk(shell.root, write=write, sandbox=_SANDBOX)
    result = await own.good("Bash", command="echo new > made.txt")
    assert (result["return_code"] == 0, (shell.root / "made.txt").exists()) == (write, write)


@pytest.mark.proves("runtime.toolargs.errors")
async def test_a_command_that_is_out_of_time_fails_with_what_it_printed(shell: Desk) -> None:
    code, sentence = await shell.bad("Bash", command="echo begun; sleep 20", timeout=1500)
    assert code == "timeout"
    assert sentence == "Timeout exceeded: the command was ended after 1.5 s. stdout so far: begun"
    _, sentence = await shell.bad("Bash", command="sleep 20", timeout_ms=150)
    assert sentence.endswith("had printed nothing; give a longer timeout if it needs one")


class Scripted:
    """A sandbox that answers as it is told, for answers that no real run gives quickly."""

    def __init__(self, answer: ExecResult) -> None:
        self.answer = answer
        self.requests: list[ExecRequest] = []

    async def run(self, request: ExecRequest) -> ExecResult:
        self.requests.append(request)
        return self.answer

    def probe(self) -> SandboxReport:
        raise NotImplementedError


GUARANTEES = Guarantees(
    backend="none", version="0", tier=0, network="none", filesystem="none", enforced=(), not_enforced=()
)


async def test_a_long_stream_keeps_its_beginning_and_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bash, "MAX_CHARACTERS", 10)
    sandbox = Scripted(
        ExecResult(
            exit_code=0,
            stdout=b"start" + b"." * 90 + b"ending",
            stderr=b"short",
            stdout_bytes=101,
            stderr_bytes=9000,
            timed_out=False,
            duration_ms=1,
            notices=(ExecNotice(code="process_left", message="one is left"),),
            guarantees=GUARANTEES,
        )
    )
    result = await Desk(tmp_path, sandbox=sandbox).good("Bash", command="x")
    assert result["stdout"] == "start\n... 91 characters left out ...\nnding"
    assert (result["stdout_truncated"], result["stderr_truncated"]) == (True, True)
    assert result["notices"] == [{"code": "process_left", "message": "one is left"}]
    [request] = sandbox.requests
    assert (request.command, request.workspace, request.write) == ("x", str(tmp_path), True)
    assert request.limits.wall_seconds == 120


async def test_one_time_limit_has_one_name(tmp_path: Path) -> None:
    code, sentence = await Desk(tmp_path).bad("Bash", command="x", timeout=1000, timeout_ms=1000)
    assert (code, sentence) == ("invalid_arguments", "give timeout or timeout_ms, not both: they are the same")
