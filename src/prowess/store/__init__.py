"""Storage of session rows and events, in memory or in SQLite, and of index rows. Their content is opaque here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.lazy_names import lazy_names

if TYPE_CHECKING:
    from prowess.store.memory import MemorySessionStore, open_store
    from prowess.store.protocols import EventStore, KeptEvent, PeekingStore, SessionRow, SessionStore
    from prowess.store.sqlite import SqliteSessionStore

__all__ = [
    "EventStore",
    "KeptEvent",
    "MemorySessionStore",
    "PeekingStore",
    "SessionRow",
    "SessionStore",
    "SqliteSessionStore",
    "open_store",
]

if not TYPE_CHECKING:  # hidden from type checkers: they would accept any name
    __getattr__ = lazy_names(
        __name__,
        {
            "memory": ("MemorySessionStore", "open_store"),
            "protocols": ("EventStore", "KeptEvent", "PeekingStore", "SessionRow", "SessionStore"),
            "sqlite": ("SqliteSessionStore",),
        },
    )
