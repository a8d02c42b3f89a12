"""The log of a machine as the collector of its organisation follows it: each record must continue the chain.

A record that was sent twice is taken once. Whatever does not continue the chain is taken too, and is a finding: records
of a machine's log that were changed, cut, begun anew or deleted are named, and evidence is never refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, Struct

from prowess.audit.record import BadLineError, ChangedRecordError, read_line, time_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prowess.audit.record import AuditRecord

LogFindingKind = Literal["changed", "cut", "restarted", "gap", "deleted"]
_MOST_KEPT = 20


class LogFinding(Struct, frozen=True, kw_only=True):
    """Something wrong with the log of a machine. `record` is the number of a record in that log; `at` in UTC."""

    kind: LogFindingKind
    message: str
    record: int
    at: str


class LogPlace(Struct, frozen=True, kw_only=True):
    """A place in the chain of a log: after `sequence` records, the last of which has `hash`."""

    sequence: Annotated[int, Meta(ge=0)] = 0
    hash: str | None = None


class CollectedLog(Struct, frozen=True, kw_only=True):
    """How far the log of one machine was collected. `is_unknown`: the record at this place could not be read.

    `findings` are the last ones.
    """

    place: LogPlace = LogPlace()
    is_unknown: bool = False
    findings: tuple[LogFinding, ...] = ()


class Continuation(Struct, frozen=True, kw_only=True):
    """The result of one sending: the records to keep, new findings, and how far the log was collected then."""

    records: tuple[AuditRecord, ...]
    findings: tuple[LogFinding, ...]
    after: CollectedLog


def continued(
    before: CollectedLog, lines: Sequence[str], end: LogPlace | None, is_known: Callable[[AuditRecord], bool]
) -> Continuation:
    """Follow the lines of a machine's log. `end` is the present end of that log, None if the machine did not tell it.

    `is_known` returns whether exactly this record was collected before.
    """
    walk = _Walk(before, is_known)
    for line in _new_lines(before.place, lines):
        walk.take(line)
    if end is not None:
        walk.compare(end)
    findings = tuple(walk.findings)
    kept = (*before.findings, *findings)[-_MOST_KEPT:]
    after = CollectedLog(place=walk.place, is_unknown=walk.is_unknown, findings=kept)
    return Continuation(records=tuple(walk.records), findings=findings, after=after)


def _new_lines(place: LogPlace, lines: Sequence[str]) -> Sequence[str]:
    """Leave out lines that were sent again because the answer was lost: those up to the record that is known."""
    for number, line in enumerate(lines):
        record = _record_of(line)
        if isinstance(record, LogPlace) or record is None or record.sequence > place.sequence:
            return lines
        if (record.sequence, record.hash) == (place.sequence, place.hash):
            return lines[number + 1 :]
    return lines


def _record_of(line: str) -> AuditRecord | LogPlace | None:
    """Return the record of a line; its place alone if its hash does not match; None if it is no record."""
    try:
        return read_line(line.encode("utf-8", "surrogatepass"))
    except ChangedRecordError as fault:
        return LogPlace(sequence=fault.record.sequence, hash=fault.record.hash)
    except BadLineError:
        return None


class _Walk:
    """The lines of one sending, one after the other."""

    def __init__(self, before: CollectedLog, is_known: Callable[[AuditRecord], bool]) -> None:
        self.place, self.is_unknown = before.place, before.is_unknown
        self.records: list[AuditRecord] = []
        self.findings: list[LogFinding] = []
        self._is_known = is_known

    def take(self, line: str) -> None:
        """Take the next line."""
        record, last = _record_of(line), self.place.sequence
        if record is None or isinstance(record, LogPlace):
            number = last + 1 if record is None else record.sequence
            self._find("changed", f"record {number} of the machine's log was changed", number)
            self.place, self.is_unknown = LogPlace(sequence=max(number, last)), True
            return
        self._judge(record)
        self.records.append(record)
        self.place, self.is_unknown = LogPlace(sequence=record.sequence, hash=record.hash), False

    def _judge(self, record: AuditRecord) -> None:
        number, last = record.sequence, self.place.sequence
        if number > last + 1:
            self._find("gap", f"records {last + 1} to {number - 1} of the machine's log did not come", last + 1)
        elif number == last + 1:
            if record.previous != self.place.hash and not self.is_unknown:
                reason = f"record {last} of the machine's log is no longer the one that was collected"
                self._find("changed", reason, last)
        elif self._is_known(record):
            # The machine sends its log from the start, because its end is not the one that was collected.
            if not any(one.kind == "cut" for one in self.findings):
                reason = f"the machine's log does not have the record {last} that was collected: it was cut"
                self._find("cut", reason, last)
        elif number == 1:
            reason = f"the machine's log begins anew, and {last} records of it were collected before"
            self._find("restarted", reason, 1)
        else:
            reason = f"records {number} to {last} of the machine's log were cut off and written anew"
            self._find("cut", reason, number)

    def compare(self, end: LogPlace) -> None:
        """Compare the place with the end of the machine's log."""
        last = self.place.sequence
        if end.sequence >= last:
            return
        if end.sequence == 0:
            reason = f"the machine's log is gone; {last} records of it were collected"
            self._find("deleted", reason, 1)
        else:
            reason = f"the machine's log ends with record {end.sequence}, and {last} records of it were collected"
            self._find("cut", reason, end.sequence + 1)
        self.place, self.is_unknown = end, False

    def _find(self, kind: LogFindingKind, message: str, record: int) -> None:
        self.findings.append(LogFinding(kind=kind, message=message, record=record, at=time_text()))
