"""Runs the hooks of a session's skills in the sandbox, in the written order. No hook is skipped silently.

Events:

- `pre` runs before a skill's instructions take effect.
- `post` runs when the skill ends: it is unloaded or replaced, or its fork or the session ends, whichever comes first.
  An expired session ends at the next call, which notices the expiry. If the catalog no longer lists a skill, its `post`
  hooks do not run, because a person may have removed the skill to stop it. This is recorded and reported.
- `PreToolUse`, `PostToolUse` and `PostToolUseFailure` run around each tool call while the skill is active
  (`prowess.runtime.hooks.tool_hooks`).
- All other events happen when the host reports them.

A hook that exits with status 0 decides by its output (`prowess.runtime.hooks.answer`). Status 2 refuses, with standard
error as the reason. Any other status, a timeout or an unreadable answer is a failure, and a failure refuses too. A
refusal stops the hook's own event: the activation or the call. If the event can no longer be stopped, the refusal is
recorded and reported. A `once` hook that has passed does not run again in this session; one that failed runs again.

A hook receives a JSON object on standard input. It has the keys of Prowess (`event`, `skill`, `session_id`, and keys of
the event) and those of Claude Code (`hook_event_name`, `cwd`, `tool_name`, `tool_input`, `tool_response`).
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Literal

import anyio
from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.uuid7 import uuid7
from prowess.errors import SkillError, SkillNotFoundError
from prowess.format.fields.extended_fields import extended_fields
from prowess.runtime.activation import load_result
from prowess.runtime.hooks.answer import NO_ANSWER, UnreadableAnswerError, read_answer
from prowess.runtime.hooks.places import HookPlaces
from prowess.runtime.state import Transition

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prowess._internal.files.tree_digest import TreeManifest
    from prowess.format.fields.hooks import Hook
    from prowess.runtime.activation.load_result import Notice
    from prowess.runtime.activation.snapshots import Snapshot, Snapshots
    from prowess.runtime.activation.visibility import Visibility
    from prowess.runtime.events.delivery import SessionRecords
    from prowess.runtime.hooks.answer import HookAnswer
    from prowess.runtime.hooks.places import HookProgram
    from prowess.runtime.scripts import SkillPrograms
    from prowess.runtime.session_state import StoredState
    from prowess.runtime.state import ActiveSkill, SessionState

DEFAULT_SECONDS = 30.0
MAX_SHOWN_OUTPUT = 2000  # characters of a failed hook's output in the error message

HostEvent = Literal[
    "Stop", "SessionStart", "SessionEnd", "UserPromptSubmit", "PreCompact", "PermissionRequest", "Notification"
]
REFUSED = 2  # exit status of a hook that refuses
MAX_CONTEXT = 10_000  # characters of one hook's text for the model, as in Claude Code
_MAX_REMARKS = 64  # notices kept until a result carries them


class HookFailedError(SkillError):
    """A hook refused or could not run. `reason` states which; `output` is the end of its output."""

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
    """A hook that failed when its event could no longer be stopped."""

    skill: str
    event: str
    message: str


class PlannedHook(Struct, frozen=True, kw_only=True):
    """A hook of an active skill that is due. `position` is its index among all hooks of the skill."""

    skill: ActiveSkill
    hook: Hook
    position: int

    @property
    def name(self) -> str:
        """The script or command as its author wrote it."""
        return _named(self.hook)


class HookRunner:
    """Runs the hooks of one session's skills."""

    def __init__(
        self,
        stored: StoredState,
        snapshots: Snapshots,
        offered: Visibility,
        programs: SkillPrograms,
        records: SessionRecords,
    ) -> None:
        self._stored, self._snapshots, self._offered = stored, snapshots, offered
        self._programs, self._records = programs, records
        self._once = anyio.Lock()  # prevents concurrent calls from running a `once` hook twice
        self.remarks: list[Notice] = []  # for the model, kept until a result carries them

    def require_runnable(self, snapshot: Snapshot) -> None:
        """Refuse a skill with a hook that could not run when its event happens.

        An unreadable setting (`once`, `matcher`, `timeout`) does not refuse the skill: the hook then runs more often.

        Raises:
            HookFailedError: a hook cannot be read, a file is missing, a shell would be needed, or scripts are off.
            PolicyDeniedError: a policy permits scripts only from other directories.
        """
        skill, fields = snapshot.skill, snapshot.fields
        if not fields.hooks.complete:
            said = [fault for fault in fields.faults if fault.path[0] == "hooks"]
            fault = next((fault for fault in said if fault.rule != "hooks.value"), said[0])
            raise HookFailedError(skill.name, "pre", "hooks", f"cannot be read: {fault.message}")
        places = HookPlaces(skill, snapshot.source.manifest, self._offered, self._programs)
        for hook in fields.hooks.entries:
            if (reason := places.obstacle(hook)) is not None:
                raise HookFailedError(skill.name, hook.event, _named(hook), reason)

    def planned(self, skill: ActiveSkill, event: str, tools: Sequence[str] = ()) -> list[PlannedHook]:
        """Return a skill's hooks for an event. `tools` are names of the called tool, empty if there is none."""
        return [
            PlannedHook(skill=skill, hook=hook, position=position)
            for position, hook in enumerate(extended_fields(skill.properties).hooks.entries)
            if hook.event == event and (not tools or any(hook.matches(tool) for tool in tools))
        ]

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
        """Run a skill's hooks for an event other than `PreToolUse`. `tools` as in `planned`.

        `over` is the last state of a session that has expired; None otherwise.

        Raises:
            HookFailedError: a hook refused or failed; later hooks do not run.
            AuditError: the run could not be recorded.
            SandboxUnavailableError: the hook could not be started.
        """
        for one in self.planned(skill, event, tools):
            answer = await self.run(one, call_id, about, over=over)
            if answer.decision == "ask":
                raise HookFailedError(
                    skill.name, event, one.name, "asks a person, which is not possible at this event", answer.reason
                )

    async def run(
        self, one: PlannedHook, call_id: str, about: Mapping[str, object], *, over: SessionState | None = None
    ) -> HookAnswer:
        """Run one hook and return its answer, which is not a denial. A `once` hook that has passed before is skipped.

        Raises:
            HookFailedError: the hook refused, failed, or printed an unreadable answer.
            AuditError: the run could not be recorded.
            SandboxUnavailableError: the hook could not be started.
        """
        if not one.hook.once:
            return await self._run(one, call_id, about)
        mark = f"{one.skill.location}#{one.position}:{one.hook.event}"
        if over is not None:
            return NO_ANSWER if mark in over.finished else await self._run(one, call_id, about)
        async with self._once:
            if mark in (await self._stored.current()).finished:
                return NO_ANSWER
            answer = await self._run(one, call_id, about)
            await self._stored.change(partial(_marked, mark))
            return answer

    def take_remarks(self) -> list[Notice]:
        """Return and clear the notices that hooks have left for the model."""
        taken, self.remarks = self.remarks, []
        return taken

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
        """Run the hooks of an event that cannot be stopped. Return failures, which are recorded as `hook.failed`."""
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
        """Run the `SessionEnd` and `post` hooks of an expired session, for the skills that are still listed."""
        listed = self._stored.is_listed
        await self.dropped([skill for skill in state.active if not listed(skill)])
        for event in ("SessionEnd", "post"):
            await self.report([skill for skill in state.active if listed(skill)], event, uuid7(), {}, over=state)

    async def dropped(self, skills: Sequence[ActiveSkill]) -> None:
        """Record that the `post` hooks of skills that the catalog no longer lists do not run."""
        for skill in skills:
            if "hooks" in skill.properties and extended_fields(skill.properties).hooks.post:
                data = {"skill": skill.name, "event": "post", "code": SkillNotFoundError.code}
                await self._records.record("hook.failed", uuid7(), data)

    async def _run(self, one: PlannedHook, call_id: str, about: Mapping[str, object]) -> HookAnswer:
        skill, hook = one.skill, one.hook
        failed = partial(HookFailedError, skill.name, hook.event, one.name)
        manifest, program = await to_thread.run_sync(self._prepared, one)
        if isinstance(program, str):
            raise failed(program)
        data: dict[str, object] = {"skill": skill.name, "event": hook.event, "hook": program.argv[0]}
        begun = {**data, "content_digest": skill.content_digest}
        await self._records.record_and_tell("hook.started", call_id, skill, begun)
        done = await self._programs.run(
            skill.root_dir,
            manifest,
            program.argv,
            stdin=_input({**about, **self._common_input(one)}),
            seconds=hook.timeout or DEFAULT_SECONDS,
            mounts=program.mounts,
            env=program.env,
        )
        run = await self._records.of_run(self._programs, program.argv, done)
        await self._records.record_and_tell("hook.finished", call_id, skill, {**data, **run})
        if done.timed_out:
            raise failed("timed out", _output(done.stdout, done.stderr))
        if done.exit_code == REFUSED:
            raise failed("refused", _output(done.stderr) or _output(done.stdout))
        if done.exit_code != 0:
            raise failed(f"ended with status {done.exit_code}", _output(done.stdout, done.stderr))
        try:
            # In a thread: parsing a megabyte of keys takes seconds and must not block other sessions.
            read = partial(read_answer, done.stdout, hook.event, whole=not done.stdout_truncated)
            answer = await to_thread.run_sync(read)
        except UnreadableAnswerError as fault:
            raise failed("printed an unreadable decision", str(fault)) from None
        self._remark(skill, answer)
        if answer.decision == "deny":
            raise failed("refused", _shortened(answer.reason))
        return answer

    def _prepared(self, one: PlannedHook) -> tuple[TreeManifest, HookProgram | str]:
        """Return the hashes of the skill, and the command of a hook or the reason why it cannot run. Blocks."""
        manifest = self._snapshots.manifest(one.skill)
        places = HookPlaces(one.skill, manifest, self._offered, self._programs)
        return manifest, places.obstacle(one.hook) or places.program(one.hook)

    def _common_input(self, one: PlannedHook) -> dict[str, object]:
        """Return the input that every hook receives. Paths are those inside the sandbox."""
        return {
            "event": one.hook.event,
            "hook_event_name": one.hook.event,
            "skill": one.skill.name,
            "session_id": self._programs.session_id,
            "cwd": self._programs.directory,
        }

    def _remark(self, skill: ActiveSkill, answer: HookAnswer) -> None:
        if answer.context is not None:
            self.remarks.append(load_result.hook_context(skill.name, answer.context[:MAX_CONTEXT]))
        if answer.message is not None:
            self.remarks.append(load_result.hook_message(skill.name, answer.message[:MAX_SHOWN_OUTPUT]))
        del self.remarks[:-_MAX_REMARKS]


def _input(told: Mapping[str, object]) -> bytes:
    try:
        return json.dumps(told, allow_nan=False).encode()
    except (ValueError, TypeError, RecursionError):  # the result is not JSON; the executor refuses such a result
        return json.dumps({**told, "tool_response": None}, allow_nan=False).encode()


def _marked(mark: str, state: SessionState) -> Transition:
    return Transition(state=replace(state, finished=(*state.finished, mark)))


def _named(hook: Hook) -> str:
    return hook.script or hook.command or ""


def _output(*streams: bytes) -> str:
    return _shortened("\n".join(text for raw in streams if (text := raw.decode("utf-8", "replace").strip())))


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_OUTPUT else f"…{text[-MAX_SHOWN_OUTPUT:]}"
