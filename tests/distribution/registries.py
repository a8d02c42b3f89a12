"""Debian's docker-registry, started for one test on a free port of this machine."""

from __future__ import annotations

import socket
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.counterparts import counterpart

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

USER, PASSWORD = "me", "right-password"
# `htpasswd -nbB me right-password`
HTPASSWD = "me:$2y$05$3WH23uB3aLE8qoVyO4/Aue3uuhWQvjLaGjWlYhHBrFw85hO8X4872\n"

_CONFIGURATION = """
version: 0.1
log: {{level: error}}
storage: {{filesystem: {{rootdirectory: {root}}}, delete: {{enabled: true}}}}
http: {{addr: "127.0.0.1:{port}"}}
"""


@contextmanager
def docker_registry(place: Path, *, with_login: bool = False) -> Iterator[str]:
    """Run the registry and give its `host:port`."""
    program = counterpart("docker-registry") / "usr/bin/docker-registry"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    place.mkdir()
    text = _CONFIGURATION.format(root=place / "blobs", port=port)
    if with_login:
        (place / "htpasswd").write_text(HTPASSWD)
        text += f"auth: {{htpasswd: {{realm: skills, path: {place / 'htpasswd'}}}}}\n"
    (place / "config.yml").write_text(text)
    with (place / "log").open("wb") as log:
        server = subprocess.Popen([program, "serve", place / "config.yml"], stdout=log, stderr=log)
    try:
        _await(port, server)
        yield f"127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


def _await(port: int, server: subprocess.Popen[bytes]) -> None:
    for _ in range(400):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
        except OSError:
            assert server.poll() is None, "the registry ended"
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the registry does not answer")
