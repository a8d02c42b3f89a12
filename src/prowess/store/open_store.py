"""A store by its URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.errors import StoreError
from prowess.store.memory import MemorySessionStore

if TYPE_CHECKING:
    from prowess.store.sqlite import SqliteSessionStore

_SQLITE = "sqlite:///"


def open_store(url: str) -> MemorySessionStore | SqliteSessionStore:
    """Return the store at `url`; nothing is opened before its first use.

    `memory:` is a new store in this process; `sqlite:///state.db` a file relative to the working directory, and
    `sqlite:////var/lib/state.db`, with four slashes, one at an absolute path.

    Raises:
        StoreError: the URL names no kind of store.
    """
    if url == "memory:":
        return MemorySessionStore()
    if url.startswith(_SQLITE) and len(url) > len(_SQLITE):
        # Imported here, not at the top: most sessions are in memory.
        from prowess.store.sqlite import SqliteSessionStore

        return SqliteSessionStore(url.removeprefix(_SQLITE))
    kind = url.partition(":")[0][:20]  # no more of it: the rest may hold a password
    raise StoreError(f"{kind}:", "no such kind of store; use memory: or sqlite:///PATH")
