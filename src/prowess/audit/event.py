"""What an audit log takes and what it gives back: an event goes in, a record with its place in the chain comes out."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping


class AuditEvent(Struct, frozen=True, kw_only=True):
    """Something that happened.

    `kind` is dotted (`tool.started`, `tool.finished`, `tool.refused`, `skill.loaded` ...). `data` holds JSON values
    without floats, because two programs may print the same float differently. It must hold no secret: of a call's
    arguments it has names, sizes and a digest, of an environment the names.
    """

    kind: str
    session_id: str | None = None
    call_id: str | None = None
    data: Mapping[str, object] = MappingProxyType({})


class AuditRecord(Struct, frozen=True, kw_only=True):
    """An event in its place.

    `sequence` counts from 1; `at` is the time of writing, RFC 3339 in UTC with microseconds; `previous` is the hash
    of the record before (None for the first), `hash` is `sha256:` over the canonical JSON of all other fields.
    """

    sequence: int
    at: str
    kind: str
    session_id: str | None
    call_id: str | None
    data: Mapping[str, object]
    previous: str | None
    hash: str


class AuditLog(Protocol):
    """Keeps events for ever, in one order. Safe to call from several threads; blocking."""

    def append(self, event: AuditEvent) -> AuditRecord:
        """Write one record.

        Raises:
            AuditError: nothing was written. A caller that must leave a record refuses to act.
        """
