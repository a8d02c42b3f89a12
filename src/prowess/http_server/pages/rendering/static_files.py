"""The stylesheet, the scripts and the icon of the pages. Scripts of other people are kept here with their version."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.requests import Request

STATIC = "/static"
_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
_NAMES = ("style.css", "icon.svg", "htmx-2.0.11.min.js", "htmx-ext-sse-2.2.4.min.js")
_FOR_A_YEAR = {"cache-control": "public, max-age=31536000, immutable"}


@lru_cache(maxsize=1)
def static_files() -> dict[str, tuple[bytes, str]]:
    """Return the contents and the type of each file by its name."""
    folder = files("prowess.http_server") / "static"
    return {name: ((folder / name).read_bytes(), _TYPES[name[name.rindex(".") :]]) for name in _NAMES}


@lru_cache(maxsize=len(_NAMES))
def static_link(name: str) -> str:
    """Return the path of a file. The query changes with the contents, so browsers may keep the file."""
    return f"{STATIC}/{name}?{hashlib.sha256(static_files()[name][0]).hexdigest()[:12]}"


async def static_file(request: Request) -> Response:
    """Return a file of the pages."""
    found = static_files().get(str(request.path_params["name"]))
    if found is None:
        raise HTTPException(404, "There is no such file.")
    body, kind = found
    return Response(body, media_type=kind, headers=_FOR_A_YEAR)
