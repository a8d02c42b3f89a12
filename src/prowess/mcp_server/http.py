"""The server over streamable HTTP, for several clients at once.

The transport is the SDK's, the server is uvicorn; what is ours is who may come in (`http_guard`) and which session a
request belongs to (`session_table`).
"""

from __future__ import annotations

import socket
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

import anyio
import uvicorn
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from prowess.mcp_server.http_guard import BEARER, MAX_BODY_BYTES, PATH, HttpGuard
from prowess.mcp_server.server import build_server, stop_on_signal
from prowess.mcp_server.session_table import SESSION_HEADER, SessionTable, session_key

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, Iterator, MutableMapping

    from prowess.mcp_server.http_guard import App, Receive, Send

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
            server = _server(app)
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


def _server(app: App) -> _Server:
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
    return _Server(config)


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
