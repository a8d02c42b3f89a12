"""Rows behind sessions, in memory or in SQLite. Nothing here knows what a session is."""

from __future__ import annotations

from prowess.store.kept_event import EventStore, KeptEvent
from prowess.store.memory import MemorySessionStore
from prowess.store.open_store import open_store
from prowess.store.session_row import InstantStore, SessionRow, SessionStore, instant
from prowess.store.sqlite import SqliteSessionStore

__all__ = [
    "EventStore",
    "InstantStore",
    "KeptEvent",
    "MemorySessionStore",
    "SessionRow",
    "SessionStore",
    "SqliteSessionStore",
    "instant",
    "open_store",
]
