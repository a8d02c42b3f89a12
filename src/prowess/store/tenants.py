"""Names of tenants in a shared store, and the forms of its URL."""

from __future__ import annotations

import os
import re
import shlex
from contextlib import closing
from urllib.parse import parse_qsl, quote, urlsplit

DEFAULT = "default"  # made by `prowess admin init`; the only tenant of an SQLite file
EVERY = "*"  # tenant of rows of the whole organisation, and of those who administer it
SQLITE = "sqlite:///"
POSTGRESQL = "postgresql://"
APPLICATION = 0x50575348  # "PWSH": `PRAGMA application_id` of an SQLite file that `prowess admin init` made
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")


def tenant_name_fault(name: str) -> str | None:
    """Return why a tenant cannot have this name, or None."""
    if _NAME.fullmatch(name):
        return None
    return "a tenant's name has up to 64 lower-case letters, digits, and .-_ inside"


def url_fault(url: str) -> str | None:
    """Return why the URL of a store cannot be read, without repeating it, or None."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 -- reading it checks it
    except ValueError:
        return "the URL cannot be read; a shared store is postgresql://USER@HOST:PORT/DATABASE"
    if parts.netloc.count("@") > 1:
        return "the URL has @ twice; write it in a user or a password as %40"
    if any(character < " " for character in url):
        return "the URL has a control character"
    return None


def shown_url(url: str) -> str:
    """Return the URL without user, password and parameters, which may contain a password. The host is kept."""
    if url_fault(url):
        return f"{url.partition(':')[0][:20]}:"
    parts = urlsplit(url)
    host = parts.hostname or dict(parse_qsl(parts.query)).get("host", "")
    port = "" if parts.port is None else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}{parts.path}"


def suggested_url(url: str) -> str:
    """Return the URL for a command that a message suggests: that of a file, else `URL`.

    `shown_url` leaves out parts without which the URL of a database leads elsewhere.
    """
    return shlex.quote(shown_url(url)) if url.startswith(SQLITE) else "URL"


def is_shared(url: str) -> bool:
    """Return whether the URL names a shared store: one in PostgreSQL, or an SQLite file that `admin init` made."""
    if url.startswith(POSTGRESQL):
        return True
    if not url.startswith(SQLITE):
        return False
    import sqlite3  # Imported here because most URLs that are read here name no file.

    # By SQLite, never by `open`: when a process closes a file, the system drops every lock that the process has on it,
    # also those of its open connections. Another process would then remove the log that they write to.
    try:
        path = quote(os.path.abspath(url.removeprefix(SQLITE)))
        with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
            found: int = connection.execute("PRAGMA application_id").fetchone()[0]
    except (sqlite3.Error, OSError, ValueError):
        return False
    return found == APPLICATION
