"""Hooks around a tool call: `PreToolUse` before it, `PostToolUse` or `PostToolUseFailure` after it.

A `PreToolUse` hook may refuse the call, ask a person, or change the arguments. It cannot permit a call: a refusal or a
question by the policy or a restriction stays, whatever the hook answers. Changed arguments are validated and checked
against policy and restrictions again, and every hook sees the final arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from prowess._internal.text.canonical_json import NotJsonError, canonical_json
from prowess.errors import LimitExceededError, SkillError
from prowess.format.fields.extended_fields import extended_fields
from prowess.policy.tool_names import ALWAYS_ALLOWED, canonical_tool_name, names_of
from prowess.runtime.activation import load_result
from prowess.runtime.hooks.runner import HookFailedError
from prowess.tools import Proceed, Refuse, require_executor
from prowess.tools.gates import PROCEED
from prowess.tools.spec import spellings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prowess.runtime.hooks.runner import HookFailure, HookRunner, PlannedHook
    from prowess.runtime.session_state import StoredState
    from prowess.runtime.state import ActiveSkill, SessionState
    from prowess.tools import Tool, ToolCall, ToolSpec

MAX_ROUNDS = 4  # limit on rounds until all hooks have seen the final arguments


class ToolHookGate:
    """Runs `PreToolUse` hooks before every call except `skills.unload`, so that skills can always be unloaded."""

    def __init__(self, stored: StoredState, hooks: HookRunner) -> None:
        self._stored, self._hooks = stored, hooks

    async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed | Refuse:
        """Refuse the call, ask a person about it, or change its arguments, as the hooks decide."""
        if spec.name == ALWAYS_ALLOWED:
            return PROCEED
        skills = _hooked(await self._stored.current(), "PreToolUse")
        if not skills:
            return PROCEED
        planned = [hook for skill in skills for hook in self._hooks.planned(skill, "PreToolUse", _names(spec))]
        try:
            return await self._answered(planned, call) if planned else PROCEED
        except HookFailedError as error:
            return Refuse(error=error, rule=f"hook:{error.event}", skill=error.skill)

    async def _answered(self, planned: Sequence[PlannedHook], call: ToolCall) -> Proceed:
        """Run the hooks until each has seen the current arguments. None is run again for its own change."""
        arguments, asks = call.arguments, dict[str, None]()
        seen: dict[int, Mapping[str, object]] = {}
        for _ in range(MAX_ROUNDS):
            for place, one in enumerate(planned):
                if seen.get(place) is arguments:
                    continue
                answer = await self._hooks.run(one, call.id, _about(call, arguments))
                if answer.decision == "ask":
                    asks[f"the hook {one.name!r} of skill {one.skill.name!r} asks: {answer.reason}"] = None
                if answer.updated_input is not None and not _alike(answer.updated_input, arguments):
                    arguments = answer.updated_input
                seen[place] = arguments
            if all(shown is arguments for shown in seen.values()):
                changed = None if arguments is call.arguments else arguments
                return Proceed(arguments=changed, asks="; ".join(asks) or None)
        raise HookFailedError(
            planned[0].skill.name, "PreToolUse", planned[0].name, "and others keep changing the arguments of the call"
        )


class HookedTool:
    """A tool followed by its `PostToolUse` hooks. The hooks' texts for the model are added to the result as notices."""

    def __init__(self, tool: Tool, stored: StoredState, hooks: HookRunner) -> None:
        self.wrapped, self._stored, self._hooks = tool, stored, hooks

    @property
    def spec(self) -> ToolSpec:
        """The specification of the wrapped tool."""
        return self.wrapped.spec

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Run the tool, then the hooks. The hooks cannot undo the call."""
        require_executor(self, call)
        try:
            result = await self.wrapped.run(arguments, call)
        except SkillError as error:
            response = {"success": False, "code": error.code, "error": str(error)}
            await self._after("PostToolUseFailure", call, {"error": error.code, "tool_response": response})
            raise
        failures: list[HookFailure] = []
        if _hooked(self._stored.state, "PostToolUse"):
            failures = await self._after("PostToolUse", call, {"tool_response": result})
        if not (failures or self._hooks.remarks):
            return result
        return self._noted(result, failures)

    async def _after(self, event: str, call: ToolCall, outcome: Mapping[str, object]) -> list[HookFailure]:
        if self.spec.name == ALWAYS_ALLOWED:
            return []
        skills = _hooked(self._stored.state, event)  # the tool has just read this state
        if not skills:
            return []
        about = {**_about(call, call.arguments), **outcome}
        return await self._hooks.report(skills, event, call.id, about, tools=_names(self.spec))

    def _noted(self, result: Mapping[str, object], failures: Sequence[HookFailure]) -> dict[str, object]:
        """Add the hooks' notices to the result, unless the tool's output schema has no `notices`."""
        schema = self.spec.output_schema
        if schema is not None and "notices" not in cast("Mapping[str, object]", schema.get("properties", {})):
            return dict(result)  # the notices wait for a result that can carry them
        before = cast("Sequence[object]", result.get("notices", ()))
        told = [load_result.hook_failed(failure.skill, failure.message) for failure in failures]
        told += self._hooks.take_remarks()
        return {**result, "notices": [*before, *(notice.as_dict() for notice in told)]}


def _about(call: ToolCall, arguments: Mapping[str, object]) -> dict[str, object]:
    """Return a hook's input about a call, with the keys of Prowess and of Claude Code."""
    own = {"tool": call.name, "arguments": dict(arguments)}
    return {**own, "tool_name": canonical_tool_name(call.name), "tool_input": own["arguments"], "tool_use_id": call.id}


def _alike(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    try:
        return canonical_json(one) == canonical_json(other)
    except (NotJsonError, LimitExceededError):
        return False


def _hooked(state: SessionState, event: str) -> tuple[ActiveSkill, ...]:
    """Return the active skills that have hooks for an event."""
    found: tuple[ActiveSkill, ...] = ()
    # a plain loop: this runs twice per call and rarely finds a skill, so a generator would only add cost
    for skill in state.active:
        if "hooks" in skill.properties and extended_fields(skill.properties).hooks.of(event):
            found = (*found, skill)
    return found


def _names(spec: ToolSpec) -> tuple[str, ...]:
    """Return every name by which a rule or a call may refer to the tool."""
    known = [known for name in (spec.name, *spec.aliases) for known in names_of(name)]
    return tuple(dict.fromkeys(spelling for name in known for spelling in spellings(name)))
