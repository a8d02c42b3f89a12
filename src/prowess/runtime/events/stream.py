"""Events one after another, for `async for`: live ones from a bounded backlog, kept ones from the store.

A stream of kept events is a place in the store's order, so it misses nothing that other processes do and nothing while
its reader is busy; only what the store has let go is missing, and that is said. A live stream knows this process alone.
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
    """A bounded queue that lets the oldest event go and says so, emptied by one reader, perhaps in another thread."""

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


_LOOK_SECONDS = 0.25  # how often the store is asked what other processes did
_BATCH = 256


class _Source(Protocol):
    session_id: str
    closed: bool


class EventStream:
    """An async iterator of events, for one reader; it ends with the session. Letting go of it is all it needs.

    With `seconds` it also ends where nothing happens for that long.
    """

    def __init__(self, source: _Source, seconds: float | None) -> None:
        self._source, self._seconds = source, seconds
        self._woken = anyio.Event()
        self._over = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionEvent:
        """Return the next event, as soon as there is one.

        Raises:
            StopAsyncIteration: the session has ended.
            StoreError: the events are kept and cannot be read.
        """
        event = await self.next()
        if event is None:
            raise StopAsyncIteration
        return event

    async def next(self) -> SessionEvent | None:
        """Return the next event, None at the end."""
        with anyio.move_on_after(self._seconds):
            while not self._over:
                # Before the look, so that what comes during the look is not waited for.
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
        """Take an event of this process. Never waits."""
        del event
        self._woken.set()

    async def _next(self) -> SessionEvent | None:
        raise NotImplementedError

    async def _is_last(self, event: SessionEvent) -> bool:
        del event
        return True


class LiveStream(EventStream):
    """What happens from now on, in this process."""

    def __init__(self, source: _Source, seconds: float | None) -> None:
        super().__init__(source, seconds)
        self._backlog = EventBacklog()

    def put(self, event: SessionEvent) -> None:
        """Take an event; where too many wait, the oldest goes."""
        self._backlog.put(event)
        super().put(event)

    async def _next(self) -> SessionEvent | None:
        return self._backlog.take()


class KeptStream(EventStream):
    """What every process that shares the store did, after number `since`; from now on where that is None."""

    def __init__(self, source: _Source, seconds: float | None, store: EventStore, since: int | None) -> None:
        super().__init__(source, seconds)
        self._store, self._at = store, since
        self._ready: deque[SessionEvent] = deque()
        self._first: int | None = None  # the number of the first event of this process after the stream was made

    def put(self, event: SessionEvent) -> None:
        """Note where to begin."""
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
        # A session with a name may have begun again after its end.
        return not self._ready and not await self._store.events_after(event.session_id, event.sequence, 1)


async def kept_events(
    store: EventStore, session_id: str, since: int, limit: int
) -> tuple[tuple[SessionEvent, ...], int]:
    """Return at most `limit` events after number `since`, and the number behind which to go on.

    The first says what is missing, if anything is. Events that cannot be read, of a newer version for example, are
    passed over: an answer without events means that there is none to read.
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
        return None  # of a newer version, or written by nobody of us
