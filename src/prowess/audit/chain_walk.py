"""A walk over the lines of a log: each break of the hash chain is reported with its record."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from msgspec import Struct

from prowess.audit.log import ACCEPTED, RECOVERED, AuditHead
from prowess.audit.record import MAX_LINE_BYTES, BadLineError, ChangedRecordError, read_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.audit.record import AuditRecord

MAX_FINDINGS = 100  # limit on faults, and on notices; `more` counts the rest


class AuditFinding(Struct, frozen=True, kw_only=True):
    """One fault or one notice.

    Kinds of faults: `changed`, `damaged` (a line that is not a record), `missing`, `moved`, `inserted`, `cut` (from the
    end), `added` (after the head and not announced by a writer), `head` (head.json itself), `kept_head`. Kinds of
    notices: `ahead`, `torn`, `recovered`, `accepted`, `exposed` (others can change a file of the log). `record` is the
    number of the record, `line` its line in the file; both count from 1.
    """

    kind: str
    message: str
    record: int | None = None
    line: int | None = None


class ChainWalk:
    """The state of one verification of a log. Lines are taken in order; `finish` reports what is missing.

    `kept` is the hash of a record that must be in the log. `lines` is the number of lines before the first record.
    """

    def __init__(self, kept: str | None = None, lines: int = 0) -> None:
        self.faults: list[AuditFinding] = []
        self.notices: list[AuditFinding] = []
        self.more = 0
        self.lines = lines
        self.records = 0  # lines that are records of this chain, in order or not
        self.top = 0  # highest record number reached in order
        self.last: str | None = None  # hash that the next record must name
        self.kept_at: int | None = None
        self._kept = kept
        self._gaps: list[_Gap] = []
        self._ahead: list[AuditHead] = []  # heads of the records after the head
        self._size = 0  # bytes of complete lines
        self._head: AuditHead | None = None
        self._at_head: tuple[str | None, int] | None = (None, 0)  # hash and end of the last record that the head counts
        self.unfinished = UnfinishedCalls()
        self._unknown = False  # the last line was not a record, so its hash is unknown

    def fault(self, kind: str, message: str, *, record: int | None = None, line: int | None = None) -> None:
        """Add a fault."""
        self._add(self.faults, AuditFinding(kind=kind, message=message, record=record, line=line))

    def notice(self, kind: str, message: str, *, record: int | None = None, line: int | None = None) -> None:
        """Add a notice."""
        self._add(self.notices, AuditFinding(kind=kind, message=message, record=record, line=line))

    def _add(self, findings: list[AuditFinding], finding: AuditFinding) -> None:
        if len(findings) < MAX_FINDINGS:
            findings.append(finding)
        else:
            self.more += 1

    def read(
        self, stream: BinaryIO | None, size: int, head: AuditHead | None
    ) -> Iterator[tuple[AuditRecord | None, bytes]]:
        """Judge `size` bytes of a stream. Yield each line, with its record if it is an unchanged one."""
        self._head = head
        if head is not None and head.count:
            self._at_head = None
        while stream is not None and size and (line := stream.readline(min(size, MAX_LINE_BYTES + 1))):
            size -= len(line)
            if not line.endswith(b"\n") and len(line) <= MAX_LINE_BYTES:
                self._torn(line)
                return
            yield self.take(line), line

    def _torn(self, line: bytes) -> None:
        text = f"an incomplete line of {len(line)} bytes follows record {self.top}: a writer was killed"
        self.notice("torn", f"{text}; the next append removes the line", line=self.lines + 1)

    def take(self, line: bytes) -> AuditRecord | None:
        """Judge the next line, with its line break. Return its record, None if it is not an unchanged one."""
        number = self.top + 1
        self.lines += 1
        self._size += len(line)
        try:
            record = read_line(line)
        except BadLineError as fault:
            self.fault(
                "damaged", f"line {self.lines} should hold record {number}, but {fault}", record=number, line=self.lines
            )
            self.skip()
            return None
        except ChangedRecordError as fault:
            self.fault(
                "changed", f"record {number} was changed: its hash does not match", record=number, line=self.lines
            )
            self._advance(number, fault.record.hash)
            return None
        self.records += 1
        if record.sequence <= self.top:
            self._out_of_order(record)
            return record
        if record.sequence > number:
            self._gaps.append(_Gap(first=number, last=record.sequence - 1, line=self.lines))
        elif record.previous != self.last and not self._unknown:
            text = "record 1 names a record before it: it was replaced, or the beginning cut off"
            if self.top:
                text = f"record {self.top} was replaced: record {number} was written after another one"
            self.fault("changed", text, record=self.top or 1, line=self.lines)
        self._advance(record.sequence, record.hash)
        if record.hash == self._kept:
            self.kept_at = record.sequence
        if record.kind in {RECOVERED, ACCEPTED}:
            self._recovered(record)
        self.unfinished.take(record)
        return record

    def skip(self) -> None:
        """Count a record whose hash is not known: what follows cannot be compared with it."""
        self.top, self._unknown = self.top + 1, True

    def _advance(self, number: int, digest: str) -> None:
        self.top, self.last, self._unknown = number, digest, False
        if self._head is not None and number == self._head.count:
            self._at_head = (digest, self._size)
        if self._head is not None and self._head.count < number <= self._head.count + MAX_FINDINGS:
            self._ahead.append(AuditHead(count=number, hash=digest, size=self._size))

    def _out_of_order(self, record: AuditRecord) -> None:
        number = record.sequence
        for index, gap in enumerate(self._gaps):
            if gap.first <= number <= gap.last:
                self._gaps[index : index + 1] = gap.without(number)
                text = f"record {number} was moved: it is in line {self.lines}, after record {self.top}"
                self.fault("moved", text, record=number, line=self.lines)
                return
        text = f"record {number} was inserted or duplicated: line {self.lines} repeats its number"
        self.fault("inserted", text, record=number, line=self.lines)

    def _recovered(self, record: AuditRecord) -> None:
        adopted, removed = record.data.get("adopted_records"), record.data.get("removed_bytes")
        if record.kind == ACCEPTED:
            by = record.data.get("user") or record.data.get("uid")
            text = (
                f"{adopted} records before record {record.sequence} were not announced by a writer; {by} accepted them"
            )
            self.notice("accepted", text, record=record.sequence, line=self.lines)
            return
        text = f"a writer was killed before record {record.sequence}"
        text += f": {adopted} of its records kept, {removed} bytes of an incomplete line removed"
        self.notice("recovered", text, record=record.sequence, line=self.lines)

    def compare_with_head(self, head: AuditHead, expected: frozenset[AuditHead]) -> None:
        """Compare the end of the log with `head`. `expected` are the heads that writers announced."""
        if head.count > self.top:
            lost = head.count - self.top
            what = f"{lost} record{'' if lost == 1 else 's'} cut from the end"
            text = f"{what}: the log ends with record {self.top}, head.json counts {head.count}"
            self.fault("cut", text, record=self.top + 1)
            return
        if self._at_head is not None and self._at_head[0] != head.hash:
            self.fault("head", f"record {head.count} is not the one that head.json names", record=head.count)
        elif not self.faults and not self._gaps and self._at_head != (head.hash, head.size):
            self.fault("head", f"head.json gives another length for {head.count} records", record=head.count)
        ahead = self.top - head.count
        some = f"record {self.top}" if ahead == 1 else f"records {head.count + 1} to {self.top}"
        if ahead and ahead == len(self._ahead) and expected.issuperset(self._ahead):
            text = f"{some} {'is' if ahead == 1 else 'are'} not in head.json yet: a writer was killed, or is at work"
            self.notice("ahead", text, record=self.top)
        elif ahead > 1 or (ahead and not self.faults and not self._gaps):
            text = f"{some} {'is' if ahead == 1 else 'are'} not counted in head.json and not announced by a writer"
            text += ": added by another program, or power was lost"
            text += "; run `prowess audit accept` to keep records that you know to be right"
            self.fault("added", text, record=head.count + 1)

    def finish(self) -> None:
        """Report missing records. Call it once, at the end."""
        for gap in self._gaps:
            some = f"record {gap.first} is" if gap.first == gap.last else f"records {gap.first} to {gap.last} are"
            self.fault("missing", f"{some} missing before line {gap.line}", record=gap.first, line=gap.line)
        if self._kept is not None and self.kept_at is None:
            text = "no record has the head kept elsewhere: records were changed or cut"
            self.fault("kept_head", text)


class _Gap(Struct, frozen=True, kw_only=True):
    """A range of missing record numbers, found before `line`."""

    first: int
    last: int
    line: int

    def without(self, number: int) -> list[_Gap]:
        lower = _Gap(first=self.first, last=number - 1, line=self.line)
        upper = _Gap(first=number + 1, last=self.last, line=self.line)
        return [gap for gap in (lower, upper) if gap.first <= gap.last]


_STARTED, _FINISHED = "tool.started", "tool.finished"


class UnfinishedCalls:
    """Tracks calls that were started but not finished. Memory is needed only for open calls."""

    def __init__(self) -> None:
        self._open: dict[tuple[str | None, str], list[int]] = {}

    def take(self, record: AuditRecord) -> None:
        """Process the next record of the log."""
        if record.call_id is None:
            return  # cannot be matched with its end
        call = (record.session_id, record.call_id)
        if record.kind == _STARTED:
            self._open.setdefault(call, []).append(record.sequence)
        elif record.kind == _FINISHED and call in self._open:
            self._open[call].pop()
            if not self._open[call]:
                del self._open[call]

    def records(self) -> tuple[int, ...]:
        """Return the numbers of the records that started unfinished calls, in order."""
        return tuple(sorted(number for numbers in self._open.values() for number in numbers))
