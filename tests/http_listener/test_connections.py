"""Real sockets: half-open connections, slow ones, too many of one address, and who must be answered meanwhile."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from prowess.http_listener.connections import ConnectionLimits, network_of
from prowess.http_listener.error_bodies import answer
from prowess.http_listener.listener import HttpListener, bound
from prowess.http_listener.request_guard import BodyGuard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, MutableMapping

REQUEST = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"
HALVES = [b"", b"G", b"GET / HTTP/1.1\r\nHost: he", b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 9\r\n\r\nhalf"]


async def application(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:  # noqa: ANN401 -- ASGI
    """Read the whole request; hold an answer back for as long as its path tells."""
    while (await receive()).get("more_body", False):
        pass
    if scope["path"] == "/slow":
        await anyio.sleep(2)
    await answer(send, 200, b'"here"')


@contextmanager
def serving(limits: ConnectionLimits | None = None, app: Callable[..., Any] = application) -> Iterator[int]:
    """Serve in a thread, and give the port."""
    listener_socket = bound("127.0.0.1", 0)
    listener = HttpListener(app, listener_socket, limits=limits)
    thread = threading.Thread(target=anyio.run, args=(listener.run,))
    thread.start()
    try:
        yield listener_socket.getsockname()[1]
    finally:
        listener.stop()
        thread.join(20)
        listener_socket.close()
    assert not thread.is_alive()


def connected(port: int, address: str = "127.0.0.1") -> socket.socket:
    """Return a connection that comes from `address`."""
    return socket.create_connection(("127.0.0.1", port), timeout=20, source_address=(address, 0))


def answered(port: int, request: bytes = REQUEST) -> bytes:
    """Return the status line of an answer on a new connection."""
    with connected(port) as client:
        client.sendall(request)
        return client.recv(4096).partition(b"\r\n")[0]


def until_closed(client: socket.socket) -> bytes:
    """Return what comes until the other side closes."""
    found = b""
    try:
        while data := client.recv(4096):
            found += data
    except ConnectionResetError:
        pass
    return found


@pytest.mark.proves("runtime.mcp.half-open")
@pytest.mark.parametrize("half", HALVES)
def test_three_hundred_half_open_connections_stop_nobody(half: bytes) -> None:
    with serving() as port, ExitStack() as opened:
        kept = opened.enter_context(connected(port))
        kept.sendall(REQUEST)
        assert b"200 OK" in kept.recv(4096)
        for _ in range(300):
            opened.enter_context(connected(port)).sendall(half)
        for _ in range(5):
            assert answered(port) == b"HTTP/1.1 200 OK"


@pytest.mark.proves("runtime.mcp.half-open")
@pytest.mark.parametrize("half", HALVES[:3])
def test_a_connection_without_complete_headers_is_closed_in_time(half: bytes) -> None:
    with serving(ConnectionLimits(header_seconds=0.5)) as port, connected(port) as client:
        begun = time.monotonic()
        client.sendall(half)
        told = until_closed(client)
        assert 0.4 < time.monotonic() - begun < 15
        assert told.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
        assert told.endswith(b'{"error": "the headers were not complete within 0.5 s"}')
        assert answered(port) == b"HTTP/1.1 200 OK"


def test_bytes_now_and_then_win_no_time_neither_for_the_first_request_nor_for_the_next() -> None:
    with serving(ConnectionLimits(header_seconds=1)) as port:
        for before in (b"", REQUEST):
            with connected(port) as client:
                client.sendall(before)
                if before:
                    assert b"200 OK" in client.recv(4096)
                client.settimeout(0.05)
                begun = time.monotonic()
                told = b""
                while not told and time.monotonic() - begun < 15:
                    try:
                        client.sendall(b"G")
                        told = client.recv(4096)
                    except TimeoutError:
                        continue
                    except OSError:  # closed
                        break
                assert time.monotonic() - begun < 15


def test_the_time_for_headers_is_over_when_they_are_complete() -> None:
    with serving(ConnectionLimits(header_seconds=0.5)) as port:
        assert answered(port, b"GET /slow HTTP/1.1\r\nHost: here\r\n\r\n") == b"HTTP/1.1 200 OK"
        with connected(port) as client:
            client.sendall(b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 8\r\n\r\nhalf")
            time.sleep(1)
            client.sendall(b"half")
            assert client.recv(4096).startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize(
    ("address", "group"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
    ],
)
def test_connections_are_counted_by_address_and_in_ipv6_by_network(address: str, group: str) -> None:
    assert network_of(address) == group


def test_ten_seconds_are_what_a_listener_gives_by_itself() -> None:
    assert ConnectionLimits().header_seconds == 10


def test_an_address_has_its_number_of_connections_and_others_have_theirs() -> None:
    limits = ConnectionLimits(an_address=3)
    with serving(limits) as port, ExitStack() as opened:
        clients = [opened.enter_context(connected(port)) for _ in range(3)]
        for client in clients:
            client.sendall(b"GET /slow HTTP/1.1\r\nHost: here\r\n\r\n")
        time.sleep(0.5)
        assert answered(port) == b"HTTP/1.1 503 Service Unavailable", "all of them are being answered"
        with connected(port, "127.0.0.2") as other:
            other.sendall(REQUEST)
            assert b"200 OK" in other.recv(4096)
        for client in clients:
            assert b"200 OK" in client.recv(4096)
        assert answered(port) == b"HTTP/1.1 200 OK", "what waits gives way to what comes"


def test_all_addresses_together_have_a_number_too() -> None:
    limits = ConnectionLimits(an_address=3, altogether=4)
    with serving(limits) as port, ExitStack() as opened:
        first = opened.enter_context(connected(port, "127.0.0.2"))
        for address in ("127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.6"):
            opened.enter_context(connected(port, address))
        assert until_closed(first).startswith(b"HTTP/1.1 408")
        assert answered(port) == b"HTTP/1.1 200 OK"


def test_what_is_no_http_gets_a_short_json_error() -> None:
    with serving() as port, connected(port) as client:
        client.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        told = until_closed(client)
    head, _, body = told.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert b"content-type: application/json" in head
    assert body == b'{"error": "Invalid HTTP request received."}'


def test_a_body_whose_client_has_gone_is_not_taken_for_a_whole_one() -> None:
    called: list[str] = []

    async def noting(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:  # noqa: ANN401 -- ASGI
        called.append(scope["path"])
        await application(scope, receive, send)

    with serving(app=BodyGuard(noting)) as port:
        with connected(port) as client:
            client.sendall(b"POST /half HTTP/1.1\r\nHost: here\r\nContent-Length: 8\r\n\r\nhalf")
            time.sleep(0.2)
        assert (
            answered(port, b"POST /whole HTTP/1.1\r\nHost: here\r\nContent-Length: 4\r\n\r\nhalf") == b"HTTP/1.1 200 OK"
        )
    assert called == ["/whole"]
