"""A session over JSON lines: one request a line in, one answer a line out, in order.

A request is `{"id": 1, "tool": "skills.load", "arguments": {...}}`, or `method` (`instructions`, `tools`, `invoke`,
`approve`, `events`, `close`) instead of `tool`. An answer is the id, the eight keys of `ToolResult`, and
`error_detail`.
Whatever a line holds, it is answered and the next one is read: the host on the other side may be any program in any
language.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import json_text
from prowess.errors import SkillError
from prowess.runtime.protocol.line_methods import METHODS, carried_out
from prowess.tools import ToolResult
from prowess.tools.prompt_escaping import encodable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from prowess.runtime.events.event import SessionEvent
    from prowess.runtime.sync import SyncSession

    Call = Callable[[SyncSession, str, Mapping[str, object]], Mapping[str, object]]

MAX_LINE_BYTES = 4 * 1024 * 1024
_KEYS = ("id", "tool", "method", "arguments")
_SHOWN = 100  # characters of a host's own text that an error repeats


class InvalidRequestError(SkillError, ValueError):
    """A line that is no request; `reason` says what to send."""

    code = "invalid_request"
    reason: str
    sentence = "invalid request: {reason}"


def called(session: SyncSession, tool: str, arguments: Mapping[str, object]) -> Mapping[str, object]:
    """Run a call and return what stands in its answer beside the id."""
    return session.call(tool, arguments).as_dict()


def serve_json_lines(
    session: SyncSession, read_line: Callable[[int], bytes], write_line: Callable[[bytes], object], call: Call = called
) -> None:
    """Answer requests until the input ends; `call` answers those that name a tool.

    `read_line` is a `readline` of a binary stream: it takes the most bytes to return and gives b"" at the end.
    `write_line` receives whole lines with their line feed.
    """
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
        value = json.loads(
            line.decode("utf-8-sig"), parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_object
        )
    except InvalidRequestError:
        raise
    except UnicodeDecodeError:
        raise InvalidRequestError("the line is not UTF-8") from None
    except RecursionError:
        raise InvalidRequestError("the JSON is nested too deep") from None
    except ValueError as fault:
        raise InvalidRequestError(f"the line is not JSON ({fault})") from None
    if not isinstance(value, dict):
        raise InvalidRequestError('send an object, for example {"id": 1, "tool": "skills.load", "arguments": {}}')
    return value


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in {float("inf"), float("-inf")}:
        raise ValueError(f"the number {digits[:_SHOWN]} is too large")
    return number


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value: dict[str, object] = {}
    for key, item in pairs:
        if key in value:
            # Readers disagree about which one counts, so a gate and a tool could see two different calls.
            raise InvalidRequestError(f"the key {key[:_SHOWN]!r} stands twice in one object")
        value[key] = item
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
        raise InvalidRequestError(f"unknown method {str(method)[:_SHOWN]!r}; there are {', '.join(METHODS)}")
    return carried_out(session, METHODS[method], arguments)


def event_line(event: SessionEvent) -> bytes:
    """Return the line that tells an event, with its line feed."""
    return json_text({"event": event.as_dict()}).encode() + b"\n"


def _line(request_id: object, answered: Mapping[str, object]) -> bytes:
    shown = {name: encodable(value) for name, value in answered.items()}
    return json_text({"id": request_id, **shown}).encode() + b"\n"
