"""Delivers the events of a session to store, observers, streams and callback.

An event gets a number and, if the session keeps events, is written to the store. Streams and the callback receive it
through bounded backlogs of their own and never block the session. A reader that is too slow loses the oldest events and
is told the number lost. Observers see the event in the task that caused it, and the session waits for them. Failures
are logged to `prowess.events` and otherwise ignored. If there are no listeners, no events are created.
"""

from __future__ import annotations

import threading
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol
from weakref import ref

import anyio
from anyio import to_thread
from msgspec.structs import replace

from prowess._internal.text.terminal_text import json_text
from prowess.errors import InvalidArgumentsError
from prowess.runtime.events.event import KINDS, SessionClosed, SessionEvent, bounded, moment, text
from prowess.runtime.events.stream import MAX_WAITING, EventBacklog, KeptStream, LiveStream, kept_events
from prowess.tools.script_audit import run_facts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from prowess.execution import ExecResult
    from prowess.runtime.events.stream import EventStream
    from prowess.runtime.scripts import SkillPrograms
    from prowess.runtime.state import ActiveSkill
    from prowess.store import EventStore
    from prowess.tools.call_audit import AuditRecorder

_END_SECONDS = 1.0  # a callback that takes longer loses the waiting events when the session ends
_NO_CONTENT: Mapping[str, object] = {}


class EventObserver(Protocol):
    """Sees each event in the task that causes it. The session waits until the observer returns.

    For code that must run at exactly this point, such as tracing. In all other cases, use a stream or a callback.
    """

    async def observe(self, event: SessionEvent, content: Mapping[str, object]) -> None:
        """Handle one event; exceptions are only logged.

        `content` holds the `arguments` of `tool.started` or the `result` of `tool.finished`, else it is empty.
        """


class Events:
    """The events of one session; `keep` of them stay in `store`, 0 for none.

    With `is_own=False`, `callback` belongs to another session and is not stopped when this one ends.
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
        self._order = anyio.Lock()  # delivers live events in the order of their numbers
        self._sequence = 0
        self._reported: set[int] = set()  # ids of objects whose failure was logged already
        self.closed = False
        self.wanted = False  # maintained by `_look`, because it is read several times per call
        self._look()

    def child(self, session_id: str) -> Events:
        """Return the events of a fork: numbered separately, with the same store, observers and callback."""
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
        """Return a stream of later events, preceded by the kept events after number `since` if `since` is given.

        `seconds` is the timeout without events after which the stream ends; None means no timeout.

        Raises:
            InvalidArgumentsError: `since` is given, but the session keeps no events.
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
        """Return at most `limit` kept events after number `since`, from all processes that share the store.

        Raise InvalidArgumentsError if the session keeps none, StoreError if the store cannot be read.
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
        """Create an event of class `made` and deliver it. Raises no exceptions except cancellation."""
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
            except Exception as fault:  # noqa: BLE001 -- a failing observer must not stop the session
                self._report_once(observer, f"an observer of events failed at {event.kind}", fault)

    async def tell_record(self, kind: str, call_id: str, skill: ActiveSkill, data: Mapping[str, object]) -> None:
        """Deliver the event of the same kind as an audit record, with those fields of `data` that the event has."""
        if self.wanted:
            made = KINDS[kind]
            own = set(made.__struct_fields__) - set(SessionEvent.__struct_fields__)
            known: dict[str, Any] = {name: value for name, value in data.items() if name in own}
            await self.tell(made, call_id, skill, **known)

    async def end(self) -> None:
        """Deliver `session.closed` once, and give the callback one second to handle waiting events."""
        if self.closed:
            return
        await self.tell(SessionClosed, None)
        if self._callback is not None and self._is_own:
            await to_thread.run_sync(self._callback.drain, _END_SECONDS)
            self._callback.stop()

    def stop(self) -> None:
        """Let the callback's thread end after the waiting events. For a session dropped without being closed."""
        if self._callback is not None:
            self._callback.stop()

    def drain(self, seconds: float | None) -> bool:
        """Wait until the callback has handled all events so far. Return False after `seconds`. Blocks."""
        return self._callback is None or self._callback.drain(seconds)

    async def _kept(self, store: EventStore, event: SessionEvent) -> SessionEvent:
        body = {name: value for name, value in event.as_dict().items() if name not in {"sequence", "message"}}
        try:
            sequence = await store.append_event(
                self.session_id, json_text(body), at=event.at.timestamp(), keep=self._keep
            )
        except Exception as fault:  # noqa: BLE001 -- a failing store loses events, but must not stop the session
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
    """Writes the audit records of a session, and delivers events of the same kinds."""

    def __init__(self, recorder: AuditRecorder, events: Events) -> None:
        self._recorder, self.events = recorder, events

    @property
    def wanted(self) -> bool:
        """Whether an audit log is in use, or events have a listener."""
        return self._recorder.has_log or self.events.wanted

    @property
    def has_log(self) -> bool:
        """Whether an audit log is in use."""
        return self._recorder.has_log

    async def record(self, kind: str, call_id: str, data: Mapping[str, object]) -> None:
        """Write a record to the audit log, if there is one. Raises AuditError if writing fails."""
        await self._recorder.record(kind, call_id, data)

    async def of_run(
        self,
        programs: SkillPrograms,
        command: Sequence[str],
        done: ExecResult,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> Mapping[str, object]:
        """Return the facts about a program that has ended, for its record. Values of `environment` count as secrets."""
        if not self.has_log:
            return {"exit_code": done.exit_code}
        secrets = (environment or programs.rules.environment({})).values()
        return await to_thread.run_sync(run_facts, programs.policy.now(), command, done, secrets)

    async def record_and_tell(self, kind: str, call_id: str, skill: ActiveSkill, data: Mapping[str, object]) -> None:
        """Write a record as `record` does, then deliver the event of the same kind."""
        await self._recorder.record(kind, call_id, data)
        await self.events.tell_record(kind, call_id, skill, data)


def report(what: str, fault: BaseException) -> None:
    """Log that a listener or the event store failed."""
    import logging  # imported here: only sessions with failures pay for it

    logging.getLogger("prowess.events").warning("%s (%s)", what, type(fault).__name__, exc_info=fault)


_NOT_KEPT = "this session keeps no events: open it with keep_events, or follow it without since"


class EventCallback:
    """Calls `function`, the host's callback, with one event at a time in a thread of its own.

    The session never waits for it. The first exception is passed to `failed` with a message; later ones are only
    counted. After an exception, the callback still gets the next event. The thread starts with the first event and does
    not keep the program alive.
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
        """Add an event. Never waits for the callback."""
        with self._changed:
            if self._stopped:
                return
            self._backlog.put(event)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="prowess-events", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def drain(self, seconds: float | None) -> bool:
        """Wait until every event so far is handled. Return False after `seconds`, or if the callback calls this."""
        with self._changed:
            if threading.current_thread() is self._thread:  # the callback would wait for itself
                return False
            return self._changed.wait_for(lambda: not self._busy and not len(self._backlog), seconds)

    def stop(self) -> None:
        """End the thread after the waiting events."""
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
            except BaseException as fault:  # noqa: BLE001 -- a failing callback must not stop the thread
                self.failures += 1
                if self.failures == 1:
                    self._failed(
                        f"on_event failed at {event.kind}; its later failures are counted but not logged", fault
                    )
            finally:
                with self._changed:
                    self._busy = False
                    self._changed.notify_all()
