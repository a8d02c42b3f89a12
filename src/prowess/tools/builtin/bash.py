"""Bash: run a command line in the sandbox, with the workspace as the working directory."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from prowess.errors import ExecTimeoutError, InvalidArgumentsError
from prowess.execution import ExecLimits, ExecRequest
from prowess.execution.environment import PLUGIN_DATA
from prowess.tools.builtin.workspace import WorkspaceTool
from prowess.tools.running_call import require_executor
from prowess.tools.spec import ToolSpec, object_schema

if TYPE_CHECKING:
    from prowess.execution import ExecResult, Sandbox
    from prowess.tools.builtin.workspace import Workspace
    from prowess.tools.spec import ToolCall

DEFAULT_MS = 120_000
MAX_MS = 600_000
MAX_CHARACTERS = 30_000  # of each stream
_TAIL = 2000  # characters of the output that an error quotes

_MILLISECONDS = {"type": "integer", "minimum": 100, "maximum": MAX_MS}

SPEC = ToolSpec(
    name="Bash",
    title="Run a command",
    description=(
        "Run a command line with bash in a sandbox without network. The working directory is the workspace; /tmp is "
        "private. Each call starts a new shell, so cd and variables do not persist. A non-zero exit status is a "
        "result, not an error: check return_code and stderr."
    ),
    input_schema=object_schema(
        "command",
        command={"type": "string", "minLength": 1, "description": "The command line."},
        timeout={**_MILLISECONDS, "description": "Time limit in milliseconds; 120000 by default."},
        timeout_ms={**_MILLISECONDS, "description": "Same as timeout."},
        description={"type": "string", "description": "What the command does, in a few words."},
    ),
    destructive=True,
    aliases=("bash_exec",),
)


class Bash(WorkspaceTool):
    """Passes the command line unchanged to the sandbox. The workspace is read-only unless writing is enabled."""

    spec = SPEC

    def __init__(self, workspace: Workspace, sandbox: Sandbox, *, session_id: str = "") -> None:
        super().__init__(workspace)
        self._sandbox, self._session_id = sandbox, session_id

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Return both output streams and the exit status.

        Raises:
            ExecTimeoutError: the time limit was exceeded; the message contains the end of the output.
            SandboxUnavailableError, ScriptUnsupportedError: no command was run.
            InvalidArgumentsError: both `timeout` and `timeout_ms` are given, or the command cannot be passed on.
        """
        require_executor(self, call)
        if "timeout" in arguments and "timeout_ms" in arguments:
            raise InvalidArgumentsError(("give timeout or timeout_ms, not both: they are the same",))
        milliseconds = cast("int", arguments.get("timeout", arguments.get("timeout_ms", DEFAULT_MS)))
        request = ExecRequest(
            env=PLUGIN_DATA,
            command=cast("str", arguments["command"]),
            args=("bash",),
            workspace=self._workspace.root,
            write=self._workspace.write,
            limits=ExecLimits(wall_seconds=milliseconds / 1000),
            session_id=self._session_id,
        )
        done = await self._sandbox.run(request)
        if done.timed_out:
            raise ExecTimeoutError(milliseconds / 1000, "the command", _so_far(done))
        return _result(done)


def _result(done: ExecResult) -> dict[str, object]:
    stdout, stderr = _text(done.stdout), _text(done.stderr)
    result: dict[str, object] = {
        "stdout": _shortened(stdout),
        "stderr": _shortened(stderr),
        "return_code": done.exit_code,
        "exit_code": done.exit_code,
        "duration_ms": done.duration_ms,
        "stdout_truncated": done.stdout_truncated or len(stdout) > MAX_CHARACTERS,
        "stderr_truncated": done.stderr_truncated or len(stderr) > MAX_CHARACTERS,
        "stdout_bytes": done.stdout_bytes,
        "stderr_bytes": done.stderr_bytes,
    }
    if done.notices:
        result["notices"] = [{"code": notice.code, "message": notice.message} for notice in done.notices]
    return result


def _so_far(done: ExecResult) -> str:
    parts = [
        f" {name} so far: {text[-_TAIL:]}"
        for name, text in (("stdout", _text(done.stdout).strip()), ("stderr", _text(done.stderr).strip()))
        if text
    ]
    return "".join([".", *parts]) if parts else " and had printed nothing; give a longer timeout if it needs one"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _shortened(text: str) -> str:
    """Keep the beginning and the end, because either may show the cause of a failure."""
    if len(text) <= MAX_CHARACTERS:
        return text
    half = MAX_CHARACTERS // 2
    return f"{text[:half]}\n... {len(text) - 2 * half} characters left out ...\n{text[-half:]}"
