"""Audit records as rows of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.text.terminal_text import json_text
from prowess.audit.selection import outcome_of

if TYPE_CHECKING:
    from prowess.audit.record import AuditRecord

_DETAILS = (
    "tool",
    "command",
    "match",
    "policy",
    "rule",
    "would_deny",
    "would_ask",
    "approval",
    "code",
    "reason",
    "exit_code",
    "act",
)
_SHOWN = frozenset({"skill", "digest", "user", "team", "agent", "outcome", "host", "roles", "tenant", "client"})


class RecordRow(Struct, frozen=True, kw_only=True):
    """One record. `number` is 0 if it has no place in the log yet. `details` are pairs of a key and a text."""

    number: int
    at: str
    kind: str
    outcome: str
    skill: str
    user: str
    team: str
    agent: str
    session: str
    details: tuple[tuple[str, str], ...]


def record_row(record: AuditRecord) -> RecordRow:
    """Return the row of a record."""
    data = record.data
    return RecordRow(
        number=record.sequence,
        at=record.at,
        kind=record.kind,
        outcome=_text(outcome_of(record)),
        skill=_text(data.get("skill")),
        user=_text(data.get("user")),
        team=_text(data.get("team")),
        agent=_text(data.get("agent")),
        session=record.session_id or "",
        details=tuple((key.replace("_", " "), _text(data[key])) for key in _DETAILS if data.get(key) not in (None, "")),
    )


def facts_of(record: AuditRecord) -> tuple[tuple[str, str], ...]:
    """Return every fact of a record: the well-known ones first, then by name."""
    keys = sorted(record.data, key=lambda key: (key not in _SHOWN, key))
    return tuple((key.replace("_", " "), _text(record.data[key])) for key in keys)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return "" if value is None else json_text(value)
