"""A provider of chat completions for trying out evals: an obedient model that costs nothing.

    python provider.py PORT

It loads the first skill that it is offered, and writes sums as the loaded skill says. Point OPENAI_BASE_URL at it.
"""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Return the message of the model."""
    text = "\n".join(str(message.get("content")) for message in request["messages"])
    if "two digits" in text:
        return {"role": "assistant", "content": "The sum is 12.50 EUR."}
    if "<name>invoices</name>" in text:
        load = {"name": "skills_load", "arguments": json.dumps({"names": ["invoices"]})}
        return {"role": "assistant", "tool_calls": [{"index": 0, "id": "1", "type": "function", "function": load}]}
    return {"role": "assistant", "content": "The sum is 12.5."}


class Provider(BaseHTTPRequestHandler):
    """Answers as a stream of events."""

    def do_POST(self) -> None:
        """Answer one request."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = answer(request)
        reason = "tool_calls" if "tool_calls" in message else "stop"
        head = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": request["model"]}
        chunks = [
            {**head, "choices": [{"index": 0, "delta": message, "finish_reason": reason}]},
            {**head, "choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}},
        ]
        body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Print nothing."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Provider).serve_forever()
