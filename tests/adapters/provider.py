"""A provider of models on this machine: it speaks two protocols of OpenAI and answers from a list of turns.

What the real clients of the frameworks sent is kept, and read in one form whatever the protocol.
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_Provider = TypeVar("_Provider")
Call = tuple[str, dict[str, Any] | str]  # a name and arguments; a text is sent as it is
Turn = str | list[Call]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request: `tools` are schemas by name, `results` the texts of tool results by the id of their call."""

    body: dict[str, Any]
    instructions: str
    tools: dict[str, dict[str, Any]]
    descriptions: dict[str, str]
    results: dict[str, str]
    strict: set[object]


@dataclass(slots=True)
class Provider:
    """A server that runs."""

    url: str
    turns: list[Turn]
    asked: list[Asked] = field(default_factory=list)


@contextmanager
def provider(*turns: Turn) -> Iterator[Provider]:
    """Serve these turns, one a request, at `/v1`; a request too many is refused."""
    with serving(_Handler, lambda url: Provider(f"{url}/v1", list(turns))) as running:
        yield running


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler], make: Callable[[str], _Provider]) -> Iterator[_Provider]:
    """Let `handler` answer in a thread of its own; what `make` makes of the address is its `server.provider`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True  # one may wait for the next request on an open connection
    running = make(f"http://127.0.0.1:{server.server_port}")
    server.provider = running  # type: ignore[attr-defined]  # how http.server lets a handler reach its server's state
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield running
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections stay open, as with a real provider

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        running: Provider = self.server.provider  # type: ignore[attr-defined]  # as above
        read, write = _PROTOCOLS[self.path]
        number = len(running.asked)
        running.asked.append(read(body))
        if number < len(running.turns):
            self._answer(200, write(running.turns[number], number))
        else:
            self._answer(400, {"error": {"message": "no turn is left", "type": "invalid_request_error"}})

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the name that http.server gives it
        """Say nothing."""


def call_id(turn: int, index: int) -> str:
    """Return the id under which the provider makes a call; both numbers begin at 0."""
    return f"call_{turn}_{index}"


def _calls(turn: list[Call], number: int) -> Iterator[tuple[str, str, str]]:
    for index, (name, arguments) in enumerate(turn):
        yield call_id(number, index), name, arguments if isinstance(arguments, str) else json.dumps(arguments)


def _text(content: Any) -> str:  # noqa: ANN401 -- whatever a client sends
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def _read_chat(body: dict[str, Any]) -> Asked:
    messages = body["messages"]
    functions = [tool["function"] for tool in body.get("tools", ())]
    return Asked(
        body=body,
        instructions="\n".join(_text(message["content"]) for message in messages if message["role"] == "system"),
        tools={function["name"]: function["parameters"] for function in functions},
        descriptions={function["name"]: function["description"] for function in functions},
        results={
            message["tool_call_id"]: _text(message["content"]) for message in messages if message["role"] == "tool"
        },
        strict={function.get("strict") for function in functions},
    )


def _write_chat(turn: Turn, number: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if isinstance(turn, str):
        message["content"] = turn
    else:
        message["tool_calls"] = [
            {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}
            for identity, name, arguments in _calls(turn, number)
        ]
    reason = "stop" if isinstance(turn, str) else "tool_calls"
    return {
        "id": f"chat_{number}",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12},
    }


def _read_responses(body: dict[str, Any]) -> Asked:
    tools = body.get("tools") or []
    given = body["input"] if isinstance(body["input"], list) else []
    return Asked(
        body=body,
        instructions="\n".join(
            [
                body.get("instructions") or "",
                *(_text(item["content"]) for item in given if item.get("role") == "system"),
            ]
        ).strip("\n"),
        tools={tool["name"]: tool["parameters"] for tool in tools},
        descriptions={tool["name"]: tool["description"] for tool in tools},
        results={
            item["call_id"]: _text(item["output"]) for item in given if item.get("type") == "function_call_output"
        },
        strict={tool.get("strict") for tool in tools},
    )


def _write_responses(turn: Turn, number: int) -> dict[str, Any]:
    output: list[dict[str, Any]]
    if isinstance(turn, str):
        content = [{"type": "output_text", "text": turn, "annotations": []}]
        output = [
            {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": content}
        ]
    else:
        output = [
            {
                "type": "function_call",
                "id": f"fc_{identity}",
                "call_id": identity,
                "name": name,
                "arguments": arguments,
                "status": "completed",
            }
            for identity, name, arguments in _calls(turn, number)
        ]
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 2,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 12,
    }
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1,
        "model": "gpt-4o",
        "status": "completed",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
    }


_PROTOCOLS = {
    "/v1/chat/completions": (_read_chat, _write_chat),
    "/v1/responses": (_read_responses, _write_responses),
}
