"""A provider on loopback that speaks OpenAI's Chat Completions, counts every call that it is paid for, and its price.

A task names its unit as `unit-N`. The first answer loads a skill, the second lists skills, the third is the text.
It charges the most that a bound allows: a token for each byte of the request, and all tokens that the answer may have.
"""

from __future__ import annotations

import json
import random
import re
import threading
import time
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

PRICE = "0.4/1.6"  # US dollars per million tokens, so 400 and 1600 nano-dollars each
CALLS_OF_A_UNIT = 3
_CHUNK = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4.1-mini"}


class Counts:
    """What the provider was asked. `calls` counts by unit and turn."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.calls: Counter[tuple[str, int]] = Counter()
        self.nano_usd = 0
        self.slowest = 0.03  # seconds of an answer

    def add(self, unit: str, turn: int, nano_usd: int) -> None:
        with self._lock:
            self.calls[unit, turn] += 1
            self.nano_usd += nano_usd

    def clear(self) -> None:
        with self._lock:
            self.calls.clear()
            self.nano_usd = 0

    @property
    def usd(self) -> float:
        """What the calls cost."""
        return self.nano_usd / 1_000_000_000

    @property
    def paid(self) -> int:
        """All calls."""
        return self.calls.total()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    counts: Counts

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        body = json.loads(raw)
        messages = body["messages"]
        turn = sum(message["role"] == "assistant" for message in messages)
        unit = re.findall(r"unit-\d+", json.dumps([m for m in messages if m["role"] == "user"]))[0]
        read, said = len(raw), body.get("max_completion_tokens") or body["max_tokens"]
        self.counts.add(unit, turn, read * 400 + said * 1600)
        time.sleep(random.uniform(0.001, self.counts.slowest))
        usage = {"prompt_tokens": read, "completion_tokens": said, "total_tokens": read + said}
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in (*_answer(unit, turn), {"choices": [], "usage": usage}):
            self._event(json.dumps({**_CHUNK, **chunk}))
        self._event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def _event(self, text: str) -> None:
        data = f"data: {text}\n\n".encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the name that http.server gives it
        """Say nothing."""


def _answer(unit: str, turn: int) -> list[dict[str, Any]]:
    if turn == CALLS_OF_A_UNIT - 1:
        return [_delta({"role": "assistant", "content": f"Done with {unit}."}), _delta({}, "stop")]
    name, arguments = ("skills_load", '{"names": ["csv-report"]}') if turn == 0 else ("skills_list", "{}")
    call = {"index": 0, "id": f"call_{turn}", "type": "function", "function": {"name": name, "arguments": arguments}}
    return [_delta({"role": "assistant", "tool_calls": [call]}), _delta({}, "tool_calls")]


def _delta(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients are killed."""


@contextmanager
def counting_provider() -> Iterator[tuple[str, Counts]]:
    """Serve until the block ends; yield the address and the counts."""
    counts = Counts()
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"counts": counts}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", counts
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
