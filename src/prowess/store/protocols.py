"""Protocols of the stores, and their values: rows of sessions and numbered events, both JSON texts."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from msgspec import Struct


class SessionRow(Struct, frozen=True, kw_only=True):
    """`state` is JSON text that the store does not read; `touched_at` is in seconds since the epoch."""

    session_id: str
    version: int
    state: str
    touched_at: float


class SessionStore(Protocol):
    """Keeps rows. Every operation is atomic, also against other processes on the same store.

    Raises:
        StoreError: from every operation, where the store cannot be reached, read or written.
    """

    async def create(self, row: SessionRow) -> bool:
        """Add a row; False, and nothing changes, where the id is taken."""

    async def get(self, session_id: str) -> SessionRow | None:
        """Return the row, or None."""

    async def replace(self, row: SessionRow, *, expected_version: int) -> bool:
        """Put `row` in place of the one with its id if that has `expected_version`; False, unchanged, otherwise."""

    async def touch(self, session_id: str, at: float) -> bool:
        """Move the time of the last touch forward, never back; the version stays. False where the row is gone."""

    async def delete(self, session_id: str) -> bool:
        """Remove the row; False where it is gone already."""

    async def expire(self, before: float) -> list[str]:
        """Remove every row last touched before that time; return their ids in order."""

    async def count(self) -> int:
        """Return the number of rows."""

    async def close(self) -> None:
        """Give up what the store holds open; a second time does nothing, and other operations fail from then on."""


@runtime_checkable
class PeekingStore(Protocol):
    """A store that can tell a row without an event loop, so that a session knows its state when it is made."""

    def peek(self, session_id: str) -> SessionRow | None:
        """Return the row, or None. Blocking, for a moment; nothing is made that is not there.

        Raises:
            StoreError: the store cannot be read.
        """


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
