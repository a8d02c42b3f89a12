"""Makes git repositories for tests, and serves them over HTTP by git's own program."""

from __future__ import annotations

import base64
import os
import subprocess
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.com",
}


def git(repository: Path, *arguments: str, data: bytes | None = None) -> str:
    command = ["git", "-C", str(repository), *arguments]
    return subprocess.run(command, env=ENVIRONMENT, input=data, check=True, capture_output=True).stdout.decode().strip()


def new_repository(place: Path, *options: str) -> Path:
    place.mkdir(parents=True)
    git(place, "init", "-q", "-b", "main", *options)
    return place


def commit(repository: Path, files: dict[str, str | bytes | None], tag: str | None = None) -> str:
    """Write (or with None delete) files, commit them, and return the commit."""
    for path, content in files.items():
        place = repository / path
        if content is None:
            place.unlink()
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "--allow-empty", "-m", "change")
    if tag is not None:
        git(repository, "tag", tag)
    return git(repository, "rev-parse", "HEAD")


def skill(name: str, text: str = "Do it.", version: str | None = None) -> str:
    extra = "" if version is None else f'metadata:\n  version: "{version}"\n'
    return f"---\nname: {name}\ndescription: Does {name}.\n{extra}---\n{text}\n"


@contextmanager
def served(
    root: Path, *, password: str | None = None, redirect: str = "", renamed: tuple[str, str] | None = None
) -> Iterator[tuple[str, list[str]]]:
    """Serve the repositories below `root` with `git http-backend`. Yields the address and the requested paths.

    `redirect` is another address to which every request is redirected, `renamed` the old and new path of a repository.
    """
    requests: list[str] = []
    expected = None if password is None else "Basic " + base64.b64encode(f"user:{password}".encode()).decode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requests.append(self.path)
            if redirect or (renamed is not None and self.path.startswith(renamed[0])):
                self.send_response(302)
                self.send_header("Location", redirect + (self.path.replace(*renamed) if renamed else self.path))
                self.end_headers()
                return
            if expected is not None and self.headers.get("Authorization") != expected:
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="git"')
                self.end_headers()
                return
            path, _, query = self.path.partition("?")
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            environ = {
                **ENVIRONMENT,
                "GIT_PROJECT_ROOT": str(root),
                "GIT_HTTP_EXPORT_ALL": "1",
                "REQUEST_METHOD": self.command,
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            }
            out = subprocess.run(
                ["git", "http-backend"], env=environ, input=body, capture_output=True, check=False
            ).stdout
            head, _, content = out.partition(b"\r\n\r\n")
            headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
            self.send_response(int(headers.pop("Status", "200 OK").split()[0]))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET  # noqa: N815 -- the name is the library's

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", requests
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
