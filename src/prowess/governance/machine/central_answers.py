"""Senders of records who wait until the organisation's server has acknowledged them."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.audit.record import AuditRecord

_Sender = TypeVar("_Sender")


class Collector(Protocol):
    """Sends records of the machine's log to the organisation. Its `told` is called, in any thread, after each sending.

    `acknowledged` is the number of the last record that the organisation has. `fault` is why the last sending failed,
    None if it did not.
    """

    told: Callable[[], None]
    acknowledged: int
    fault: str | None

    def wake(self) -> None:
        """Send at once."""


class CentralAnswers(Generic[_Sender]):
    """The senders who wait. `descriptor` becomes readable when some of them may have an answer."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._waiting: list[tuple[_Sender, AuditRecord]] = []
        self.descriptor, self._writer = os.pipe()
        os.set_blocking(self.descriptor, False)
        os.set_blocking(self._writer, False)
        self._lock = threading.Lock()  # the collector's thread must not write to a descriptor that was closed
        self._closed = False
        collector.told = self._told

    def add(self, sender: _Sender, record: AuditRecord) -> None:
        """Let a sender wait for the acknowledgement of a record that is on disk."""
        self._waiting.append((sender, record))
        self._collector.wake()

    def due(self) -> list[tuple[_Sender, AuditRecord, str | None]]:
        """Return the senders who need not wait longer, with their record, and why the organisation has not got it.

        After a failure nobody waits longer: a call that cannot be recorded is refused at once.
        """
        with suppress(BlockingIOError):
            while os.read(self.descriptor, 4096):
                pass
        acknowledged, fault = self._collector.acknowledged, self._collector.fault
        due: list[tuple[_Sender, AuditRecord, str | None]] = []
        waiting: list[tuple[_Sender, AuditRecord]] = []
        for sender, record in self._waiting:
            if record.sequence <= acknowledged:
                due.append((sender, record, None))
            elif fault is not None:
                due.append((sender, record, f"it is on this machine, but not with the organisation: {fault}"))
            else:
                waiting.append((sender, record))
        self._waiting = waiting
        return due

    def close(self) -> None:
        """Forget the senders who wait."""
        with self._lock:
            self._closed = True
            os.close(self._writer)
            os.close(self.descriptor)

    def _told(self) -> None:
        with self._lock, suppress(BlockingIOError):
            if not self._closed:
                os.write(self._writer, b".")
