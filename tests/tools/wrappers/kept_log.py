"""An audit log in memory, for tests of what is recorded and of what happens when nothing can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.audit.record import AuditRecord
from prowess.errors import AuditError

if TYPE_CHECKING:
    from prowess.audit.record import AuditEvent


class KeptLog:
    def __init__(self, *, full: bool = False) -> None:
        self.events: list[AuditEvent] = []
        self.full = full

    def append(self, event: AuditEvent) -> AuditRecord:
        if self.full:
            raise AuditError("memory", "it is full")
        self.events.append(event)
        return AuditRecord(
            sequence=len(self.events),
            at="",
            kind=event.kind,
            session_id=event.session_id,
            call_id=event.call_id,
            data=event.data,
            previous=None,
            hash="",
        )
