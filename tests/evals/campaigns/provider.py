"""A provider of chat completions on loopback that counts its calls and answers by a rule.

    with ScriptedProvider(obedient) as provider:
        provider.environment  # OPENAI_BASE_URL and a key, for a process

A rule gets the request and returns a text, a list of calls as (name, arguments), or a status.
"""

from __future__ import annotations

import json
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

Answer = str | int | list[tuple[str, dict[str, Any]]]
Request = dict[str, Any]
USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
MODEL = "openai-chat:scripted"
JUDGE = "openai-chat:judge"


class ScriptedProvider:
    """Serves in threads of this process. `requests` are the bodies so far; `delay` are seconds before each answer."""

    def __init__(self, rule: Callable[[Request], Answer], *, delay: float = 0.0) -> None:
        self.requests: list[Request] = []
        self.delay = delay
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(body)
                time.sleep(outer.delay)
                answer = rule(body)
                if isinstance(answer, int):
                    self._send(answer, "application/json", json.dumps({"error": {"message": "scripted"}}).encode())
                elif body.get("stream"):
                    self._send(200, "text/event-stream", _events(answer))
                else:
                    self._send(200, "application/json", json.dumps(_whole(answer)).encode())

            def _send(self, status: int, kind: str, data: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                with suppress(OSError):  # the client was killed
                    self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- its name in the base class
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def environment(self) -> dict[str, str]:
        """The variables that lead a client here."""
        return {"OPENAI_BASE_URL": self.url, "OPENAI_API_KEY": "key"}

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _message(answer: Answer) -> tuple[dict[str, Any], str]:
    if isinstance(answer, str):
        return {"role": "assistant", "content": answer}, "stop"
    assert isinstance(answer, list)
    calls = [
        {"index": n, "id": f"call{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
        for n, (name, given) in enumerate(answer)
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}, "tool_calls"


def _whole(answer: Answer) -> dict[str, Any]:
    message, reason = _message(answer)
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": USAGE}


def _events(answer: Answer) -> bytes:
    message, reason = _message(answer)
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunks = [
        {**head, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        {**head, "choices": [], "usage": USAGE},
    ]
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()


def text_of(request: Request) -> str:
    """Return everything that the model reads."""
    return "\n".join(str(message.get("content")) for message in request["messages"])


def obedient(request: Request) -> Answer:
    """Load the skill `sums` if it is offered, then do as it says; without it, round."""
    text = text_of(request)
    if "two decimal places" in text:
        return "The sum is 12.50 EUR."
    if "sums" in text and any(tool["function"]["name"] == "skills_load" for tool in request.get("tools", ())):
        return [("skills_load", {"names": ["sums"]})]
    return "The sum is 12.5."
