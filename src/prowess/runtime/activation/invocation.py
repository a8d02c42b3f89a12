"""One skill by its name, with arguments: what the `skill` tool does for a model, and `invoke` for a user.

Both go the way of every activation. A skill that joins the conversation comes back with its content; one that runs in a
sub-agent comes back with its output.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from anyio import to_thread

from prowess.policy.restriction import Restriction
from prowess.runtime.activation import load_result
from prowess.runtime.events.event import loading_message
from prowess.tools import ToolSpec, require_executor
from prowess.tools.spec import object_schema

if TYPE_CHECKING:
    from prowess.catalog import SkillEntry
    from prowess.runtime.activation.activator import Activator
    from prowess.runtime.activation.rendering import Rendering
    from prowess.runtime.activation.restrictions import Restrictions
    from prowess.runtime.activation.visibility import By, Visibility
    from prowess.runtime.forks.launcher import ForkLauncher
    from prowess.tools import ToolCall

_COMMAND = r"(?s)[/$](\S+)(?:\s+(.*))?\Z"
_TEXT = {"type": "string"}
_TEXT_OR_NULL = {"type": ["string", "null"]}

RESULT_SCHEMA = object_schema(
    "skill_name",
    skill_name=_TEXT,
    message=_TEXT,
    base_path=_TEXT_OR_NULL,
    content=_TEXT_OR_NULL,
    allowed_tools={"type": "array", "items": _TEXT},
    allowed_tools_mode=load_result.ALLOWED_TOOLS_MODE,
    model=_TEXT,
    args=_TEXT,
    output=_TEXT,
    turns={"type": "integer", "minimum": 0},
    child_session_id=_TEXT,
    notices=load_result.NOTICES_SCHEMA,
)


def parsed(text: str, args: str | None) -> tuple[str, str | None]:
    """Return name and arguments of what a user typed: `deploy`, `/deploy`, `/deploy to production`, `$deploy`.

    Arguments that are given by themselves win over those in the text.
    """
    match = re.match(_COMMAND, text.strip())
    if match is None:
        return text, args
    return match[1], args if args is not None else match[2]


class Invocation:
    """Runs one skill by name for one session."""

    def __init__(
        self,
        activator: Activator,
        launcher: ForkLauncher,
        offered: Visibility,
        rendering: Rendering,
        restrictions: Restrictions,
    ) -> None:
        self._activator, self._launcher, self._offered = activator, launcher, offered
        self._rendering, self._restrictions = rendering, restrictions

    async def run(self, name: str, args: str | None, call_id: str, by: By, *, raw: bool = False) -> dict[str, object]:
        """Return the content, or for a fork the output; `raw` gives the file as written instead of the body.

        Raises:
            SkillNotFoundError: with suggestions from the skills that are open to whoever asks.
            Also what `Activator.enter` and `ForkLauncher.run` raise.
        """
        entry = await self._offered.offered(name, by=by)
        if entry.is_fork:
            snapshot = await self._activator.take(entry, call_id)
            self._offered.require_open(snapshot.skill.name, snapshot.fields, by)
            message = {"message": loading_message(snapshot.skill.name)}
            return {**await self._launcher.run(snapshot, args, call_id, by), **message}
        return await self._inherit(entry, args, call_id, by, raw=raw)

    async def _inherit(
        self, entry: SkillEntry, args: str | None, call_id: str, by: By, *, raw: bool
    ) -> dict[str, object]:
        activation = await self._activator.enter(entry, args, call_id, by)
        (snapshot,) = activation.taken
        skill = next(skill for skill in activation.step.state.active if skill.key == snapshot.skill.key)
        running = by == "model" and not activation.fresh()
        notices = [notice.as_dict() for notice in activation.notices]
        if running:
            notices.append(load_result.already_running(skill.name).as_dict())
        content = partial(self._rendering.content, snapshot, skill, raw=raw)
        result: dict[str, object] = {
            "skill_name": skill.name,
            "message": f'The "{skill.name}" skill is running already' if running else loading_message(skill.name),
            "base_path": skill.root_dir if self._rendering.expose_location else None,
            "content": None if running else await to_thread.run_sync(content),
        }
        if skill.allowed_tools is not None:
            tokens = Restriction.of_field(skill.name, skill.allowed_tools).tokens or ()
            result["allowed_tools"] = [str(token) for token in tokens]
            result["allowed_tools_mode"] = self._restrictions.mode_of(skill)
        if entry.extended.model is not None:
            result["model"] = entry.extended.model
        if skill.args is not None:
            result["args"] = skill.args
        if notices:
            result["notices"] = notices
        return result


class InvokeTool:
    """Starts a skill for the user, in an executor that no model reaches: validated, gated and audited as a tool is."""

    spec = ToolSpec(
        name="skills.invoke",
        description="Start a skill for the user.",
        input_schema=object_schema(
            "skill",
            skill={"type": "string", "minLength": 1},
            args={"type": ["string", "null"], "default": None},
            raw={"type": "boolean", "default": False},
        ),
        output_schema=RESULT_SCHEMA,
    )

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Return what `Invocation.run` returns for a user."""
        require_executor(self, call)
        args = arguments["args"]
        name, given = parsed(str(arguments["skill"]), None if args is None else str(args))
        return await self._invocation.run(name, given, call.id, "user", raw=arguments["raw"] is True)
