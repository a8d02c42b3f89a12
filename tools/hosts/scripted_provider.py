"""A provider of models on loopback that answers from a script, in four wire forms.

The script is a list of parts `{"when": TEXT, "turns": [...]}`. The first part whose `when` is in the user's messages
applies; its turn is the one after the answers that the request holds already. So a repeated or resumed conversation
gets the same answers. Requests without tools (titles, summaries) get a short text. Every request that reaches the
provider is counted by its path, and each counted answer is one that would be paid.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from tools.hosts.wire_forms import FORMS, Turn, form_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from tools.hosts.wire_forms import Conversation

_SIDE = Turn(text="Noted.")
_LAST = Turn(text="Done.")


class Part(Struct, frozen=True, kw_only=True):
    """The turns of one agent: the first part whose `when` the user's messages contain applies."""

    turns: tuple[Turn, ...]
    when: str = ""


class ScriptedProvider:
    """Serves a script on a port of loopback between `__enter__` and `__exit__`.

    `paid` counts answers begun, with tools or without; `requests` and `headers` keep what was sent if `keep` is set.
    `holding` is set as soon as an answer is held back.
    """

    def __init__(self, script: Sequence[Part] = (), *, keep: bool = False) -> None:
        self.script = tuple(script)
        self.paid = 0
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.headers: list[dict[str, str]] = []
        self.unknown: list[str] = []
        self.holding = threading.Event()
        self._keep, self._lock = keep, threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.provider = self

    @property
    def url(self) -> str:
        """The address without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        """Serve in a thread."""
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, without waiting for held answers."""
        self._server.shutdown()
        self._server.server_close()

    def turn(self, conversation: Conversation) -> Turn:
        """Return the turn for a conversation."""
        if not conversation.has_tools:
            return _SIDE
        part = next((part for part in self.script if part.when in conversation.user_text), None)
        turns = part.turns if part else ()
        return turns[conversation.answered] if conversation.answered < len(turns) else _LAST

    def answer(self, body: dict[str, Any], conversation: Conversation) -> Turn:
        """Return the turn for a request. A provider that reads more than the conversation replaces this method."""
        del body
        return self.turn(conversation)

    def count(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> None:
        """Count one paid answer."""
        with self._lock:
            self.paid += 1
            if self._keep:
                self.requests.append((path, body))
                self.headers.append(headers)


def _fault(status: int) -> dict[str, Any]:
    """Return an error in words that all four forms know."""
    kinds = {400: ("invalid_request_error", "INVALID_ARGUMENT"), 401: ("authentication_error", "UNAUTHENTICATED")}
    kind, name = kinds.get(status, ("overloaded_error", "UNAVAILABLE"))
    return {"type": kind, "message": "scripted fault", "code": status, "status": name}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    provider: ScriptedProvider


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def do_HEAD(self) -> None:
        self._json(200, {})

    def do_GET(self) -> None:
        self._json(200, {"object": "list", "data": [], "models": []})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        if (name := form_of(self.path)) is None:
            self.server.provider.unknown.append(self.path)
            self._json(200, {"input_tokens": 1, "totalTokens": 1})
            return
        form, provider = FORMS[name], self.server.provider
        conversation = form.read(body)
        turn = provider.answer(body, conversation)
        provider.count(self.path, body, {name.lower(): value for name, value in self.headers.items()})
        if turn.hold:
            provider.holding.set()
            time.sleep(turn.hold)
        if turn.status:
            self._json(turn.status, {"type": "error", "error": _fault(turn.status)})
            return
        key = hashlib.sha256(f"{conversation.user_text}{conversation.answered}".encode()).hexdigest()[:16]
        if ":streamGenerateContent" in self.path if name == "contents" else conversation.streams:
            self._stream(list(form.events(turn, key)), turn)
        else:
            self._json(200, form.whole(turn, key))

    def _json(self, status: int, data: dict[str, Any]) -> None:
        body = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _stream(self, events: list[bytes], turn: Turn) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        with suppress(ConnectionError):  # the host was killed
            for event in events[: len(events) // 2] if turn.cut else events:
                self.wfile.write(event)
                self.wfile.flush()
