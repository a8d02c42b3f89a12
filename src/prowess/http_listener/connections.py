"""Limits on open connections: a timeout for the headers of a request, and a maximum per address and in total.

A client that opens connections and sends no request, or half a request, must not block other clients. So the headers of
a request must be complete within ten seconds. If an address has reached its maximum, a new connection replaces a
connection that waits for data from its client. Connections that wait for their first request are closed first, then
those that wait for their next request, then those that wait for the rest of a body. Within each of these groups, the
oldest is closed first. If no connection of the address waits, the new connection is refused. The maximum in total works
in the same way.
"""

from __future__ import annotations

from http import HTTPStatus
from ipaddress import IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING, Any

import h11
from msgspec import Struct
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

    from prowess.http_listener.error_bodies import ErrorBody


class ConnectionLimits(Struct, frozen=True, kw_only=True):
    """Limits of one listener. `an_address` counts an IPv6 /64 network as one address: one client may own all of it."""

    header_seconds: float = 10.0
    an_address: int = 128
    altogether: int = 512


class Connections:
    """The open connections of one listener."""

    def __init__(self, limits: ConnectionLimits, error_body: ErrorBody) -> None:
        self.limits, self.error_body = limits, error_body
        self._open: dict[LimitedConnection, str] = {}  # with their addresses, the oldest first

    def admit(self, connection: LimitedConnection, address: str) -> bool:
        """Register `connection`, closing a waiting one if there are too many. False if `connection` is refused."""
        same = [other for other, theirs in self._open.items() if theirs == address]
        for group, most in ((same, self.limits.an_address), (list(self._open), self.limits.altogether)):
            if len(group) < most:
                continue
            waiting = [other for other in group if other.waits_for is not None]
            if not waiting:
                return False
            # smallest `waits_for` first, then the oldest
            oldest = min(waiting, key=lambda other: other.waits_for or 0)
            self.leave(oldest)
            oldest.refuse(
                HTTPStatus.REQUEST_TIMEOUT, "the connection was waiting for data, and too many connections are open"
            )
        self._open[connection] = address
        return True

    def leave(self, connection: LimitedConnection) -> None:
        """Remove a connection from the count."""
        self._open.pop(connection, None)


class LimitedConnection(H11Protocol):
    """A connection of uvicorn that respects the limits of `connections`."""

    def __init__(self, *arguments: Any, connections: Connections, **keywords: Any) -> None:  # noqa: ANN401 -- uvicorn's signature
        super().__init__(*arguments, **keywords)
        self._connections = connections
        self._deadline: asyncio.TimerHandle | None = None

    @property
    def waits_for(self) -> int | None:
        """The data waited for: 0 the first request, 1 the next request, 2 the rest of a body; None for no data."""
        if self.cycle is None:
            return 0
        if self.cycle.response_complete:
            return 1
        return 2 if self.cycle.more_body and not self.cycle.response_started else None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Register the connection, or refuse it."""
        super().connection_made(transport)
        if self._connections.admit(self, network_of("" if self.client is None else self.client[0])):
            self._expect_headers()
        else:
            self.refuse(HTTPStatus.SERVICE_UNAVAILABLE, "too many connections are open; try again later")

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection from the count."""
        self._connections.leave(self)
        self._headers_are_there()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse received data.

        The timeout for the headers of the first request starts when the connection opens. The timeout of each later
        request starts with the first byte of the request. The timeout ends with the last byte of the headers.
        """
        if self.transport.is_closing():
            return
        if self._deadline is None and self.waits_for in {0, 1}:
            self._expect_headers()
        super().data_received(data)
        if self.waits_for not in {0, 1}:
            self._headers_are_there()

    def send_400_response(self, msg: str) -> None:
        """Refuse a request that is not valid HTTP."""
        self.refuse(HTTPStatus.BAD_REQUEST, msg)

    def refuse(self, status: HTTPStatus, message: str) -> None:
        """Send an error if no response has started, then close the connection."""
        body = self._connections.error_body(status, message)
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        response = h11.Response(
            status_code=status, headers=[*headers, (b"connection", b"close")], reason=status.phrase.encode()
        )
        try:
            for event in (response, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        except h11.LocalProtocolError:
            pass  # a response has already started
        self.transport.close()

    def _expect_headers(self) -> None:
        self._deadline = self.loop.call_later(self._connections.limits.header_seconds, self._too_slow)

    def _headers_are_there(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_slow(self) -> None:
        self._deadline = None
        if not self.transport.is_closing():
            seconds = self._connections.limits.header_seconds
            self.refuse(HTTPStatus.REQUEST_TIMEOUT, f"the headers were not complete within {seconds:g} s")


def network_of(address: str) -> str:
    """Return the key for counting connections: an IPv4 address, or the /64 network of an IPv6 address."""
    try:
        known = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(known, IPv6Address):
        return str(known.ipv4_mapped or ip_network((known, 64), strict=False))
    return str(known)
