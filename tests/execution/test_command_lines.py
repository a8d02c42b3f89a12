"""A command line in the sandbox: run by bash, without a skill, within the same walls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.errors import InvalidArgumentsError, ScriptUnsupportedError
from prowess.execution import ExecLimits, ExecRequest
from prowess.execution.interpreters import command_interpreter

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.execution.backends.bubblewrap import BubblewrapSandbox

pytestmark = pytest.mark.anyio

LIMITS = ExecLimits(wall_seconds=10)


async def test_a_command_line_is_run_by_bash_without_a_skill(sandbox: BubblewrapSandbox) -> None:
    command = 'ls /skill; echo "${SKILL_DIR-none} $0 $1 $PWD" | tr a-z A-Z; [[ x == x ]] && exit 3'
    result = await sandbox.run(ExecRequest(command=command, args=("me", "you"), limits=LIMITS))
    assert (result.exit_code, result.stdout) == (3, b"NONE ME YOU /TMP/WORK\n")
    assert b"/skill" in result.stderr
    assert result.guarantees.network == "none"
    assert result.guarantees.filesystem == "no workspace, system read-only, nothing else"


@pytest.mark.parametrize("write", [False, True])
async def test_a_command_line_works_on_the_workspace_and_writes_only_where_it_may(
    sandbox: BubblewrapSandbox, tmp_path: Path, *, write: bool
) -> None:
    (tmp_path / "a.txt").write_text("old")
    request = ExecRequest(command="cat a.txt; echo new > a.txt", workspace=str(tmp_path), write=write, limits=LIMITS)
    result = await sandbox.run(request)
    assert (result.stdout, result.exit_code == 0) == (b"old", write)
    assert (tmp_path / "a.txt").read_text() == ("new\n" if write else "old")


async def test_a_command_line_ends_at_its_time_limit(sandbox: BubblewrapSandbox) -> None:
    result = await sandbox.run(ExecRequest(command="echo on; sleep 20", limits=ExecLimits(wall_seconds=0.2)))
    assert (result.timed_out, result.stdout) == (True, b"on\n")


@pytest.mark.parametrize(
    ("request_", "problem"),
    [
        (ExecRequest(command="true", script="a.sh"), "either a command or a script of a skill"),
        (ExecRequest(command="a\0b"), "command holds a NUL character"),
        (ExecRequest(command="#" * 140_000), "command is longer than 131000 bytes"),
    ],
)
async def test_a_command_that_cannot_be_is_refused(
    sandbox: BubblewrapSandbox, request_: ExecRequest, problem: str
) -> None:
    with pytest.raises(InvalidArgumentsError, match=problem):
        await sandbox.run(request_)


def test_without_bash_there_is_no_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    assert command_interpreter().command[0].endswith("/bash")
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(ScriptUnsupportedError, match="'a command line' cannot be run"):
        command_interpreter()
