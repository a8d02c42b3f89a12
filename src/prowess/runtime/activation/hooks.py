"""Hooks of skills: run in the sandbox, in the order written, and never passed over in silence.

`pre` runs before a skill's instructions take effect and `post` when it has finished: unloaded, replaced, at the end of
its fork or of the session, whichever comes first. An expired session ends when the next call finds it so. A skill that
the catalog no longer lists is taken out without its hooks: nothing vouches for it any more, and somebody may have
removed it to stop it; that its `post` did not run is recorded and reported. `PreToolUse`, `PostToolUse` and
`PostToolUseFailure` stand around a call of a tool while the skill is active; the other events happen when the host says
so. A hook that exits with another status than 0, or runs out of time, has failed. A failed hook stops its own event:
the activation, or the call. What comes too late to stop is recorded and reported. A `once` hook that has passed is not
run again in this session; one that failed is a guard that still stands.

A hook receives a JSON object on standard input: `event`, `skill`, `session_id`, and what the event is about.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Literal, cast

import anyio
from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.uuid7 import uuid7
from prowess.errors import SkillError, SkillNotFoundError
from prowess.format.fields.extended_fields import extended_fields
from prowess.runtime.activation import load_result
from prowess.runtime.scripts import file_of
from prowess.runtime.state import SessionState, Transition
from prowess.tools import Proceed, Refuse, require_executor, wire_name
from prowess.tools.gates import PROCEED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prowess._internal.files.tree_digest import TreeManifest
    from prowess.execution import ExecResult
    from prowess.format.fields.hooks import Hook
    from prowess.runtime.activation.snapshots import Snapshot, Snapshots
    from prowess.runtime.events.delivery import SessionRecords
    from prowess.runtime.scripts import SkillPrograms
    from prowess.runtime.session_state import StoredState
    from prowess.runtime.state import ActiveSkill
    from prowess.tools import Tool, ToolCall, ToolSpec

DEFAULT_SECONDS = 30.0
MAX_SHOWN_OUTPUT = 2000  # characters of a failed hook's output in its error

HostEvent = Literal[
    "Stop", "SessionStart", "SessionEnd", "UserPromptSubmit", "PreCompact", "PermissionRequest", "Notification"
]
ALWAYS_CALLABLE = "skills.unload"  # so that a skill whose hooks refuse everything can be got rid of


class HookFailedError(SkillError):
    """A hook refused, or could not be run; `reason` says which, `output` is what it printed, shortened."""

    code = "hook_failed"
    skill: str
    event: str
    hook: str
    reason: str
    output: str = ""

    def __str__(self) -> str:
        said = f": {self.output}" if self.output else ""
        return f"the {self.event} hook {self.hook!r} of skill {self.skill!r} {self.reason}{said}"


class HookFailure(Struct, frozen=True, kw_only=True):
    """A hook that failed where nothing was left to stop."""

    skill: str
    event: str
    message: str


def _obstacle(hook: Hook, manifest: TreeManifest, programs: SkillPrograms) -> str | None:
    if programs.sandbox is None:
        return "cannot be run: scripts are switched off in this session"
    if hook.argv is None:
        return "needs a shell, and hooks are run without one; name a script of the skill instead"
    if (hook.script is not None or hook.argv[0].startswith("./")) and file_of(manifest, hook.argv[0]) is None:
        return "names a file that the skill does not contain"
    # Each word, because `python3 hooks/check.py` runs that file as well.
    for path in filter(None, (file_of(manifest, word) for word in hook.argv)):
        programs.rules.require_hook(path, path.split("/"))
    return None


class HookRunner:
    """Runs the hooks of one session's skills."""

    def __init__(
        self, stored: StoredState, snapshots: Snapshots, programs: SkillPrograms, records: SessionRecords
    ) -> None:
        self._stored, self._snapshots, self._programs, self._records = stored, snapshots, programs, records
        self._once = anyio.Lock()  # so that two calls at the same time do not both run a hook that runs once

    def require_runnable(self, snapshot: Snapshot) -> None:
        """Refuse a skill that declares a hook which could not be run when its time comes.

        A setting that cannot be read (`once`, `matcher`, `timeout`) refuses nothing: the hook then runs more often.

        Raises:
            HookFailedError: a hook cannot be read, a file is missing, a shell would be needed, or scripts are off.
            PolicyDeniedError: a policy lets scripts run from other directories alone.
        """
        skill, fields = snapshot.skill, snapshot.fields
        if not fields.hooks.complete:
            said = [fault for fault in fields.faults if fault.path[0] == "hooks"]
            fault = next((fault for fault in said if fault.rule != "hooks.value"), said[0])
            raise HookFailedError(skill.name, "pre", "hooks", f"cannot be read: {fault.message}")
        for hook in fields.hooks.entries:
            if (reason := _obstacle(hook, snapshot.source.manifest, self._programs)) is not None:
                raise HookFailedError(skill.name, hook.event, _named(hook), reason)

    async def require(
        self,
        skill: ActiveSkill,
        event: str,
        call_id: str,
        about: Mapping[str, object],
        *,
        tools: Sequence[str] = (),
        over: SessionState | None = None,
    ) -> None:
        """Run the hooks of an event; `tools` are the spellings of the tool it is about, none where it is about none.

        `over` is the last state of a session that no longer is.

        Raises:
            HookFailedError: the first that failed; those after it are not run.
            AuditError, SandboxUnavailableError: it could not be recorded, or not be run.
        """
        for position, hook in enumerate(extended_fields(skill.properties).hooks.entries):
            if hook.event != event or (tools and not any(hook.matches(tool) for tool in tools)):
                continue
            if not hook.once:
                await self._run(skill, hook, call_id, about)
                continue
            mark = f"{skill.location}#{position}:{event}"
            if over is not None:
                if mark not in over.finished:
                    await self._run(skill, hook, call_id, about)
                continue
            async with self._once:
                if mark not in (await self._stored.current()).finished:
                    await self._run(skill, hook, call_id, about)
                    await self._stored.change(partial(_marked, mark))

    async def report(
        self,
        skills: Sequence[ActiveSkill],
        event: str,
        call_id: str,
        about: Mapping[str, object],
        *,
        tools: Sequence[str] = (),
        over: SessionState | None = None,
    ) -> list[HookFailure]:
        """Run the hooks of an event that can no longer be stopped, skill by skill; return what failed.

        Each failure is in the audit log as `hook.failed`.
        """
        failures: list[HookFailure] = []
        for skill in skills:
            try:
                await self.require(skill, event, call_id, about, tools=tools, over=over)
            except SkillError as error:
                failures.append(HookFailure(skill=skill.name, event=event, message=str(error)))
                data = {"skill": skill.name, "event": event, "code": error.code}
                await self._records.record_and_tell("hook.failed", call_id, skill, data)
        return failures

    async def over(self, state: SessionState) -> None:
        """Run what belongs to the end of a session that has expired, for the skills that are still listed."""
        listed = self._stored.is_listed
        await self.dropped([skill for skill in state.active if not listed(skill)])
        for event in ("SessionEnd", "post"):
            await self.report([skill for skill in state.active if listed(skill)], event, uuid7(), {}, over=state)

    async def dropped(self, skills: Sequence[ActiveSkill]) -> None:
        """Record that the `post` hooks of skills which the catalog no longer lists are not run."""
        for skill in skills:
            if "hooks" in skill.properties and extended_fields(skill.properties).hooks.post:
                data = {"skill": skill.name, "event": "post", "code": SkillNotFoundError.code}
                await self._records.record("hook.failed", uuid7(), data)

    async def _run(self, skill: ActiveSkill, hook: Hook, call_id: str, about: Mapping[str, object]) -> None:
        argv, name = hook.argv, _named(hook)
        manifest = await to_thread.run_sync(self._snapshots.manifest, skill)
        reason = _obstacle(hook, manifest, self._programs)
        if argv is None or reason is not None:
            raise HookFailedError(skill.name, hook.event, name, reason or "cannot be run")
        what = {"event": hook.event, "skill": skill.name, "session_id": self._programs.session_id}
        data: dict[str, object] = {"skill": skill.name, "event": hook.event, "hook": argv[0]}
        begun = {**data, "content_digest": skill.content_digest}
        await self._records.record_and_tell("hook.started", call_id, skill, begun)
        done = await self._programs.run(
            skill.root_dir,
            manifest,
            argv,
            stdin=json.dumps({**what, **about}, allow_nan=False).encode(),
            seconds=hook.timeout or DEFAULT_SECONDS,
        )
        await self._records.record_and_tell("hook.finished", call_id, skill, {**data, "exit_code": done.exit_code})
        if done.timed_out:
            raise HookFailedError(skill.name, hook.event, name, "did not end in time", _output(done))
        if done.exit_code != 0:
            raise HookFailedError(skill.name, hook.event, name, f"ended with status {done.exit_code}", _output(done))


class ToolHookGate:
    """A gate before every call: the `PreToolUse` hooks of active skills. The last one, so that it sees what is left."""

    def __init__(self, stored: StoredState, hooks: HookRunner) -> None:
        self._stored, self._hooks = stored, hooks

    async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed | Refuse:
        """Refuse a call that a hook refuses."""
        if spec.name == ALWAYS_CALLABLE:
            return PROCEED
        for skill in _hooked(await self._stored.current(), "PreToolUse"):
            try:
                about = {"tool": call.name, "arguments": dict(call.arguments)}
                await self._hooks.require(skill, "PreToolUse", call.id, about, tools=_spellings(spec))
            except HookFailedError as error:
                return Refuse(error=error, rule=f"hook:{error.event}", skill=skill.name)
        return PROCEED


class HookedTool:
    """A tool with the hooks that come after it; what they say reaches the result as a notice."""

    def __init__(self, tool: Tool, stored: StoredState, hooks: HookRunner) -> None:
        self.wrapped, self._stored, self._hooks = tool, stored, hooks

    @property
    def spec(self) -> ToolSpec:
        """The specification of the tool itself."""
        return self.wrapped.spec

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Run the tool, then the hooks; what they do cannot undo the call."""
        require_executor(self, call)
        try:
            result = await self.wrapped.run(arguments, call)
        except SkillError as error:
            await self._after("PostToolUseFailure", call, {"error": error.code})
            raise
        if not _hooked(self._stored.state, "PostToolUse"):
            return result
        failures = await self._after("PostToolUse", call, {})
        return _noted(result, failures, self.spec) if failures else result

    async def _after(self, event: str, call: ToolCall, outcome: Mapping[str, object]) -> list[HookFailure]:
        if self.spec.name == ALWAYS_CALLABLE:
            return []
        # The state as the tool has just seen it.
        skills = _hooked(self._stored.state, event)
        if not skills:
            return []
        about = {"tool": call.name, "arguments": dict(call.arguments), **outcome}
        return await self._hooks.report(skills, event, call.id, about, tools=_spellings(self.spec))


def _hooked(state: SessionState, event: str) -> tuple[ActiveSkill, ...]:
    """Return the active skills with hooks for an event."""
    found: tuple[ActiveSkill, ...] = ()
    for skill in state.active:  # asked twice in every call, and nearly always in vain: no generator is made for that
        if "hooks" in skill.properties and extended_fields(skill.properties).hooks.of(event):
            found = (*found, skill)
    return found


def _noted(result: Mapping[str, object], failures: Sequence[HookFailure], spec: ToolSpec) -> dict[str, object]:
    """Add the failures to the notices of a result, where its schema has notices."""
    schema = spec.output_schema
    if schema is not None and "notices" not in cast("Mapping[str, object]", schema.get("properties", {})):
        return dict(result)
    before = cast("Sequence[object]", result.get("notices", ()))
    return {
        **result,
        "notices": [
            *before,
            *(load_result.hook_failed(failure.skill, failure.message).as_dict() for failure in failures),
        ],
    }


def _spellings(spec: ToolSpec) -> tuple[str, ...]:
    return (spec.name, wire_name(spec.name), *spec.aliases)


def _marked(mark: str, state: SessionState) -> Transition:
    return Transition(state=replace(state, finished=(*state.finished, mark)))


def _named(hook: Hook) -> str:
    return hook.script or hook.command or ""


def _output(done: ExecResult) -> str:
    said = "\n".join(text for raw in (done.stdout, done.stderr) if (text := raw.decode("utf-8", "replace").strip()))
    return said if len(said) <= MAX_SHOWN_OUTPUT else f"…{said[-MAX_SHOWN_OUTPUT:]}"
