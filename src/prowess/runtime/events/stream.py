"""Async iterators of events: live events from a bounded backlog, kept events from the store.

A stream of kept events remembers a position in the store. It therefore includes events of other processes, and a slow
reader loses no events that are still kept. Events that the store has deleted are reported by `events.dropped`. A live
stream has the events of this process only.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from typing import TYPE_CHECKING, Protocol, Self

import anyio

from prowess.runtime.events.event import EventsDropped, SessionClosed, SessionEvent, from_dict

if TYPE_CHECKING:
    from prowess.store import EventStore, KeptEvent

MAX_WAITING = 1024


class EventBacklog:
    """A bounded queue for one reader, which may be in another thread. Drops and counts the oldest events when full."""

    def __init__(self, size: int = MAX_WAITING) -> None:
        self._waiting: deque[SessionEvent] = deque()
        self._size, self._dropped = size, 0
        self._last: SessionEvent | None = None
        self._lock = threading.Lock()

    def put(self, event: SessionEvent) -> None:
        """Add an event. Never waits."""
        with self._lock:
            if len(self._waiting) == self._size:
                self._last = self._waiting.popleft()
                self._dropped += 1
            self._waiting.append(event)

    def take(self) -> SessionEvent | None:
        """Remove and return the oldest event; None if the queue is empty. Dropped events are reported first."""
        with self._lock:
            if self._last is not None:
                last, count = self._last, self._dropped
                self._last, self._dropped = None, 0
                return EventsDropped(session_id=last.session_id, sequence=last.sequence, at=last.at, count=count)
            return self._waiting.popleft() if self._waiting else None

    def __len__(self) -> int:
        with self._lock:
            return len(self._waiting) + (self._last is not None)


_LOOK_SECONDS = 0.25  # interval for reading the events of other processes from the store
_BATCH = 256


class _Source(Protocol):
    session_id: str
    closed: bool


class EventStream:
    """Async iterator of events for one reader. Ends with the session, or after `seconds` without an event."""

    def __init__(self, source: _Source, seconds: float | None) -> None:
        self._source, self._seconds = source, seconds
        self._woken = anyio.Event()
        self._over = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionEvent:
        """Return the next event. Raise StoreError if the kept events cannot be read.

        StopAsyncIteration ends the iteration with the session, or after `seconds` without an event.
        """
        event = await self.next()
        if event is None:
            raise StopAsyncIteration
        return event

    async def next(self) -> SessionEvent | None:
        """Wait for the next event and return it; None at the end of the stream."""
        with anyio.move_on_after(self._seconds):
            while not self._over:
                # Reset before looking, so that an event that arrives during the look wakes the stream.
                self._woken = anyio.Event()
                was_closed = self._source.closed
                event = await self._next()
                if event is not None:
                    self._over = isinstance(event, SessionClosed) and await self._is_last(event)
                    return event
                if was_closed:
                    self._over = True
                    break
                with anyio.move_on_after(_LOOK_SECONDS):
                    await self._woken.wait()
        return None

    def put(self, event: SessionEvent) -> None:
        """Accept an event of this process. Never waits."""
        del event
        self._woken.set()

    async def _next(self) -> SessionEvent | None:
        raise NotImplementedError

    async def _is_last(self, event: SessionEvent) -> bool:
        del event
        return True


class LiveStream(EventStream):
    """A stream of the events of this process from now on."""

    def __init__(self, source: _Source, seconds: float | None) -> None:
        super().__init__(source, seconds)
        self._backlog = EventBacklog()

    def put(self, event: SessionEvent) -> None:
        """Accept an event. Drops the oldest one if the backlog is full."""
        self._backlog.put(event)
        super().put(event)

    async def _next(self) -> SessionEvent | None:
        return self._backlog.take()


class KeptStream(EventStream):
    """A stream of the events of all processes that share the store, after number `since`; None means from now on."""

    def __init__(self, source: _Source, seconds: float | None, store: EventStore, since: int | None) -> None:
        super().__init__(source, seconds)
        self._store, self._at = store, since
        self._ready: deque[SessionEvent] = deque()
        self._first: int | None = None  # number of the first event of this process after the stream was created

    def put(self, event: SessionEvent) -> None:
        """Remember the number of the first event, and wake the reader."""
        if self._first is None and event.sequence:
            self._first = event.sequence
        super().put(event)

    async def _next(self) -> SessionEvent | None:
        if not self._ready:
            if self._at is None:
                last = await self._store.last_event(self._source.session_id)
                self._at = last if self._first is None else self._first - 1
            found, self._at = await kept_events(self._store, self._source.session_id, self._at, _BATCH)
            self._ready.extend(found)
        return self._ready.popleft() if self._ready else None

    async def _is_last(self, event: SessionEvent) -> bool:
        # Later events may follow `session.closed`: a session with a fixed identifier can be opened again.
        return not self._ready and not await self._store.events_after(event.session_id, event.sequence, 1)


async def kept_events(
    store: EventStore, session_id: str, since: int, limit: int
) -> tuple[tuple[SessionEvent, ...], int]:
    """Return at most `limit` events after number `since`, and the number to continue after.

    If events are missing, the first returned event is an `EventsDropped`. Unreadable events, such as those of a newer
    version, are skipped. An empty result means that there are no more readable events.
    """
    since, limit = max(since, 0), max(limit, 0)
    rows = await store.events_after(session_id, since, limit)
    missing, before = (rows[0].sequence - since - 1, rows[0].sequence - 1) if rows else (0, since)
    last, events = since, list[SessionEvent]()
    while rows and not events:
        last = rows[-1].sequence
        events = [event for row in rows if (event := _read(row)) is not None]
        if not events:
            rows = await store.events_after(session_id, last, limit)
    if events and missing > 0:
        events.insert(0, EventsDropped(session_id=session_id, sequence=before, at=events[0].at, count=missing))
        if len(events) > limit:
            events.pop()
            last = events[-1].sequence
    return tuple(events), last


def _read(row: KeptEvent) -> SessionEvent | None:
    try:
        return from_dict(json.loads(row.body), row.sequence)
    except (KeyError, TypeError, ValueError):
        return None  # written by a newer version or another program
