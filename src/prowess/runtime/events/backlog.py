"""Events that wait for one reader: a bounded queue that lets the oldest go and says so."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

from prowess.runtime.events.event import EventsDropped

if TYPE_CHECKING:
    from prowess.runtime.events.event import SessionEvent

MAX_WAITING = 1024


class EventBacklog:
    """Filled by a session and emptied by a reader, who may live in another thread."""

    def __init__(self, size: int = MAX_WAITING) -> None:
        self._waiting: deque[SessionEvent] = deque()
        self._size, self._dropped = size, 0
        self._last: SessionEvent | None = None
        self._lock = threading.Lock()

    def put(self, event: SessionEvent) -> None:
        """Add an event; never waits."""
        with self._lock:
            if len(self._waiting) == self._size:
                self._last = self._waiting.popleft()
                self._dropped += 1
            self._waiting.append(event)

    def take(self) -> SessionEvent | None:
        """Return the oldest event, or first how many before it are gone; None where none waits."""
        with self._lock:
            if self._last is not None:
                last, count = self._last, self._dropped
                self._last, self._dropped = None, 0
                return EventsDropped(session_id=last.session_id, sequence=last.sequence, at=last.at, count=count)
            return self._waiting.popleft() if self._waiting else None

    def __len__(self) -> int:
        with self._lock:
            return len(self._waiting) + (self._last is not None)
