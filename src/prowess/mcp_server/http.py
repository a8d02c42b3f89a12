"""The MCP server over streamable HTTP, for several clients at once.

The transport is part of the SDK, and the listener is `prowess.http_listener`. This module assigns requests to sessions
(`SessionTable`) and turns errors into JSON-RPC errors.
"""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.types import INVALID_REQUEST

from prowess.http_listener.error_bodies import ShortErrors, answer
from prowess.http_listener.health import Health
from prowess.http_listener.listener import HttpListener, bound
from prowess.http_listener.request_guard import BEARER, MAX_BODY_BYTES, HttpGuard
from prowess.http_listener.stop_signals import stop_on_signal
from prowess.mcp_server.served_session import SESSION_HEADER, SessionTable, session_key
from prowess.mcp_server.server import build_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, MutableMapping

    from prowess.http_listener.error_bodies import App, Message, Receive, Send

PATH = "/mcp"
_DONE = range(200, 300)
# a session is kept this much longer than the protocol's session, so that a late request does not open a new one
_GRACE_SECONDS = 5.0


@asynccontextmanager
async def http_app(
    table: SessionTable, *, tokens: Collection[str] = (), hosts: Collection[str] = ()
) -> AsyncIterator[App]:
    """Context manager for the ASGI application over these sessions; at the end all sessions are closed."""
    manager = StreamableHTTPSessionManager(
        build_server(table),
        session_idle_timeout=table.idle_seconds,
        max_request_body_size=MAX_BODY_BYTES,
        max_sessions=table.most,
    )
    table.idle_seconds += _GRACE_SECONDS

    async def counted(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["path"] != PATH:
            await answer(send, 404, error_body(404, f"MCP is served at {PATH}"))
            return
        name = SESSION_HEADER.encode()
        session_id = next((value.decode("latin-1") for key, value in scope["headers"] if key == name), None)
        if scope[BEARER]:  # from the handshake on, the SDK accepts a protocol session only with this token
            scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=scope[BEARER], scopes=[]))
        answered = 0

        async def send_and_note(message: Message) -> None:
            nonlocal answered
            answered = message.get("status", answered)
            await send(message)

        key = None if session_id is None else session_key(session_id, scope[BEARER])
        with table.request(key):
            await manager.handle_request(scope, receive, send_and_note)
        if scope["method"] == "DELETE" and key is not None and answered in _DONE:
            await table.end(key)

    guard = HttpGuard(ShortErrors(counted, error_body), tokens=tokens, hosts=hosts, error_body=error_body)
    try:
        async with manager.run(), anyio.create_task_group() as tasks:
            tasks.start_soon(table.sweep)
            yield Health(guard, table.hindrance)
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
    """Serve until SIGTERM or SIGINT, and return the signal.

    `ready` is called with the URL when the server accepts connections.

    Raises:
        OSError: the address is not available.
    """
    with bound(host, port) as socket:
        stopped_by: list[int] = []
        async with http_app(table, tokens=tokens, hosts=hosts) as app, anyio.create_task_group() as tasks:
            listener = HttpListener(app, socket, error_body=error_body)
            tasks.start_soon(stop_on_signal, listener.stop, stopped_by)
            if ready is not None:
                ready(listener.url(host, PATH))
            await listener.run()
            tasks.cancel_scope.cancel()
        return stopped_by[0] if stopped_by else None


def error_body(status: int, message: str) -> bytes:
    """Return a JSON-RPC error without an id, for requests whose id is unknown."""
    del status
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": INVALID_REQUEST, "message": message}}
    return json.dumps(error, allow_nan=False).encode()
