"""A real web server in a thread, for tests: it sends what it was given and keeps what it was asked."""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator, Mapping


class Answer(NamedTuple):
    """An answer. `send` replaces all of it by raw writes to the connection."""

    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    send: Callable[[Callable[[bytes], object]], None] | None = None


class Asked(NamedTuple):
    """A request that was received."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Site:
    """A running server. `answers` may be changed while it runs; `asked` grows."""

    def __init__(self, port: int, scheme: str) -> None:
        self.port = port
        self.url = f"{scheme}://127.0.0.1:{port}"
        self.host = f"127.0.0.1:{port}"
        self.answers: dict[str, Answer | Callable[[Asked], Answer]] = {}
        self.asked: list[Asked] = []

    def paths(self) -> list[str]:
        """Return the paths that were asked for, in order."""
        return [asked.path for asked in self.asked]


@contextmanager
def serving(
    answers: Mapping[str, Answer | Callable[[Asked], Answer]] | None = None, *, tls: ssl.SSLContext | None = None
) -> Iterator[Site]:
    """Serve `answers` by path (a path without query, or with it) on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def answer(self) -> None:
            size = int(self.headers.get("content-length") or 0)
            asked = Asked(self.command, self.path, dict(self.headers.items()), self.rfile.read(size))
            site.asked.append(asked)
            found = site.answers.get(self.path, site.answers.get(self.path.partition("?")[0], Answer(status=404)))
            answer = found(asked) if callable(found) else found
            if answer.send is not None:
                self.close_connection = True
                answer.send(self.wfile.write)
                return
            self.send_response(answer.status)
            for name, value in answer.headers:
                self.send_header(name, value)
            if self.command != "HEAD":
                self.send_header("content-length", str(len(answer.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.body)

        do_GET = do_HEAD = do_POST = do_PUT = answer  # noqa: N815 -- names of http.server

        def log_message(self, *_: object) -> None:
            pass

        def handle(self) -> None:
            with suppress(OSError):  # the client left
                super().handle()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign] # a client may leave during TLS
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    site = Site(server.server_address[1], "http" if tls is None else "https")
    site.answers.update(answers or {})
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
