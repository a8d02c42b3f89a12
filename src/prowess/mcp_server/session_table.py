"""One session for each client of an HTTP server, opened at its first request and closed when it has gone.

With a handshake revision the protocol names a session, and each has one of ours. The revision 2026-07-28 has none over
HTTP, so a client is whom its requests show: the token, the address they come from, the name that it was set up with
(the header `Prowess-Client`), and the name and version of its program. Those who agree in all of it share a session. A
session ends when its client ends it, or when nobody has used it for a while and no request of it is open.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR

from prowess.mcp_server.served_session import ServedSession

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from mcp.server.context import ServerRequestContext

    from prowess.catalog import Catalog
    from prowess.runtime import SessionOptions

BEARER = "prowess.bearer"  # in the scope
MAX_SESSIONS = 64
IDLE_SECONDS = 1800.0
SESSION_HEADER = "mcp-session-id"
CLIENT_HEADER = "prowess-client"  # what a person lets the host send, so that two of its kind are two
_CLOSING_SECONDS = 2.0


class SessionTable:
    """Sessions by what the protocol knows of a client; `options` are those of `ServedSession`."""

    def __init__(
        self,
        catalog: Catalog,
        options: SessionOptions | None = None,
        *,
        most: int = MAX_SESSIONS,
        idle_seconds: float = IDLE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.most, self.idle_seconds = most, idle_seconds
        self._catalog, self._options, self._clock = catalog, options, clock
        self._sessions: dict[tuple[str, ...], ServedSession] = {}
        self._used: dict[tuple[str, ...], float] = {}
        self._open_requests: dict[tuple[str, ...], int] = {}
        self._instructions = ServedSession(catalog, options).host_instructions()

    @property
    def catalog(self) -> Catalog:
        """The catalog of every session."""
        return self._catalog

    @property
    def instructions(self) -> str | None:
        """What a new connection is told, as of the start of the server."""
        return self._instructions

    async def of(self, context: ServerRequestContext[Any, Any]) -> ServedSession:
        """Return the session of a request.

        Raises:
            MCPError: there are too many sessions.
        """
        key = _key(context)
        if (session := self._sessions.get(key)) is None:
            if len(self._sessions) >= self.most:
                message = f"{len(self._sessions)} sessions are open, as many as this server keeps; try again later"
                raise MCPError(INTERNAL_ERROR, message)
            # No await between the look and this, so two requests of one client cannot open two.
            session = self._sessions[key] = ServedSession(self._catalog, self._options)
        self._used[key] = self._clock()
        return session

    def open(self) -> Iterable[ServedSession]:
        """Return every session that is open."""
        return tuple(self._sessions.values())

    @contextmanager
    def request(self, key: tuple[str, ...] | None) -> Iterator[None]:
        """Keep a session of the protocol from being idle while one of its requests, or its stream, is open.

        `key` is its `session_key`, None where a request names no session.
        """
        if key is None:
            yield
            return
        self._open_requests[key] = self._open_requests.get(key, 0) + 1
        try:
            yield
        finally:
            self._open_requests[key] -= 1
            if not self._open_requests[key]:
                del self._open_requests[key]
            if key in self._used:
                self._used[key] = self._clock()

    async def end(self, key: tuple[str, ...]) -> None:
        """Close what belongs to a session of the protocol that its client has ended; `key` is its `session_key`."""
        await self._close(key)

    async def sweep(self) -> None:
        """Close idle sessions again and again, until cancelled."""
        while True:
            await anyio.sleep(max(0.05, min(self.idle_seconds / 4, 30.0)))
            await self.close_idle()

    async def close_idle(self) -> None:
        """Close the sessions that nobody has used for the time that is allowed."""
        limit = self._clock() - self.idle_seconds
        for key, used in tuple(self._used.items()):
            if used <= limit and key not in self._open_requests:
                await self._close(key)

    async def close(self) -> None:
        """Close every session."""
        for key in tuple(self._sessions):
            await self._close(key)

    async def _close(self, key: tuple[str, ...]) -> None:
        self._used.pop(key, None)
        if (session := self._sessions.pop(key, None)) is not None:
            with anyio.move_on_after(_CLOSING_SECONDS, shield=True):
                await session.close()


def session_key(session_id: str, bearer: str) -> tuple[str, ...]:
    """Return what a session of the protocol is found by: whoever knows its name and shows another token has another."""
    return ("session", bearer, session_id)


def _key(context: ServerRequestContext[Any, Any]) -> tuple[str, ...]:
    request = context.request
    headers = getattr(request, "headers", {})
    if (session_id := headers.get(SESSION_HEADER)) is not None:
        return session_key(session_id, _bearer(context))
    address = getattr(getattr(request, "client", None), "host", "")
    shown = (_bearer(context), address, headers.get(CLIENT_HEADER, ""))
    greeting = context.session.client_params
    program = () if greeting is None else (greeting.client_info.name, greeting.client_info.version)
    return ("client", *shown, *program)


def _bearer(context: ServerRequestContext[Any, Any]) -> str:
    shown: str = getattr(context.request, "scope", {}).get(BEARER, "")
    return shown
