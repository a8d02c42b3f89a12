"""Rows behind sessions, in memory or in SQLite. Nothing here knows what a session is."""

from __future__ import annotations

from prowess.store.memory import MemorySessionStore
from prowess.store.open_store import open_store
from prowess.store.protocols import EventStore, KeptEvent, SessionRow, SessionStore
from prowess.store.sqlite import SqliteSessionStore

__all__ = [
    "EventStore",
    "KeptEvent",
    "MemorySessionStore",
    "SessionRow",
    "SessionStore",
    "SqliteSessionStore",
    "open_store",
]
