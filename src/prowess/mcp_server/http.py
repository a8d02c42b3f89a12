"""The server over streamable HTTP, for several clients at once.

The transport is the SDK's, the server is uvicorn; what is ours is who may come in (`HttpGuard`) and which session a
request belongs to (`SessionTable`).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import socket
from contextlib import asynccontextmanager, contextmanager
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio
import uvicorn
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from prowess.mcp_server.served_session import BEARER, SESSION_HEADER, SessionTable, session_key
from prowess.mcp_server.server import build_server, stop_on_signal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping, MutableMapping

    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]
    App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

PATH = "/mcp"
MAX_BODY_BYTES = 2 * 1024 * 1024  # arguments of a call may have 1 MiB
BODY_SECONDS = 30.0

_DONE = range(200, 300)
_GRACE_SECONDS = 5.0  # our session outlives that of the protocol, so that no request finds a new one in its place
_CONNECTIONS = 256
_SHUTDOWN_SECONDS = 2


@asynccontextmanager
async def http_app(
    table: SessionTable, *, tokens: Collection[str] = (), hosts: Collection[str] = ()
) -> AsyncIterator[HttpGuard]:
    """Give the ASGI application over these sessions; when it is left, all of them are closed."""
    manager = StreamableHTTPSessionManager(
        build_server(table),
        session_idle_timeout=table.idle_seconds,
        max_request_body_size=MAX_BODY_BYTES,
        max_sessions=table.most,
    )
    table.idle_seconds += _GRACE_SECONDS

    async def counted(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        name = SESSION_HEADER.encode()
        session_id = next((value.decode("latin-1") for key, value in scope["headers"] if key == name), None)
        if scope[BEARER]:  # then the protocol's own sessions are kept to it from their greeting on
            scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=scope[BEARER], scopes=[]))
        answered = 0

        async def told(message: MutableMapping[str, Any]) -> None:
            nonlocal answered
            answered = message.get("status", answered)
            await send(message)

        key = None if session_id is None else session_key(session_id, scope[BEARER])
        with table.request(key):
            await manager.handle_request(scope, receive, told)
        if scope["method"] == "DELETE" and key is not None and answered in _DONE:
            await table.end(key)

    try:
        async with manager.run(), anyio.create_task_group() as tasks:
            tasks.start_soon(table.sweep)
            yield HttpGuard(counted, tokens=tokens, hosts=hosts)
            tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await table.close()


async def serve_http(
    table: SessionTable,
    host: str,
    port: int,
    *,
    tokens: Collection[str] = (),
    hosts: Collection[str] = (),
    ready: Callable[[str], None] | None = None,
) -> int | None:
    """Serve until SIGTERM or SIGINT, and return the signal; `ready` is given the URL once connections are taken.

    Raises:
        OSError: the address cannot be taken.
    """
    with _listening(host, port) as listener:
        stopped_by: list[int] = []
        async with http_app(table, tokens=tokens, hosts=hosts) as app, anyio.create_task_group() as tasks:
            config = uvicorn.Config(
                app,
                lifespan="off",
                ws="none",
                log_config=None,
                access_log=False,
                server_header=False,
                limit_concurrency=_CONNECTIONS,
                timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
            )
            server = _Server(config)
            tasks.start_soon(stop_on_signal, server.stop, stopped_by)
            shown = f"[{host}]" if ":" in host else host
            if ready is not None:
                ready(f"http://{shown}:{listener.getsockname()[1]}{PATH}")
            await server.serve(sockets=[listener])
            tasks.cancel_scope.cancel()
        return stopped_by[0] if stopped_by else None


class _Server(uvicorn.Server):
    """Leaves signals to us: its own handling ends the process before sessions are closed."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield

    def stop(self) -> None:
        """Take no more requests and end."""
        self.should_exit = True


def _listening(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)
    except OSError:
        listener.close()
        raise
    return listener


class HttpGuard:
    """An ASGI application before another one: who may send a request, from where, how large, how slowly.

    A page in a browser can send requests to this machine, and by rebinding a name it can read the answers. So a name in
    `Host` must be one that is known here (addresses cannot be rebound), and an `Origin` must be the server's own. With
    a token, requests without it learn nothing. A body is read whole before anything looks at it, within a size and a
    time.

    `hosts` are names, beside `localhost` and all addresses, under which this server is called; `tokens` are those of
    which a bearer must show one, empty where nobody must. Which one it was stands in the scope, as a digest, under
    `BEARER`.
    """

    def __init__(
        self,
        app: App,
        *,
        tokens: Collection[str] = (),
        hosts: Collection[str] = (),
        max_body_bytes: int = MAX_BODY_BYTES,
        body_seconds: float = BODY_SECONDS,
    ) -> None:
        self._app = app
        self._tokens = tuple(_digest(token) for token in tokens)
        self._hosts = {"localhost", *(host.casefold() for host in hosts)}
        self._most, self._seconds = max_body_bytes, body_seconds

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer, or hand on."""
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        scope[BEARER] = self._bearer(headers.get("authorization", ""))
        if (refusal := self._refusal(scope, headers)) is not None:
            await _answer(send, *refusal)
            return
        body: bytes | None = b""
        if scope["method"] == "POST":
            with anyio.move_on_after(self._seconds) as reading:
                body = await self._body(headers, receive)
            if reading.cancelled_caught:
                await _answer(send, 408, f"the request was not complete within {self._seconds:g} s")
                return
        if body is None:
            await _answer(send, 413, f"the request is larger than {self._most} bytes")
            return
        await self._app(scope, _replayed(body, receive), send)

    def _refusal(self, scope: Mapping[str, Any], headers: Mapping[str, str]) -> tuple[int, str] | None:
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self._is_known(host):
            return 421, "this server is not called so; start it with --allow-host NAME to add a name"
        if origin is not None and urlsplit(origin).netloc.casefold() != host.casefold():
            return 403, "pages of other origins are not served"
        if self._tokens and not scope[BEARER]:
            return 401, "give the token of this server as Authorization: Bearer TOKEN"
        if scope["path"] != PATH:
            return 404, f"MCP is served at {PATH}"
        return None

    def _is_known(self, host: str) -> bool:
        try:
            name = (urlsplit(f"//{host}").hostname or "").casefold()
            return name in self._hosts or bool(ip_address(name))
        except ValueError:
            return False

    def _bearer(self, authorization: str) -> str:
        """Return the digest of the token that was shown, empty where it is none of ours."""
        kind, _, given = authorization.partition(" ")
        # Digests, so that neither the length nor a first character tells anything by the time it takes.
        shown = _digest(given.strip())
        known = [hmac.compare_digest(shown, token) for token in self._tokens]
        return shown.hex() if kind.casefold() == "bearer" and any(known) else ""

    async def _body(self, headers: Mapping[str, str], receive: Receive) -> bytes | None:
        declared = headers.get("content-length", "")
        if declared.isdecimal() and (len(declared) > len(str(self._most)) or int(declared) > self._most):
            return None
        body = bytearray()
        while True:
            message = await receive()
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


async def _answer(send: Send, status: int, message: str) -> None:
    body = json.dumps(
        {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": message}}, allow_nan=False
    ).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:  # noqa: PLR2004 -- the one status with a header of its own
        headers.append((b"www-authenticate", b"Bearer"))
    if status in {408, 413}:
        headers.append((b"connection", b"close"))  # the rest of the body is not read
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()
