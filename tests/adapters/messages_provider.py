"""A provider on this machine that speaks the Anthropic Messages API, whole or streamed, and checks what it is sent.

As the real one it refuses a request whose tools are named otherwise than by letters, digits, `_` and `-`, and a history
in which a `tool_use` is not answered by a `tool_result` in the next message.
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

from tests.adapters.provider import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

Body = dict[str, Any]
Turn = str | list[tuple[str, Body]]  # a text, or calls: names and arguments
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")


@dataclass(slots=True)
class MessagesProvider:
    """A server that runs; `url` is what clients take as base URL."""

    url: str
    turns: list[Turn]
    asked: list[Body] = field(default_factory=list)

    def results(self, number: int) -> list[tuple[str, str, bool]]:
        """Return id, text and whether it is an error of each tool result in the last message of a request."""
        content = self.asked[number]["messages"][-1]["content"]
        blocks = [block for block in content if block["type"] == "tool_result"]
        return [(block["tool_use_id"], _text(block["content"]), block.get("is_error", False)) for block in blocks]

    def system(self, number: int) -> str:
        """Return the system prompt of a request as text."""
        return _text(self.asked[number].get("system", ""))


@contextmanager
def messages_provider(*turns: Turn) -> Iterator[MessagesProvider]:
    """Serve these turns, one a request; a request too many is refused."""
    with serving(_Handler, lambda url: MessagesProvider(url, list(turns))) as running:
        yield running


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections stay open, as with a real provider

    def do_POST(self) -> None:
        running: MessagesProvider = self.server.provider  # type: ignore[attr-defined]  # as above
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        number = len(running.asked)
        running.asked.append(body)
        problem = self._problem(body)
        if problem is None and number >= len(running.turns):
            problem = "no turn is left"
        if problem is not None:
            error = {"type": "error", "error": {"type": "invalid_request_error", "message": problem}}
            self._answer(400, "application/json", json.dumps(error).encode())
        elif body.get("stream"):
            self._answer(200, "text/event-stream", b"".join(_events(_message(running.turns[number], number))))
        else:
            self._answer(200, "application/json", json.dumps(_message(running.turns[number], number)).encode())

    def _problem(self, body: Body) -> str | None:
        if self.path.partition("?")[0] != "/v1/messages":
            return f"there is no {self.path}"
        key = self.headers.get("x-api-key") or self.headers.get("authorization")  # older clients, newer ones
        if not key or not self.headers.get("anthropic-version"):
            return "a header is missing"
        for tool in body.get("tools", ()):
            if _TOOL_NAME.fullmatch(tool["name"]) is None or tool["input_schema"].get("type") != "object":
                return f"tool {tool['name']} is not well formed"
        return _history_problem(body["messages"])

    def _answer(self, status: int, kind: str, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the name that http.server gives it
        """Say nothing."""


def _history_problem(messages: list[Body]) -> str | None:
    waiting: set[str] = set()
    for message in messages:
        blocks = message["content"] if isinstance(message["content"], list) else []
        answered = {block["tool_use_id"] for block in blocks if block["type"] == "tool_result"}
        if answered - waiting:
            return "a tool_result answers no tool_use of the message before"
        if waiting - answered:
            return "tool_use ids were found without tool_result blocks immediately after"
        waiting = {block["id"] for block in blocks if block["type"] == "tool_use"}
    return "the last message has open calls" if waiting else None


def _message(turn: Turn, number: int) -> Body:
    if isinstance(turn, str):
        content: list[Body] = [{"type": "text", "text": turn}]
    else:
        content = [
            {"type": "tool_use", "id": f"toolu_{number}_{index}", "name": name, "input": arguments}
            for index, (name, arguments) in enumerate(turn)
        ]
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": content,
        "stop_reason": "end_turn" if isinstance(turn, str) else "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 2},
    }


def _events(message: Body) -> Iterator[bytes]:
    """Yield a message as the API streams it, each text and each input in two pieces."""
    yield _event("message_start", message={**message, "content": [], "stop_reason": None})
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty, kind, key, whole = {**block, "text": ""}, "text_delta", "text", block["text"]
        else:
            empty, kind, key, whole = (
                {**block, "input": {}},
                "input_json_delta",
                "partial_json",
                json.dumps(block["input"]),
            )
        yield _event("content_block_start", index=index, content_block=empty)
        for piece in (whole[: len(whole) // 2], whole[len(whole) // 2 :]):
            yield _event("content_block_delta", index=index, delta={"type": kind, key: piece})
        yield _event("content_block_stop", index=index)
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", delta=ending, usage={"output_tokens": 2})
    yield _event("message_stop")


def _event(kind: str, **about: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **about})}\n\n".encode()


def _text(content: str | list[Body]) -> str:
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)
