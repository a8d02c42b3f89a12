"""Checks on requests: token, host name, origin, size and time."""

from __future__ import annotations

import hashlib
import hmac
from http import HTTPStatus
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio

from prowess.http_listener.error_bodies import answer, plain_error

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, MutableMapping
    from typing import Any

    from prowess.http_listener.error_bodies import App, ErrorBody, Message, Receive, Send

BEARER = "prowess.bearer"  # key in the ASGI scope
MAX_BODY_BYTES = 2 * 1024 * 1024
BODY_SECONDS = 30.0
_CLOSE = ((b"connection", b"close"),)  # the rest of the body is not read
_WITHOUT_BODY = {"GET", "HEAD", "OPTIONS"}


class HttpGuard:
    """ASGI middleware that checks the token, `Host`, `Origin`, size and duration of a request.

    A web page in a browser can send requests to this machine and, by DNS rebinding, read the answers. So a name in
    `Host` must be a known name of this server (addresses cannot be rebound), and `Origin` must be the server's own. If
    there are tokens, a request without a valid token is refused before the application sees the request. The body is
    read completely before the application is called (`BodyGuard`).

    `hosts` are names of this server, in addition to `localhost` and all addresses. `tokens` are the accepted bearer
    tokens; if `tokens` is empty, no token is required. The scope has the digest of the received token under `BEARER`.
    If `max_body_bytes` is None, bodies are left to the application.
    """

    def __init__(
        self,
        app: App,
        *,
        tokens: Collection[str] = (),
        hosts: Collection[str] = (),
        max_body_bytes: int | None = MAX_BODY_BYTES,
        body_seconds: float = BODY_SECONDS,
        error_body: ErrorBody = plain_error,
    ) -> None:
        self._error_body = error_body
        self._app = app if max_body_bytes is None else BodyGuard(app, max_body_bytes, body_seconds, error_body)
        self._tokens = tuple(_digest(token) for token in tokens)
        self._hosts = {"localhost", *(host.casefold() for host in hosts)}

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Refuse the request, or pass it on."""
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        scope[BEARER] = self._bearer(headers.get("authorization", ""))
        if (refusal := self._refusal(scope, headers)) is not None:
            await self._refuse(send, *refusal)
            return
        await self._app(scope, receive, send)

    def _refusal(self, scope: Mapping[str, Any], headers: Mapping[str, str]) -> tuple[int, str] | None:
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self._is_known(host):
            return 421, "unknown name in Host; start the server with --allow-host NAME to allow a name"
        if origin is not None and urlsplit(origin).netloc.casefold() != host.casefold():
            return 403, "requests from pages of other origins are refused"
        if self._tokens and not scope[BEARER]:
            return 401, "a token is required; send it as Authorization: Bearer TOKEN"
        return None

    async def _refuse(self, send: Send, status: int, message: str) -> None:
        further = ((b"www-authenticate", b"Bearer"),) if status == HTTPStatus.UNAUTHORIZED else ()
        await answer(send, status, self._error_body(status, message), further)

    def _is_known(self, host: str) -> bool:
        try:
            name = (urlsplit(f"//{host}").hostname or "").casefold()
            return name in self._hosts or bool(ip_address(name))
        except ValueError:
            return False

    def _bearer(self, authorization: str) -> str:
        """Return the hex digest of the received token; an empty string if the token is not accepted."""
        kind, _, given = authorization.partition(" ")
        # Digests are compared, so that the time taken reveals neither the length of a token nor its first characters.
        shown = _digest(given.strip())
        known = [hmac.compare_digest(shown, token) for token in self._tokens]
        return shown.hex() if kind.casefold() == "bearer" and any(known) else ""


class BodyGuard:
    """ASGI middleware that reads the body completely before it calls the application, within `most` bytes and a time.

    The body of GET, HEAD and OPTIONS is left out.
    """

    def __init__(
        self, app: App, most: int = MAX_BODY_BYTES, seconds: float = BODY_SECONDS, error_body: ErrorBody = plain_error
    ) -> None:
        self._app, self._most, self._seconds, self._error_body = app, most, seconds, error_body

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Refuse the request, or pass it on."""
        body: bytes | None = b""
        if scope["method"] not in _WITHOUT_BODY:
            try:
                with anyio.move_on_after(self._seconds) as reading:
                    body = await self._body(scope, receive)
            except ConnectionAbortedError:
                return  # nobody waits for an answer, and a part of a body must not be taken for the whole
            if reading.cancelled_caught:
                await self._refuse(send, 408, f"the request was not complete within {self._seconds:g} s")
                return
        if body is None:
            await self._refuse(send, 413, f"the request is larger than {self._most} bytes")
            return
        await self._app(scope, _replayed(body, receive), send)

    async def _refuse(self, send: Send, status: int, message: str) -> None:
        await answer(send, status, self._error_body(status, message), _CLOSE)

    async def _body(self, scope: Mapping[str, Any], receive: Receive) -> bytes | None:
        declared = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"content-length"), "")
        if declared.isdecimal() and (len(declared) > len(str(self._most)) or int(declared) > self._most):
            return None
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ConnectionAbortedError
            body += message.get("body", b"")
            if len(body) > self._most:
                return None
            if not message.get("more_body", False):
                return bytes(body)


def _replayed(body: bytes, receive: Receive) -> Receive:
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()
