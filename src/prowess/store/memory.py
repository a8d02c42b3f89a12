"""Session store in the memory of this process."""

from __future__ import annotations

import threading
from collections import deque
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Self

from prowess.errors import StoreError
from prowess.store.protocols import KeptEvent, SessionRow

if TYPE_CHECKING:
    from collections.abc import Iterator

URL = "memory:"


class MemorySessionStore:
    """A `SessionStore` and `EventStore` in dictionaries, safe to share between threads."""

    def __init__(self) -> None:
        self._rows: dict[str, SessionRow] | None = {}
        self._events: dict[str, deque[tuple[float, KeptEvent]]] = {}
        self._lock = threading.Lock()

    async def create(self, row: SessionRow) -> bool:
        """Add a row; return False if the id exists."""
        with self._opened() as rows:
            if row.session_id in rows:
                return False
            rows[row.session_id] = row
            return True

    async def get(self, session_id: str) -> SessionRow | None:
        """Return the row, or None."""
        return self.peek(session_id)

    def peek(self, session_id: str) -> SessionRow | None:
        """Return the row, or None."""
        with self._opened() as rows:
            return rows.get(session_id)

    async def replace(self, row: SessionRow, *, expected_version: int) -> bool:
        """Replace the row if it has `expected_version`; return whether it was replaced."""
        with self._opened() as rows:
            present = rows.get(row.session_id)
            if present is None or present.version != expected_version:
                return False
            rows[row.session_id] = row
            return True

    async def touch(self, session_id: str, at: float) -> bool:
        """Set the time of the last touch to `at`, unless the stored time is later. Return False if there is no row."""
        with self._opened() as rows:
            row = rows.get(session_id)
            if row is None:
                return False
            if at > row.touched_at:
                rows[session_id] = SessionRow(
                    session_id=session_id, version=row.version, state=row.state, touched_at=at
                )
            return True

    async def delete(self, session_id: str) -> bool:
        """Remove the row; return False if there is none."""
        with self._opened() as rows:
            return rows.pop(session_id, None) is not None

    async def expire(self, before: float) -> list[str]:
        """Remove rows last touched before the time `before`, and old events of removed sessions. Return row ids."""
        with self._opened() as rows:
            gone = sorted(row.session_id for row in rows.values() if row.touched_at < before)
            for session_id in gone:
                del rows[session_id]
            for session_id in [name for name, kept in self._events.items() if name not in rows]:
                kept = self._events[session_id]
                while kept and kept[0][0] < before:
                    kept.popleft()
                if not kept:
                    del self._events[session_id]
            return gone

    async def append_event(self, session_id: str, body: str, *, at: float, keep: int) -> int:
        """Append one event and return its number."""
        with self._opened():
            kept = self._events.setdefault(session_id, deque())
            sequence = kept[-1][1].sequence + 1 if kept else 1
            kept.append((at, KeptEvent(sequence=sequence, body=body)))
            while len(kept) > keep:
                kept.popleft()
            return sequence

    async def events_after(self, session_id: str, sequence: int, limit: int) -> list[KeptEvent]:
        """Return the first `limit` events with a number above `sequence`."""
        with self._opened():
            kept = self._events.get(session_id, ())
            return list(islice((event for _, event in kept if event.sequence > sequence), limit))

    async def last_event(self, session_id: str) -> int:
        """Return the highest event number, or 0."""
        with self._opened():
            kept = self._events.get(session_id)
            return kept[-1][1].sequence if kept else 0

    async def count(self) -> int:
        """Return the number of rows."""
        with self._opened() as rows:
            return len(rows)

    async def close(self) -> None:
        """Drop all rows. Later operations raise `StoreError`."""
        self._close()

    def __enter__(self) -> Self:
        """Return the store; `with` and `async with` close it at the end."""
        return self

    def __exit__(self, *failure: object) -> None:
        self._close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: object) -> None:
        self._close()

    def _close(self) -> None:
        with self._lock:
            self._rows = None
            self._events.clear()

    @contextmanager
    def _opened(self) -> Iterator[dict[str, SessionRow]]:
        with self._lock:
            if self._rows is None:
                raise StoreError(URL, "the store is closed")
            yield self._rows
