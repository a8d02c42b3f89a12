"""Serves a registry in a directory over HTTP: what `prowess publish` wrote there, and nothing else.

Any web server can do this; this one is for trying a registry, and for a team on one machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from prowess._internal.files.contained import ContainedRoot
from prowess.errors import UnsafePathError

if TYPE_CHECKING:
    from prowess.http_listener.error_bodies import App, Message, Receive, Send

SERVED = (".well-known/agent-skills/", "metadata/", "targets/")  # index and artifacts, signed metadata and its targets
_TYPES = {".json": b"application/json", ".gz": b"application/gzip", ".zip": b"application/zip"}


def registry_app(directory: str) -> App:
    """Return the ASGI application for a registry in a directory. Links and hidden files are not served."""

    async def serve(scope: Message, receive: Receive, send: Send) -> None:
        del receive
        if scope["type"] != "http":
            return
        head = scope["method"] == "HEAD"
        if scope["method"] not in {"GET", "HEAD"}:
            await _answer(send, 405, b"only GET and HEAD are answered\n", b"text/plain", head=head)
            return
        data = _file(directory, scope["raw_path"] if "raw_path" in scope else scope["path"].encode())
        if data is None:
            await _answer(send, 404, b"not published here\n", b"text/plain", head=head)
            return
        kind = next((media for ending, media in _TYPES.items() if scope["path"].endswith(ending)), None)
        await _answer(send, 200, data, kind or b"application/octet-stream", head=head)

    return serve


def _file(directory: str, raw: bytes) -> bytes | None:
    path = unquote(raw.partition(b"?")[0].decode("ascii", "replace")).lstrip("/")
    below = path.removeprefix(SERVED[0])
    if not path.startswith(SERVED) or any(part.startswith(".") for part in below.split("/")):
        return None
    try:
        with ContainedRoot(directory) as root, root.open(path) as opened:
            return opened.read()
    except (OSError, UnsafePathError, ValueError):
        return None


async def _answer(send: Send, status: int, body: bytes, kind: bytes, *, head: bool) -> None:
    headers: list[Any] = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if head else body})
