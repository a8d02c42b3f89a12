"""Events of sessions as a store sees them: numbered texts, of which each session keeps the newest."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from msgspec import Struct


class KeptEvent(Struct, frozen=True, kw_only=True):
    """`sequence` counts the events of one session from 1, whoever wrote them; `body` is JSON text."""

    sequence: int
    body: str


@runtime_checkable
class EventStore(Protocol):
    """Keeps the events of sessions in one order, also against other processes on the same store.

    Numbers are given when an event is written and never again while any event of that session is there. Events
    outlive the row of their session, so that its end can be read; `SessionStore.expire` removes those whose session
    is gone and that are older than its time.

    Raises:
        StoreError: from every operation, where the store cannot be reached, read or written.
    """

    async def append_event(self, session_id: str, body: str, *, at: float, keep: int) -> int:
        """Write one event and return its number; about the newest `keep` stay, older ones may go."""

    async def events_after(self, session_id: str, sequence: int, limit: int) -> list[KeptEvent]:
        """Return the first `limit` events with a higher number, in order."""

    async def last_event(self, session_id: str) -> int:
        """Return the highest number given, 0 where the session has no events."""
