"""What a host asks of a session beside tool calls, by name over JSON lines: one schema and one function a method."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from msgspec import Struct

from prowess.errors import SkillError
from prowess.policy import Approval, Refusal
from prowess.runtime.call_options import EXPOSURE_NAMES
from prowess.tools import ToolResult
from prowess.tools.shapes import SHAPES
from prowess.tools.spec import object_schema, require_fitting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from prowess.policy import Scope
    from prowess.runtime.call_options import ExposureName, InstructionOptions
    from prowess.runtime.sync import SyncSession
    from prowess.tools import ToolSpec

_EXPOSURE = {"type": "string", "enum": list(EXPOSURE_NAMES)}
_BUDGET = {"type": "integer", "minimum": 0, "description": "Tokens for the list of skills."}
_FLAG = {"type": "boolean", "default": False}


class Method(Struct, frozen=True, kw_only=True):
    """A method: the schema of its arguments, and what answers it."""

    schema: Mapping[str, object]
    answer: Callable[[SyncSession, Mapping[str, object]], ToolResult]


def carried_out(session: SyncSession, method: Method, arguments: Mapping[str, object]) -> ToolResult:
    """Return the answer; what goes wrong is in it."""
    try:
        return method.answer(session, require_fitting(arguments, method.schema))
    except SkillError as fault:
        return ToolResult.failed(fault)


def _instructions(session: SyncSession, arguments: Mapping[str, object]) -> ToolResult:
    options = cast("InstructionOptions", {name: value for name, value in arguments.items() if name != "budget"})
    disclosed = session.disclose(cast("int | None", arguments.get("budget")), **options)
    return ToolResult.ok(
        {
            "instructions": disclosed.text,
            "tokens": dict(disclosed.tokens),
            "shortened": list(disclosed.shortened),
            "over_budget": disclosed.over_budget,
            "notice": disclosed.notice,
        }
    )


def _tools(session: SyncSession, arguments: Mapping[str, object]) -> ToolResult:
    exposure = cast("ExposureName | None", arguments.get("exposure"))
    budget = cast("int | None", arguments.get("budget"))
    if "shape" in arguments:
        shape = cast("str", arguments["shape"])
        return ToolResult.ok({"tools": session.tools(shape, exposure=exposure, budget=budget)})
    return ToolResult.ok({"tools": [_shown(spec) for spec in session.tools(exposure=exposure, budget=budget)]})


def _shown(spec: ToolSpec) -> dict[str, object]:
    return {
        "name": spec.name,
        "description": spec.description,
        "input_schema": spec.input_schema,
        "output_schema": spec.output_schema,
    }


def _invoke(session: SyncSession, arguments: Mapping[str, object]) -> ToolResult:
    args = cast("str | None", arguments.get("args"))
    return session.user_call(cast("str", arguments["skill"]), args, raw=arguments["raw"] is True)


def _approve(session: SyncSession, arguments: Mapping[str, object]) -> ToolResult:
    scope = cast("Scope", arguments["scope"])
    allowed = arguments["decision"] == "allow"
    answer = Approval(scope=scope, by="host") if allowed else Refusal(by="host")
    request = session.approve(cast("str", arguments["request"]), answer)
    return ToolResult.ok({"request": request.id, "tool": request.tool, "decision": arguments["decision"]})


def _events(session: SyncSession, arguments: Mapping[str, object]) -> ToolResult:
    since = cast("int", arguments["since"])
    found = session.replay(since, cast("int", arguments["limit"]))
    last = max((event.sequence for event in found), default=since)
    return ToolResult.ok({"events": [event.as_dict() for event in found], "last": last})


def _close(session: SyncSession, arguments: Mapping[str, object]) -> ToolResult:
    del arguments
    session.close()
    return ToolResult.ok({"closed": True})


METHODS: Mapping[str, Method] = {
    "instructions": Method(
        schema=object_schema(
            budget=_BUDGET, exposure=_EXPOSURE, navigation=_FLAG, tool_system=_FLAG, compact={"type": "string"}
        ),
        answer=_instructions,
    ),
    "tools": Method(
        schema=object_schema(shape={"type": "string", "enum": list(SHAPES)}, exposure=_EXPOSURE, budget=_BUDGET),
        answer=_tools,
    ),
    "invoke": Method(
        schema=object_schema(
            "skill", skill={"type": "string", "minLength": 1}, args={"type": ["string", "null"]}, raw=_FLAG
        ),
        answer=_invoke,
    ),
    "approve": Method(
        schema=object_schema(
            "request decision",
            request={"type": "string", "minLength": 1},
            decision={"type": "string", "enum": ["allow", "deny"]},
            scope={"type": "string", "enum": ["once", "session"], "default": "once"},
        ),
        answer=_approve,
    ),
    "events": Method(
        schema=object_schema(
            since={"type": "integer", "minimum": 0, "default": 0},
            limit={"type": "integer", "minimum": 1, "maximum": 1000, "default": 1000},
        ),
        answer=_events,
    ),
    "close": Method(schema=object_schema(), answer=_close),
}
