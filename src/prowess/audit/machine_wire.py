"""Messages between a session and the audit service of the machine.

A message is canonical JSON. A request has the fields of an `AuditEvent`. The answer has the place of the record in the
chain, or `{"error": REASON}`. The service replaces the facts about the sender by those that the kernel has.

A request is sent in packets. The first byte of a packet states whether more of them follow (`+`) or not (`.`). The last
one begins with `!` if the answer must wait until the organisation's server has acknowledged the record too.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.text.canonical_json import NotJsonError, canonical_json
from prowess.audit.record import MAX_LINE_BYTES, AuditEvent, AuditRecord
from prowess.errors import LimitExceededError

if TYPE_CHECKING:
    from collections.abc import Mapping

AUDIT_SOCKET = "/run/prowess/audit.sock"
MAX_EVENT_BYTES = MAX_LINE_BYTES - 8 * 1024  # the record has further fields
MAX_PACKET_BYTES = 32 * 1024  # the kernel's default buffer of a socket has room for several
MAX_ANSWER_BYTES = 4 * 1024
_MORE, _LAST, _LAST_CENTRAL = b"+", b".", b"!"
_PLACE = ("at", "hash", "previous", "sequence")
_FIELDS = {"call_id", "data", "kind", "session_id"}


class RefusedEventError(ValueError):
    """The service has not recorded the event; the message is the reason."""


def event_bytes(event: AuditEvent) -> bytes:
    """Return the request for an event. Raises RefusedEventError if it cannot be recorded."""
    fields = {"call_id": event.call_id, "data": event.data, "kind": event.kind, "session_id": event.session_id}
    try:
        message = canonical_json(fields, floats=False)
    except NotJsonError as fault:
        raise RefusedEventError(str(fault)) from None
    except LimitExceededError:
        raise RefusedEventError("its data is nested too deep") from None
    if len(message) > MAX_EVENT_BYTES:
        raise RefusedEventError(f"it takes {len(message)} bytes, more than {MAX_EVENT_BYTES}")
    return message


def packets(message: bytes, *, central: bool = False) -> list[bytes]:
    """Return the packets of a request; `central` if the organisation's server must have the record."""
    size = MAX_PACKET_BYTES - 1
    parts = [message[at : at + size] for at in range(0, len(message), size)]
    return [*(_MORE + part for part in parts[:-1]), (_LAST_CENTRAL if central else _LAST) + parts[-1]]


class RequestPart(Struct, frozen=True, kw_only=True):
    """The part of a request in one packet. `is_central` is known with the last one."""

    data: bytes
    is_last: bool
    is_central: bool


def part_of(packet: bytes) -> RequestPart:
    """Return the part of a request in a packet. Raises RefusedEventError."""
    first = packet[:1]
    if first not in (_MORE, _LAST, _LAST_CENTRAL) or len(packet) > MAX_PACKET_BYTES:
        raise RefusedEventError("the message is not an event")
    return RequestPart(data=packet[1:], is_last=first != _MORE, is_central=first == _LAST_CENTRAL)


def read_event(message: bytes) -> AuditEvent:
    """Return the event of a request. Raises RefusedEventError for any other message."""
    try:
        fields = json.loads(message)
    except (ValueError, RecursionError):
        fields = None
    if len(message) > MAX_EVENT_BYTES or not isinstance(fields, dict) or fields.keys() != _FIELDS:
        raise RefusedEventError("the message is not an event")
    texts = isinstance(fields["kind"], str) and all(
        fields[name] is None or isinstance(fields[name], str) for name in ("call_id", "session_id")
    )
    if not texts or not isinstance(fields["data"], dict):
        raise RefusedEventError("the message is not an event")
    return AuditEvent(**fields)


def answer_bytes(record: AuditRecord) -> bytes:
    """Return the answer that a record is on disk."""
    return canonical_json({name: getattr(record, name) for name in _PLACE})


def read_acknowledgement(answer: bytes, event: AuditEvent) -> AuditRecord:
    """Return the record of an event: its data are those that were sent, without the verified facts about the sender.

    Raises:
        RefusedEventError: the service has not recorded the event.
    """
    try:
        fields = json.loads(answer)
        if fields.keys() == set(_PLACE):
            return AuditRecord(
                **fields, kind=event.kind, session_id=event.session_id, call_id=event.call_id, data=event.data
            )
        reason = fields["error"]
    except (ValueError, RecursionError, AttributeError, KeyError):
        reason = "its answer is none"
    raise RefusedEventError(str(reason))


def error_bytes(reason: str) -> bytes:
    """Return the answer that an event was not recorded."""
    return canonical_json({"error": reason[:1000]})


def sent_by(event: AuditEvent, *, uid: int, user: str | None, machine: Mapping[str, str]) -> AuditEvent:
    """Return the event with the verified facts about its sender, and the facts of the machine such as `host`.

    If the event names another user, this user is the word of the sender (`identified_by` is `host`).
    """
    stated = event.data.get("user")
    own = stated is None or stated == user
    verified = {**machine, "uid": uid, "user": user if own else stated, "identified_by": "system" if own else "host"}
    return replace(event, data={**event.data, **verified})
