"""HTTP listener: a socket, a uvicorn server, and limits on connections."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import uvicorn

from prowess.http_listener.connections import ConnectionLimits, Connections, LimitedConnection
from prowess.http_listener.error_bodies import plain_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.http_listener.error_bodies import App, ErrorBody

_SHUTDOWN_SECONDS = 2
_BACKLOG = 512
_PROXIES = ["127.0.0.1", "::1"]  # only they may state the address of a client; not the variable FORWARDED_ALLOW_IPS


class HttpListener:
    """Serves one ASGI application on a socket of `bound` until `stop`.

    `error_body` creates the body of an error from its status and a sentence.
    """

    def __init__(
        self,
        app: App,
        bound: socket.socket,
        *,
        limits: ConnectionLimits | None = None,
        error_body: ErrorBody = plain_error,
    ) -> None:
        self._socket = bound
        connections = Connections(limits or ConnectionLimits(), error_body)
        config = uvicorn.Config(
            cast("Any", app),
            http=cast("Any", partial(LimitedConnection, connections=connections)),
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            forwarded_allow_ips=_PROXIES,
            backlog=_BACKLOG,
            timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        )
        self._server = _Server(config)

    def url(self, host: str, path: str) -> str:
        """Return the URL of `path` at `host` and the port of the socket."""
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self._socket.getsockname()[1]}{path}"

    async def run(self) -> None:
        """Serve until `stop`."""
        await self._server.serve(sockets=[self._socket])

    def stop(self) -> None:
        """Accept no more requests, and let `run` return."""
        self._server.should_exit = True


class _Server(uvicorn.Server):
    """Leaves signals to its caller: uvicorn's handling would end the process before the application is closed."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture no signals."""
        yield


def bound(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raise OSError if the address is not available."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as fault:
        listener.close()
        raise OSError(fault.errno, fault.strerror, f"{host}:{port}") from None
    return listener
