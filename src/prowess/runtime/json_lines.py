"""A session over JSON lines: one request per line, one answer per line, in order.

A request is `{"id": 1, "tool": "skills.load", "arguments": {...}}`. It may have `method` (`instructions`, `tools`,
`invoke`, `approve`, `events`, `close`) instead of `tool`. An answer has the id, the eight keys of `ToolResult`, and
`error_detail`. An invalid line gets an error as its answer, and reading continues: the host may be any program.

Requests other than tool calls are methods, with one schema and one function each. If the host runs its tools itself,
the answer to a tool call is only the decision, and the host acts on the decision. There is one exception: an allowed
`skills.load` or `skills.unload` is also carried out, because later decisions depend on which skills are active.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from msgspec import Struct

from prowess._internal.schema_subset import require_fitting
from prowess._internal.text.strict_json import StrictJsonError, strict_json
from prowess._internal.text.terminal_text import json_text
from prowess.errors import SkillError
from prowess.policy import Approval, Refusal
from prowess.policy.decision import Allow, effect_of, rule_of, would_be
from prowess.policy.tool_names import canonical_tool_name
from prowess.runtime.call_options import EXPOSURE_NAMES
from prowess.tools import ToolResult
from prowess.tools.prompt_escaping import encodable, sentence
from prowess.tools.shapes import SHAPES
from prowess.tools.spec import object_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from prowess.policy import Scope
    from prowess.runtime.call_options import InstructionOptions, OfferOptions
    from prowess.runtime.events.event import SessionEvent
    from prowess.runtime.sync import SyncSession
    from prowess.tools import ToolSpec

    Call = Callable[[SyncSession, str, Mapping[str, object]], Mapping[str, object]]

_LIST: Mapping[str, object] = {
    "budget": {"type": "integer", "minimum": 0, "description": "Tokens for the list of skills."},
    "exposure": {"type": "string", "enum": list(EXPOSURE_NAMES)},
    "task": {"type": "string"},
    "compact": {"type": "string"},
}
_FLAG = {"type": "boolean", "default": False}


class Method(Struct, frozen=True, kw_only=True):
    """A method: the schema of its arguments and the function that answers it."""

    schema: Mapping[str, object]
    answer: Callable[[SyncSession, Mapping[str, object]], ToolResult]


def carried_out(session: SyncSession, method: Method, arguments: Mapping[str, object]) -> ToolResult:
    """Return the answer of a method. Errors are part of the answer."""
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
            "left_out": disclosed.left_out,
            "over_budget": disclosed.over_budget,
            "notice": disclosed.notice,
        }
    )


def _tools(session: SyncSession, arguments: Mapping[str, object]) -> ToolResult:
    options = cast("OfferOptions", {name: value for name, value in arguments.items() if name != "shape"})
    if "shape" in arguments:
        return ToolResult.ok({"tools": session.tools(cast("str", arguments["shape"]), **options)})
    return ToolResult.ok({"tools": [_shown(spec) for spec in session.tools(**options)]})


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
        schema=object_schema(**_LIST, navigation=_FLAG, tool_system=_FLAG),
        answer=_instructions,
    ),
    "tools": Method(
        schema=object_schema(shape={"type": "string", "enum": list(SHAPES)}, **_LIST),
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


_CARRIED_OUT = frozenset({"skills.load", "skills.unload"})


def judged(
    session: SyncSession, tool: str, arguments: Mapping[str, object], *, by_skills_alone: bool = False
) -> dict[str, object]:
    """Return `decision`, `rule` and `reason` for a call; `rule` is the id of a rule in a policy file, else `file:line`.

    `would_deny` and `would_ask` are the rules that are only monitored and match the call; absent if there are none.

    If an allowed load or unload fails, `error_detail` contains the error. If the active skills are unknown, for example
    after the end of the session, every call is denied, and `rule` is the code of the error that hides them.
    """
    failure: dict[str, object] = {}
    try:
        decision = session.decide(tool, arguments, by_skills_alone=by_skills_alone)
    except SkillError as error:
        return {"decision": "deny", "rule": error.code, "reason": sentence(str(error))}
    if isinstance(decision, Allow) and canonical_tool_name(tool) in _CARRIED_OUT:
        result = session.call(tool, arguments)
        failure = {} if result.success else {"error_detail": result.error_detail}
    rule, further = rule_of(decision), {**would_be(decision), **failure}
    return {"decision": effect_of(decision), "rule": rule, "reason": sentence(decision.reason), **further}


MAX_LINE_BYTES = 4 * 1024 * 1024
_KEYS = ("id", "tool", "method", "arguments")
_SHOWN = 100  # characters of the host's text that an error repeats


class InvalidRequestError(SkillError, ValueError):
    """The line is not a valid request; `reason` states the fault."""

    code = "invalid_request"
    reason: str
    sentence = "invalid request: {reason}"


def called(session: SyncSession, tool: str, arguments: Mapping[str, object]) -> Mapping[str, object]:
    """Run a tool call and return its answer without the id."""
    return session.call(tool, arguments).as_dict()


def serve_json_lines(
    session: SyncSession, read_line: Callable[[int], bytes], write_line: Callable[[bytes], object], call: Call = called
) -> None:
    """Answer requests until the input ends; `call` answers the requests that name a tool.

    `skills.list` is offered in addition to the session's tools. `read_line` is the `readline` of a binary stream: it
    takes the maximum number of bytes and returns b"" at the end. `write_line` receives whole lines with their line
    feed.
    """
    session.offer_list()
    while line := read_line(MAX_LINE_BYTES + 1):
        if len(line) > MAX_LINE_BYTES:
            _skip_rest(line, read_line)
            reason = f"the line is longer than {MAX_LINE_BYTES} bytes"
            write_line(_line(None, ToolResult.failed(InvalidRequestError(reason)).as_dict()))
        elif line.strip():
            write_line(answer(session, line, call))


def answer(session: SyncSession, line: bytes, call: Call = called) -> bytes:
    """Return the answer to one line, with its line feed."""
    request_id: object = None
    try:
        request = _parsed(line)
        request_id = _id_of(request)
        answered = _carried_out(session, request, call)
    except InvalidRequestError as fault:
        answered = ToolResult.failed(fault).as_dict()
    return _line(request_id, answered)


def _skip_rest(line: bytes, read_line: Callable[[int], bytes]) -> None:
    while line and not line.endswith(b"\n"):
        line = read_line(MAX_LINE_BYTES)


def _parsed(line: bytes) -> Mapping[str, object]:
    try:
        value = strict_json(line, "the line")
    except StrictJsonError as fault:
        raise InvalidRequestError(str(fault)) from None
    if not isinstance(value, dict):
        raise InvalidRequestError('send an object, for example {"id": 1, "tool": "skills.load", "arguments": {}}')
    return value


def _id_of(request: Mapping[str, object]) -> object:
    request_id = request.get("id")
    if isinstance(request_id, bool) or not isinstance(request_id, str | int | float | None):
        raise InvalidRequestError("id must be a string, a number or null")
    return request_id


def _carried_out(session: SyncSession, request: Mapping[str, object], call: Call) -> Mapping[str, object]:
    if unknown := sorted(set(request) - set(_KEYS)):
        raise InvalidRequestError(
            f"unknown key {unknown[0][:_SHOWN]!r}; a request has id, arguments, and tool or method"
        )
    if ("tool" in request) == ("method" in request):
        raise InvalidRequestError("give exactly one of tool and method")
    arguments = request.get("arguments", {})
    if not isinstance(arguments, dict):
        raise InvalidRequestError("arguments must be an object")
    if "tool" not in request:
        return _method(session, request["method"], arguments).as_dict()
    if not isinstance(request["tool"], str):
        raise InvalidRequestError("tool must be a string")
    return call(session, request["tool"], arguments)


def _method(session: SyncSession, method: object, arguments: Mapping[str, object]) -> ToolResult:
    if not isinstance(method, str) or method not in METHODS:
        tool = '; send a tool as "tool"' if isinstance(method, str) and method.startswith("skills") else ""
        raise InvalidRequestError(
            f"unknown method {str(method)[:_SHOWN]!r}; the methods are {', '.join(METHODS)}{tool}"
        )
    return carried_out(session, METHODS[method], arguments)


def event_line(event: SessionEvent) -> bytes:
    """Return the line that reports an event, with its line feed."""
    return json_text({"event": event.as_dict()}).encode() + b"\n"


def _line(request_id: object, answered: Mapping[str, object]) -> bytes:
    shown = {name: encodable(value) for name, value in answered.items()}
    return json_text({"id": request_id, **shown}).encode() + b"\n"
