"""The calls of one message, one after another, in the order of the model, whatever thread is quicker.

A framework starts them all at once. Each waits until those before it have ended, as far as they have begun; one that
somebody else answers never begins, so for a beginning nobody waits long.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_SECONDS_TO_BEGIN = 1.0


class CallOrder:
    """Orders calls by their ids. Safe to use from several threads, which is what it is for."""

    def __init__(self, seconds_to_begin: float = _SECONDS_TO_BEGIN) -> None:
        self._seconds = seconds_to_begin
        self._changed = threading.Condition()
        self._begun: set[str] = set()
        self._ended: set[str] = set()

    @contextmanager
    def turn(self, call_id: str, before: Collection[str]) -> Iterator[None]:
        """Wait for the calls `before` this one, then let it run."""
        with self._changed:
            self._begun.add(call_id)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._begun.issuperset(before), timeout=self._seconds)
            awaited = self._begun.intersection(before)
            self._changed.wait_for(lambda: self._ended.issuperset(awaited))
        try:
            yield
        finally:
            with self._changed:
                self._ended.add(call_id)
                self._changed.notify_all()
