"""Short JSON errors: every error response of an application is reduced to one sentence in JSON."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from prowess._internal.text.terminal_text import printable_line

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]
    App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]
    ErrorBody = Callable[[int, str], bytes]

_MOST_CHARACTERS = 300
_MOST_BYTES = 64 * 1024  # of an application's error body; the rest is ignored
_FIRST_ERROR = 400
_OURS = {b"content-type", b"content-length", b"transfer-encoding"}


def plain_error(status: int, message: str) -> bytes:
    """Return `{"error": …}`, the error body of applications without a format of their own."""
    del status
    return json.dumps({"error": message}).encode()


async def answer(
    send: Send, status: int, body: bytes, headers: tuple[tuple[bytes, bytes], ...] = (), *, head: bool = False
) -> None:
    """Send a complete JSON response. If `head` is true, the request was HEAD and the body is left out."""
    known = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*known, *headers]})
    await send({"type": "http.response.body", "body": b"" if head else body})


class ShortErrors:
    """ASGI middleware that shortens the error responses of an application.

    If the body is JSON with an `error` object that has a `message`, the form of the body is kept and the message is cut
    to its first line. Any other body is replaced by the result of `error_body`. The sentence passed to `error_body` is
    the first line of the old body. If the old body is empty or JSON, the sentence is the phrase of the status.
    """

    def __init__(self, app: App, error_body: ErrorBody) -> None:
        self._app, self._error_body = app, error_body

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Call the application, and rewrite its response if the status is an error."""
        start: Message | None = None
        held = bytearray()

        async def looked_at(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and message["status"] >= _FIRST_ERROR:
                start = message
            elif start is None:
                await send(message)
            else:
                held.extend(message.get("body", b"")[: _MOST_BYTES - len(held)])
                if not message.get("more_body", False):
                    body = self._short(start["status"], bytes(held))
                    kept = tuple((name, value) for name, value in start["headers"] if name.lower() not in _OURS)
                    await answer(send, start["status"], body, kept, head=scope["method"] == "HEAD")

        await self._app(scope, receive, looked_at)

    def _short(self, status: int, body: bytes) -> bytes:
        try:
            told = json.loads(body)
        except (ValueError, RecursionError):
            text = body.decode(errors="replace")
            return self._error_body(status, _first_line(text) or HTTPStatus(status).phrase)
        error = told.get("error") if isinstance(told, dict) else None
        if isinstance(error, dict) and isinstance(error.get("message"), str):
            error["message"] = _first_line(error["message"])
            return json.dumps(told).encode()
        return self._error_body(status, HTTPStatus(status).phrase)


def _first_line(text: str) -> str:
    return printable_line(text.strip().partition("\n")[0])[:_MOST_CHARACTERS]
