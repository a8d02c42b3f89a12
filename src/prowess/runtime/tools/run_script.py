"""`skills.run_script`: run a script of a loaded skill in the sandbox (runtime protocol 002, script execution).

The script runs from a staged copy; every file in it has the hash that was recorded when the skill was loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import anyio
from anyio import to_thread
from msgspec.structs import asdict

from prowess import execution  # as a module: `execution.stage` is imported on first use
from prowess._internal.files.contained import check_relative
from prowess._internal.places import cache_home
from prowess.errors import ScriptUnsupportedError
from prowess.execution import ExecLimits, ExecRequest
from prowess.runtime.activation import load_result
from prowess.runtime.activation.load_result import Notice
from prowess.runtime.disclosure import model_texts
from prowess.runtime.events.event import ScriptFinished, ScriptOutput, ScriptStarted
from prowess.runtime.files.skill_files import read_verified
from prowess.runtime.script_output import EVENT_PAUSE, OutputRelay, callback_relay, run_followed
from prowess.runtime.tools.run_result import RunArtifact, RunResult
from prowess.tools import ToolSpec, require_executor
from prowess.tools.spec import object_schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prowess._internal.files.tree_digest import TreeManifest
    from prowess.execution import ExecResult
    from prowess.runtime.activation.active_skills import ActiveSkills
    from prowess.runtime.events.delivery import SessionRecords
    from prowess.runtime.script_output import OutputChunk
    from prowess.runtime.scripts import Artifacts, SkillPrograms
    from prowess.runtime.state import ActiveSkill
    from prowess.tools import ToolCall

DEFAULT_TIMEOUT = 30.0  # seconds
MAX_TIMEOUT = 600
MAX_ARGUMENTS = 256

_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_FLAG = {"type": "boolean"}

SPEC = ToolSpec(
    name="skills.run_script",
    title="Run a script of a skill",
    description=model_texts.RUN_SCRIPT,
    input_schema=object_schema(
        "path",
        skill={"type": "string", "description": "A loaded skill; by default the last loaded."},
        path={"type": "string", "description": "Relative to the skill's directory, below scripts/."},
        args={
            "type": "array",
            "items": _TEXT,
            "maxItems": MAX_ARGUMENTS,
            "description": "Arguments, passed unchanged, without a shell.",
        },
        env={
            "type": "object",
            "additionalProperties": _TEXT,
            "description": "Environment variables for this run only.",
        },
        workdir={"type": "string", "default": ".", "description": "Working directory, relative to the workspace."},
        stdin={"type": "string", "description": "Text for standard input; empty by default."},
        timeout={
            "type": "number",
            "minimum": 0.1,
            "maximum": MAX_TIMEOUT,
            "description": "Time limit in seconds; 30 by default.",
        },
    ),
    output_schema=object_schema(
        "path exit_code stdout stderr timed_out duration_ms stdout_truncated stderr_truncated stdout_bytes stderr_bytes"
        " artifacts guarantees",
        path=_TEXT,
        exit_code={"type": "integer"},
        stdout=_TEXT,
        stderr=_TEXT,
        timed_out=_FLAG,
        duration_ms=_COUNT,
        stdout_truncated=_FLAG,
        stderr_truncated=_FLAG,
        stdout_bytes=_COUNT,
        stderr_bytes=_COUNT,
        artifacts={
            "type": "array",
            "items": object_schema(
                "name size digest media_type path",
                name=_TEXT,
                size=_COUNT,
                digest=_TEXT,
                media_type=_TEXT,
                path={"type": ["string", "null"]},
            ),
        },
        guarantees={"type": "object"},
        notices=load_result.NOTICES_SCHEMA,
    ),
    destructive=True,
)


class RunScriptTool:
    """Verifies, stages and runs a script. A nonzero exit status is a result."""

    spec = SPEC

    def __init__(
        self,
        active: ActiveSkills,
        artifacts: Artifacts,
        programs: SkillPrograms,
        records: SessionRecords,
        *,
        expose_location: bool,
    ) -> None:
        self._active, self._artifacts, self._programs = active, artifacts, programs
        self._records, self._expose_location = records, expose_location

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Return the `RunResult` as JSON.

        Raises:
            ScriptUnsupportedError: outside scripts/, no interpreter, or scripts are switched off.
            PolicyDeniedError: the policy allows scripts from other directories only.
            SandboxUnavailableError: the sandbox could not start; the script was not run.
            InvalidArgumentsError: `env`, `args` or `workdir` is invalid.
            SkillError: the path is refused, as in `skills.read`.
        """
        require_executor(self, call)
        programs, events, path = self._programs, self._records.events, cast("str", arguments["path"])
        parts = check_relative(path)
        workdir = "/".join(check_relative(cast("str", arguments["workdir"]), "the workspace")) or "."
        skill = await self._active.choose(cast("str | None", arguments.get("skill")))
        if programs.sandbox is None:
            raise ScriptUnsupportedError(path, "scripts are switched off in this session")
        programs.rules.require_runnable(path, parts)
        environment = programs.rules.environment(cast("Mapping[str, str]", arguments.get("env", {})))
        skill, staged, notices = await self._active.with_files(skill, _verified_copy, path)
        out_dir = await to_thread.run_sync(self._artifacts.new_run)
        stdin = cast("str | None", arguments.get("stdin"))
        request = ExecRequest(
            skill_dir=staged,
            script="/".join(parts),
            args=tuple(cast("list[str]", arguments.get("args", []))),
            env=environment,
            workdir=workdir,
            stdin=None if stdin is None else stdin.encode("utf-8", "replace"),
            workspace=programs.workspace,
            write=programs.write,
            out_dir=out_dir,
            limits=ExecLimits(wall_seconds=float(cast("float", arguments.get("timeout", DEFAULT_TIMEOUT)))),
            session_id=programs.session_id,
            skill_imports=programs.rules.imports_from_root,
        )
        await events.tell(ScriptStarted, call.id, skill, path=request.script)
        try:
            done = await run_followed(programs.sandbox, request, self._relays(request.script, call.id, skill))
        except BaseException:
            with anyio.CancelScope(shield=True):
                await events.tell(ScriptFinished, call.id, skill, path=request.script)
            raise
        await events.tell(
            ScriptFinished,
            call.id,
            skill,
            path=request.script,
            exit_code=done.exit_code,
            timed_out=done.timed_out,
            duration_ms=done.duration_ms,
        )
        # The record `tool.started` announced the run; this one records which script ran.
        run = await self._records.of_run(programs, [request.script, *request.args], done, environment)
        data = {"skill": skill.name, "path": request.script, "content_digest": skill.content_digest, **run}
        await self._records.record("script.finished", call.id, data)
        return _result(request.script, done, notices, expose_path=self._expose_location).as_dict()

    def _relays(self, script: str, call_id: str, skill: ActiveSkill) -> tuple[OutputRelay, ...]:
        """Return a relay for each consumer of the output: the callback of the call, and event listeners."""
        events = self._records.events

        async def tell(chunk: OutputChunk) -> None:
            await events.tell(ScriptOutput, call_id, skill, path=script, stream=chunk.stream, text=chunk.text)

        told = OutputRelay(tell, pause=EVENT_PAUSE) if events.wanted else None
        return tuple(relay for relay in (callback_relay(), told) if relay is not None)


def _verified_copy(skill: ActiveSkill, manifest: TreeManifest, path: str) -> str:
    # Also if the staged copy exists already: a script that was edited since is refused; its old copy must not run.
    read_verified(skill, manifest, path)
    return execution.stage(skill.root_dir, manifest, cache_home())


def _result(script: str, done: ExecResult, notices: Sequence[Notice], *, expose_path: bool) -> RunResult:
    remarks = [*notices, *(Notice(code=notice.code, message=notice.message) for notice in done.notices)]
    artifacts = [
        RunArtifact(**{**asdict(artifact), "path": artifact.path if expose_path else None})
        for artifact in done.artifacts
    ]
    return RunResult(
        path=script,
        exit_code=done.exit_code,
        stdout=done.stdout.decode("utf-8", "replace"),
        stderr=done.stderr.decode("utf-8", "replace"),
        timed_out=done.timed_out,
        duration_ms=done.duration_ms,
        stdout_truncated=done.stdout_truncated,
        stderr_truncated=done.stderr_truncated,
        stdout_bytes=done.stdout_bytes,
        stderr_bytes=done.stderr_bytes,
        artifacts=tuple(artifacts),
        guarantees=done.guarantees.as_dict(),
        notices=tuple(remarks),
    )
