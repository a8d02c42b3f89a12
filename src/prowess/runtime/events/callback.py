"""A host's callback for events: called in a thread of its own, one event at a time, so that it holds nothing up."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from prowess.runtime.events.backlog import MAX_WAITING, EventBacklog

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.runtime.events.event import SessionEvent


class EventCallback:
    """Hands events to `function` in order.

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
