"""Sends the log of an enrolled machine to the server of its organisation: in order, durable, resumed after an outage.

The log itself is the queue. `STATE/forwarded.json` has the place up to which the server acknowledged it. If the log
does not have the record that was acknowledged last, the whole log is sent, and the server names what is wrong with it.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode
from msgspec.structs import replace

from prowess._internal.files.atomic_write import write_atomically
from prowess.audit.record import MAX_LINE_BYTES, BadLineError, ChangedRecordError, read_line
from prowess.distribution.machine.client import MachineClient, machine_token
from prowess.distribution.sources.http.client import HttpLimits
from prowess.errors import SkillError
from prowess.governance.machine.collected_log import LogPlace
from prowess.governance.machine.reports import MOST_RECORDS, SentRecords

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.governance.machine.reports import MachineReport

PLACE_FILE = "forwarded.json"
_LIMITS = HttpLimits(connect=3.0, idle=6.0, total=8.0)  # less than sessions wait
_MOST_BYTES = 1_000_000  # of the lines of one sending, unless one alone is longer
_HEARTBEAT = 20.0  # seconds
_READABLE = 0o644


class ForwardedPlace(Struct, frozen=True, kw_only=True):
    """The content of `forwarded.json`: the place in the log, and the offset in bytes behind it."""

    offset: int = 0
    place: LogPlace = LogPlace()


class _Batch(Struct, frozen=True, kw_only=True):
    """Lines of the log from one offset on, and the offset behind them.

    `is_end`: nothing follows at present. `is_damaged`: a line is no record, so the server alone knows the place.
    """

    lines: tuple[str, ...]
    offset: int
    last: LogPlace
    is_end: bool
    is_damaged: bool


class RecordForwarder:
    """Sends new records of the log at `path` every `seconds`, or at once after `wake`, in a thread.

    `report` returns the present report of the machine; it goes with each sending, and alone if it changed. The number
    of the last record that the server has is `acknowledged`; `fault` is why the last sending failed, else None, and
    `remember` gets it. `told` is called in the thread after each sending.
    """

    def __init__(
        self,
        url: str,
        *,
        path: str,
        state: str,
        seconds: float,
        report: Callable[[], MachineReport],
        remember: Callable[[str | None], None],
    ) -> None:
        self.acknowledged = 0
        self.fault: str | None = None
        self.told: Callable[[], None] = lambda: None
        self._path, self._kept = path, os.path.join(state, PLACE_FILE)
        self._client = MachineClient(url, limits=_LIMITS)
        self._report, self._remember, self._seconds = report, remember, seconds
        self._is_woken, self._ended = threading.Event(), False
        self._position: ForwardedPlace | None = None  # None before the server was asked
        self._reported: MachineReport | None = None
        self._next_heartbeat = 0.0
        self._thread = threading.Thread(target=self._run, name="prowess-forwarding", daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def wake(self) -> None:
        """Send at once: somebody waits for an acknowledgement."""
        self._is_woken.set()

    def close(self) -> None:
        """Send what is there, if the server answers, and end the thread."""
        self._ended = True
        self._is_woken.set()
        self._thread.join(2 * _LIMITS.total)
        self._client.close()

    def _run(self) -> None:
        while True:
            self._look()
            if self._ended:
                return
            self._is_woken.wait(self._seconds)
            self._is_woken.clear()

    def _look(self) -> None:
        try:
            while self._send():
                self.told()
        except (SkillError, OSError) as fault:
            self.fault = str(fault)
            self._position = None  # the server is asked again: it may have the records all the same
        else:
            self.fault = None
        self._remember(self.fault)
        self.told()

    def _send(self) -> bool:
        """Send once, if there is something to tell. Return whether more records wait."""
        report = self._report()
        if self._position is None:
            self._position = self._found(self._answered(report, SentRecords(machine=report)))
        batch = self._batch(self._position)
        if not (batch.lines or batch.offset < self._position.offset or self._must_tell(report)):
            return False
        end = batch.last if batch.is_end else None
        place = self._answered(report, SentRecords(machine=self._changed(report), records=batch.lines, end=end))
        if place == batch.last or batch.is_damaged:
            self._position = ForwardedPlace(offset=batch.offset, place=place)
            write_atomically(self._kept, encode(self._position), _READABLE, sync=False)
        else:
            self._position = self._found(place)
        return not batch.is_end

    def _answered(self, report: MachineReport, sent: SentRecords) -> LogPlace:
        self._client.token = machine_token()
        place = self._client.send(sent).acknowledged
        self._reported, self._next_heartbeat = report, time.monotonic() + _HEARTBEAT
        self.acknowledged = place.sequence
        return place

    def _must_tell(self, report: MachineReport) -> bool:
        return report != self._reported or time.monotonic() >= self._next_heartbeat

    def _changed(self, report: MachineReport) -> MachineReport:
        """Return the report without an inventory that the server has."""
        before = self._reported
        is_same = before is not None and before.inventory == report.inventory
        return replace(report, inventory=None) if is_same else report

    def _found(self, place: LogPlace) -> ForwardedPlace:
        """Return where to go on after a place that the server acknowledged; the start if the log does not have it."""
        with suppress(OSError, DecodeError), open(self._kept, "rb") as file:
            known = decode(file.read(), type=ForwardedPlace)
            if known.place == place and known.offset <= self._size():
                return known
        offset = 0
        if place.sequence:
            with suppress(FileNotFoundError), open(self._path, "rb") as log:
                while line := log.readline(MAX_LINE_BYTES + 1):
                    offset += len(line)
                    if _place_of(line) == place:
                        return ForwardedPlace(offset=offset, place=place)
        return ForwardedPlace()

    def _batch(self, position: ForwardedPlace) -> _Batch:
        """Return the next lines; from the start if the log is shorter than the position, or does not continue it."""
        batch = self._read(position)
        if position.offset and (self._size() < position.offset or not self._continues(batch, position)):
            return self._read(ForwardedPlace())
        return batch

    def _continues(self, batch: _Batch, position: ForwardedPlace) -> bool:
        """Whether the first line follows the record at the position. A damaged line is for the server to name."""
        if not batch.lines or position.place.hash is None:
            return True
        try:
            return read_line(batch.lines[0].encode("utf-8", "surrogateescape")).previous == position.place.hash
        except (BadLineError, ChangedRecordError):
            return True

    def _read(self, position: ForwardedPlace) -> _Batch:
        lines: list[bytes] = []
        offset, size, last = position.offset, 0, position.place
        is_end, is_damaged = True, False
        with suppress(FileNotFoundError), open(self._path, "rb") as log:
            log.seek(offset)
            while (line := log.readline(MAX_LINE_BYTES + 1)).endswith(b"\n"):
                if len(lines) == MOST_RECORDS or (lines and size + len(line) > _MOST_BYTES):
                    is_end = False
                    break
                lines.append(line[:-1])
                size += len(line)
                offset += len(line)
                place = _place_of(line)
                last, is_damaged = place or last, is_damaged or place is None
        texts = tuple(line.decode("utf-8", "replace") for line in lines)
        return _Batch(lines=texts, offset=offset, last=last, is_end=is_end, is_damaged=is_damaged)

    def _size(self) -> int:
        try:
            return os.stat(self._path).st_size
        except FileNotFoundError:
            return 0


def _place_of(line: bytes) -> LogPlace | None:
    """Return the place behind a line; None if it is no record of a log."""
    try:
        record = read_line(line)
    except (BadLineError, ChangedRecordError):
        return None
    return LogPlace(sequence=record.sequence, hash=record.hash)
