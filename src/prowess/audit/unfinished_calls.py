"""Calls that began and have no end in the log: whoever made them was killed, or is at work. No fault of the log.

A call writes `tool.started` and, whatever becomes of it, `tool.finished` with the same session and call id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prowess.audit.event import AuditRecord

_STARTED, _FINISHED = "tool.started", "tool.finished"


class UnfinishedCalls:
    """What is open after the records that were taken so far; it holds no more than that."""

    def __init__(self) -> None:
        self._open: dict[tuple[str | None, str], list[int]] = {}

    def take(self, record: AuditRecord) -> None:
        """Take the next record of the log."""
        if record.call_id is None:
            return  # nobody can tell its end
        call = (record.session_id, record.call_id)
        if record.kind == _STARTED:
            self._open.setdefault(call, []).append(record.sequence)
        elif record.kind == _FINISHED and call in self._open:
            self._open[call].pop()
            if not self._open[call]:
                del self._open[call]

    def records(self) -> tuple[int, ...]:
        """Return the numbers of the records that began what has not ended, in their order."""
        return tuple(sorted(number for numbers in self._open.values() for number in numbers))
