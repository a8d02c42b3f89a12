"""Records of machines as the central log has them. Their ids are made of the record, so none is taken twice."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from prowess.audit.record import AuditEvent, time_text
from prowess.audit.transparency.central_log import PlacedEvent
from prowess.audit.transparency.sequencer import OWN_KINDS

if TYPE_CHECKING:
    from prowess.audit.record import AuditRecord
    from prowess.governance.machine.collected_log import LogFinding, LogPlace

_OF_PEOPLE = frozenset({"governance", "login", "machine"})  # first words of kinds that only the centre writes
_VOUCHED = ("system", "host")  # by whom a machine may say that a user is known
_FUTURE = timedelta(minutes=5)
_PAST = timedelta(days=400)


def record_id(machine: str, record: AuditRecord) -> str:
    """Return the id of a machine's record in the central log. It sorts by the time of the record."""
    return _id(_stated(record), f"{record.sequence:012x}", f"{machine} {record.hash}")


def machine_event(record: AuditRecord, *, machine: str, name: str, tenant: str) -> PlacedEvent:
    """Return a record of a machine for the central log, with the machine, its number there, and when it came.

    The facts about its caller are the word of the machine; `host` is its name, and the tenant its verified one. An act
    on the machine has the kind `machine.governance.block` and so on, so it is never taken for one in the organisation.
    """
    at = _time_of(record)
    own: dict[str, object] = {
        "machine": machine,
        "machine_record": record.sequence,
        "machine_at": record.at,
        "received": time_text(),
    }
    own |= {"host": name, "tenant": tenant}
    if record.data.get("identified_by", "host") not in _VOUCHED:
        own["identified_by"] = "host"
    is_marked = record.kind.startswith(OWN_KINDS) or record.kind.partition(".")[0] in _OF_PEOPLE
    kind = f"machine.{record.kind}" if is_marked else record.kind
    event = AuditEvent(kind=kind, session_id=record.session_id, call_id=record.call_id, data={**record.data, **own})
    return PlacedEvent(id=record_id(machine, record), at=time_text(at), event=event)


def finding_event(finding: LogFinding, number: int, machine: str, name: str, before: LogPlace) -> PlacedEvent:
    """Return the record of finding `number` of one sending: `log.machine_cut` and so on."""
    data = {
        "machine": machine,
        "host": name,
        "machine_record": finding.record,
        "collected": before.sequence,
        "message": finding.message,
    }
    moment = datetime.now(UTC)
    event = AuditEvent(kind=f"log.machine_{finding.kind}", data=data)
    at = time_text(moment)
    digest = f"{machine} {finding.kind} {finding.record} {before.hash} {at}"
    return PlacedEvent(id=_id(moment, f"f{number:011x}", digest), at=at, event=event)


def _time_of(record: AuditRecord) -> datetime:
    """Return the time of a record as its machine states it, within reason: its clock may be wrong, or it may lie."""
    now, stated = datetime.now(UTC), _stated(record)
    return stated if now - _PAST < stated < now + _FUTURE else now


def _stated(record: AuditRecord) -> datetime:
    try:
        return datetime.strptime(record.at, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)


def _id(moment: datetime, second: str, digest: str) -> str:
    milliseconds = f"{max(0, int(moment.timestamp() * 1000)):012x}"
    return f"{milliseconds[:8]}-{milliseconds[8:]}-{second}-{hashlib.sha256(digest.encode()).hexdigest()[:16]}"
