"""Where a login leads: a path of this server, never another one."""

from __future__ import annotations

import re
from urllib.parse import quote

HOME = "/"
_MOST = 2000
# Printable ASCII without a backslash, which browsers read as a slash.
_PATH = re.compile(r"/[!-\[\]-~]*")


def next_path(given: str | None) -> str:
    """Return the path that a request names as `next`, or `/` if it is no path of this server."""
    if given is None or len(given) > _MOST or not _PATH.fullmatch(given):
        return HOME
    # Two slashes begin a host.
    return HOME if "//" in given.partition("?")[0] else given


def login_path(path: str, page: str = "/login") -> str:
    """Return the path of the login page that leads back to `path`."""
    wanted = next_path(path)
    return page if wanted == HOME else f"{page}?next={quote(wanted, safe='/')}"
