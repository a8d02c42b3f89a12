"""Opening a store by its URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.errors import StoreError
from prowess.store.memory import MemorySessionStore
from prowess.store.tenants import DEFAULT, EVERY, SQLITE, is_shared, shown_url

if TYPE_CHECKING:
    from prowess.store.shared.sessions import SharedSessionStore
    from prowess.store.sqlite import SqliteSessionStore


def open_store(url: str, *, tenant: str | None = None) -> MemorySessionStore | SqliteSessionStore | SharedSessionStore:
    """Return the store at `url`. The store is opened when it is first used.

    - `memory:` is a new store in this process.
    - `sqlite:///state.db` is a file relative to the working directory; `sqlite:////var/lib/state.db`, with four
      slashes, is a file at an absolute path. If `prowess admin init` made the file, it is a shared store.
    - `postgresql://user@host/database` is the shared store of an organisation. `tenant` is one of its tenants, by
      default `default`.

    Raises:
        StoreError: the URL names no known kind of store, or a store without tenants was given one.
        MissingExtraError: the libraries for a shared store are not installed.
    """
    # Imported here, not at the top, because most sessions are in memory: it imports a kind of store when it is used.
    import prowess.store as kinds

    if is_shared(url):
        if tenant == EVERY:
            raise StoreError(shown_url(url), "sessions belong to one tenant; name it instead of *")
        return kinds.SharedSessionStore(kinds.SharedDatabase(url, DEFAULT if tenant is None else tenant))
    if tenant is not None:
        raise StoreError(shown_url(url), "only a shared store has tenants; leave the tenant out")
    if url == "memory:":
        return MemorySessionStore()
    if url.startswith(SQLITE) and len(url) > len(SQLITE):
        return kinds.SqliteSessionStore(url.removeprefix(SQLITE))
    kind = url.partition(":")[0][:20]  # the rest of the URL may contain a password
    raise StoreError(f"{kind}:", "no such kind of store; use memory:, sqlite:///PATH or postgresql://HOST/DATABASE")
