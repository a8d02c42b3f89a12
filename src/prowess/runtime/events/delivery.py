"""The way of an event from where it happens to whoever wants it; a session never waits for them.

An event is numbered and, where the session keeps events, written to the store; then observers see it, in the task in
which it happens; then it lies ready for streams and for the callback, each with a bounded backlog of its own. Whoever
is too slow is told how much was dropped. What fails on the way is reported to the log `prowess.events` and changes
nothing. While nobody wants events, nothing is made at all.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Protocol
from weakref import ref

import anyio
from anyio import to_thread
from msgspec.structs import replace

from prowess._internal.text.terminal_text import json_text
from prowess.errors import InvalidArgumentsError
from prowess.runtime.events.event import KINDS, SessionClosed, SessionEvent, bounded, moment, text
from prowess.runtime.events.stream import MAX_WAITING, EventBacklog, KeptStream, LiveStream, kept_events

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from prowess.runtime.events.stream import EventStream
    from prowess.runtime.state import ActiveSkill
    from prowess.store import EventStore
    from prowess.tools.call_audit import AuditRecorder

_END_SECONDS = 1.0  # a callback that takes longer loses what waits when the program ends
_NO_CONTENT: Mapping[str, object] = {}


class EventObserver(Protocol):
    """Sees each event in the task in which it happens, and before what follows it: the session waits.

    For programs that must act at that very point, such as tracing. Everybody else takes a stream or a callback.
    """

    async def observe(self, event: SessionEvent, content: Mapping[str, object]) -> None:
        """Look at one event. `content` holds the `arguments` at `tool.started`, the `result` at `tool.finished`.

        What it raises is reported, and nothing else.
        """


class Events:
    """The events of one session.

    `keep` says how many stay in `store`, none for 0; `callback` belongs to another session unless `is_own`.
    """

    def __init__(
        self,
        session_id: str,
        *,
        clock: Callable[[], float],
        store: EventStore | None = None,
        keep: int = 0,
        observers: Iterable[EventObserver] = (),
        callback: EventCallback | None = None,
        is_own: bool = True,
    ) -> None:
        self.session_id, self._clock = session_id, clock
        self._store = store if keep else None
        self._keep = keep
        self._observers = tuple(observers)
        self._callback, self._is_own = callback, is_own
        self._streams: set[ref[EventStream]] = set()
        self._order = anyio.Lock()  # so that live events come in the order of their numbers
        self._sequence = 0
        self._reported: set[int] = set()  # whose failure the log has: one that lasts is told once
        self.closed = False
        self.wanted = False  # kept up to date by `_look`: it is asked several times in every call
        self._look()

    def child(self, session_id: str) -> Events:
        """Return the events of a fork: other numbers, the same store, observers and callback."""
        return Events(
            session_id,
            clock=self._clock,
            store=self._store,
            keep=self._keep,
            observers=self._observers,
            callback=self._callback,
            is_own=False,
        )

    def observe(self, observer: EventObserver) -> None:
        """Add an observer."""
        self._observers = (*self._observers, observer)
        self._look()

    def stream(self, since: int | None, seconds: float | None) -> EventStream:
        """Return a stream of what happens from now on, or of what is kept after number `since` and then goes on.

        Raises:
            InvalidArgumentsError: `since` in a session that keeps no events.
        """
        stream: EventStream
        if self._store is not None:
            stream = KeptStream(self, seconds, self._store, since)
        elif since is not None:
            raise InvalidArgumentsError((_NOT_KEPT,))
        else:
            stream = LiveStream(self, seconds)
        self._streams.add(ref(stream, self._left))
        self._look()
        return stream

    async def replay(self, since: int, limit: int) -> tuple[SessionEvent, ...]:
        """Return at most `limit` of the events after number `since` that are kept, by every process.

        Raises:
            InvalidArgumentsError: this session keeps none.
            StoreError: the store cannot be read.
        """
        if self._store is None:
            raise InvalidArgumentsError((_NOT_KEPT,))
        events, _ = await kept_events(self._store, self.session_id, since, limit)
        return events

    async def tell(
        self,
        made: type[SessionEvent],
        call_id: str | None,
        skill: ActiveSkill | str | None = None,
        *,
        content: Mapping[str, object] = _NO_CONTENT,
        **data: object,
    ) -> None:
        """Let an event happen. Only cancellation raises."""
        if made is SessionClosed:
            self.closed = True
        if not self.wanted:
            return
        if skill is None or isinstance(skill, str):
            name, digest = skill, None
        else:
            name, digest = skill.name, skill.digest or skill.content_digest
        values: dict[str, Any] = {
            field: value if field in made.verbatim else bounded(value) for field, value in data.items()
        }
        event = made(
            session_id=self.session_id,
            sequence=0,
            at=moment(self._clock()),
            call_id=call_id,
            skill=None if name is None else text(name),
            digest=digest,
            **values,
        )
        if self._store is None:
            self._sequence += 1
            event = replace(event, sequence=self._sequence)
            self._publish(event)
        else:
            async with self._order:
                event = await self._kept(self._store, event)
                self._publish(event)
        for observer in self._observers:
            try:
                await observer.observe(event, content)
            except Exception as fault:  # noqa: BLE001 -- whatever it is, the session goes on
                self._report_once(observer, f"an observer of events failed at {event.kind}", fault)

    async def tell_record(self, kind: str, call_id: str, skill: ActiveSkill, data: Mapping[str, object]) -> None:
        """Let the event happen that has the kind of an audit record; of its data it takes what it has a field for."""
        if self.wanted:
            made = KINDS[kind]
            own = set(made.__struct_fields__) - set(SessionEvent.__struct_fields__)
            known: dict[str, Any] = {name: value for name, value in data.items() if name in own}
            await self.tell(made, call_id, skill, **known)

    async def end(self) -> None:
        """Let `session.closed` happen, once, and give the callback a moment for what waits."""
        if self.closed:
            return
        await self.tell(SessionClosed, None)
        if self._callback is not None and self._is_own:
            await to_thread.run_sync(self._callback.drain, _END_SECONDS)
            self._callback.stop()

    def stop(self) -> None:
        """Let the callback's thread end after what waits; for a session that is let go without being closed."""
        if self._callback is not None:
            self._callback.stop()

    def drain(self, seconds: float | None) -> bool:
        """Wait until the callback has seen what happened so far; False where that takes longer. Blocking."""
        return self._callback is None or self._callback.drain(seconds)

    async def _kept(self, store: EventStore, event: SessionEvent) -> SessionEvent:
        body = {name: value for name, value in event.as_dict().items() if name not in {"sequence", "message"}}
        try:
            sequence = await store.append_event(
                self.session_id, json_text(body), at=event.at.timestamp(), keep=self._keep
            )
        except Exception as fault:  # noqa: BLE001 -- a store that fails loses its events and not the session
            self._report_once(store, f"event {event.kind} could not be kept", fault)
            return event
        self._reported.discard(id(store))
        return replace(event, sequence=sequence)

    def _report_once(self, who: object, what: str, fault: Exception) -> None:
        if id(who) not in self._reported:
            self._reported.add(id(who))
            report(what, fault)

    def _publish(self, event: SessionEvent) -> None:
        for stream in [stream for kept in self._streams if (stream := kept()) is not None]:
            stream.put(event)
        if self._callback is not None:
            self._callback.put(event)

    def _left(self, stream: ref[EventStream]) -> None:
        self._streams.discard(stream)
        self._look()

    def _look(self) -> None:
        self.wanted = bool(self._observers or self._streams or self._callback is not None or self._store is not None)


class SessionRecords:
    """Writes the audit records of a session, and lets the events of the same kinds happen."""

    def __init__(self, recorder: AuditRecorder, events: Events) -> None:
        self._recorder, self.events = recorder, events

    @property
    def wanted(self) -> bool:
        """Whether anybody reads them."""
        return self._recorder.has_log or self.events.wanted

    @property
    def has_log(self) -> bool:
        """Whether there is an audit log."""
        return self._recorder.has_log

    async def record(self, kind: str, call_id: str, data: Mapping[str, object]) -> None:
        """Write what happened to the audit log, if there is one; AuditError if that fails."""
        await self._recorder.record(kind, call_id, data)

    async def record_and_tell(self, kind: str, call_id: str, skill: ActiveSkill, data: Mapping[str, object]) -> None:
        """As `record`; then it is an event of the same kind too."""
        await self._recorder.record(kind, call_id, data)
        await self.events.tell_record(kind, call_id, skill, data)


def report(what: str, fault: BaseException) -> None:
    """Tell the host, in its log, that a listener of its own failed."""
    # Imported here, not at the top: a session in which nothing fails does not pay for it.
    import logging

    logging.getLogger("prowess.events").warning("%s (%s)", what, type(fault).__name__, exc_info=fault)


_NOT_KEPT = "this session keeps no events: open it with keep_events, or follow it without since"


class EventCallback:
    """Hands events to `function`, a host's callback, in a thread of its own, one at a time: it holds nothing up.

    What it raises is given to `failed` with the event, the first time; it gets the next event all the same. The thread
    begins with the first event and does not keep the program alive.
    """

    def __init__(
        self,
        function: Callable[[SessionEvent], object],
        failed: Callable[[str, BaseException], None],
        size: int = MAX_WAITING,
    ) -> None:
        self._function, self._failed = function, failed
        self._backlog = EventBacklog(size)
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._busy = self._stopped = False
        self.failures = 0

    def put(self, event: SessionEvent) -> None:
        """Add an event; never waits for the callback."""
        with self._changed:
            if self._stopped:
                return
            self._backlog.put(event)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="prowess-events", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def drain(self, seconds: float | None) -> bool:
        """Wait until every event so far is dealt with; False where that takes longer."""
        with self._changed:
            if threading.current_thread() is self._thread:  # the callback itself waits for nobody
                return False
            return self._changed.wait_for(lambda: not self._busy and not len(self._backlog), seconds)

    def stop(self) -> None:
        """End the thread after what waits."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stopped or len(self._backlog))
                event = self._backlog.take()
                if event is None:
                    return
                self._busy = True
            try:
                self._function(event)
            except BaseException as fault:  # noqa: BLE001 -- whatever it is, the session goes on
                self.failures += 1
                if self.failures == 1:
                    self._failed(f"on_event failed at {event.kind}; its later failures are counted and not told", fault)
            finally:
                with self._changed:
                    self._busy = False
                    self._changed.notify_all()
