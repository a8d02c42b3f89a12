"""Select records of a log by their facts, session, kind, outcome and time: the last ones, or page by page."""

from __future__ import annotations

import os
import re
from collections import deque
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess._internal.text.qualified_names import qualified_forms
from prowess.audit.record import read_all, read_from, time_text
from prowess.errors import AuditReadError
from prowess.format.name import normalise

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from prowess.audit.record import AuditRecord

Outcome = Literal["success", "failure", "cancelled", "refused"]
OUTCOMES: tuple[Outcome, ...] = ("success", "failure", "cancelled", "refused")

# The keys of the data of a record in which the value of each fact is looked up.
FACTS: dict[str, tuple[str, ...]] = {
    "tool": ("tool",),
    "digest": ("digest", "content_digest", "digests"),
    "source": ("source", "sources"),
    "publisher": ("publisher",),
    "layer": ("layer",),
    "rule": ("rule", "would_deny", "would_ask"),
    "approval": ("approval",),
    "user": ("user",),
    "team": ("team",),
    "role": ("roles",),
    "agent": ("agent",),
    "tenant": ("tenant",),
    "environment": ("environment",),
    "client": ("client",),
    "host": ("host",),
    "trigger": ("trigger",),
}
_CURSOR = re.compile(r"[0-9]{1,18}")
_DATE_LENGTH = len("2026-11-28")


class RecordFilter(Struct, frozen=True, kw_only=True):
    """Criteria for records. An empty tuple or None matches every record; of several values one must match.

    `kinds` are kinds or their first parts (`tool` matches `tool.started`, `tool.finished` and `tool.refused`). `facts`
    are values of other keys in `FACTS`; a list in a record needs one of them. `since` and `until` are compared with the
    record's `at`; `since` is inclusive, `until` exclusive.
    """

    skills: tuple[str, ...] = ()
    facts: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    sessions: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None

    @property
    def leaves_all(self) -> bool:
        """Whether the filter matches every record."""
        return self == RecordFilter()

    def fits(self, record: AuditRecord) -> bool:
        """Whether the filter matches a record."""
        return (
            (not self.skills or self._is_about_a_skill(record))
            and all(_has(record, key, values) for key, values in self.facts.items())
            and (not self.sessions or record.session_id in self.sessions)
            and (
                not self.kinds or any(record.kind == kind or record.kind.startswith(f"{kind}.") for kind in self.kinds)
            )
            and (not self.outcomes or outcome_of(record) in self.outcomes)
            and (self.since is None or record.at >= self.since)
            and (self.until is None or record.at < self.until)
        )

    def _is_about_a_skill(self, record: AuditRecord) -> bool:
        skill, source = record.data.get("skill"), record.data.get("source")
        names = {normalise(name) for name in (skill if isinstance(skill, list) else [skill]) if isinstance(name, str)}
        # `acme/deploy` and `deploy@acme` are the skill `deploy` whose source is `acme`.
        return any(
            normalise(wanted) in names
            or any(normalise(name) in names and label == source for name, label in qualified_forms(wanted))
            for wanted in self.skills
        )


def _has(record: AuditRecord, key: str, wanted: Collection[str]) -> bool:
    for name in FACTS[key]:
        value = record.data.get(name)
        if isinstance(value, list):
            flat = [item for one in value for item in (one if isinstance(one, list) else [one])]
            if any(item in wanted for item in flat if isinstance(item, str)):
                return True
        elif isinstance(value, str) and value in wanted:
            return True
    return False


def outcome_of(record: AuditRecord) -> object:
    """Return the outcome of a record, or None if it has none."""
    return "refused" if record.kind.endswith(".refused") else record.data.get("outcome")


def select(path: str | os.PathLike[str], wanted: RecordFilter, count: int) -> tuple[list[AuditRecord], int]:
    """Return the last `count` matching records in order, and the number of damaged lines. Raises AuditReadError."""
    found: deque[AuditRecord] = deque(maxlen=count)
    damaged = 0
    for record in read_all(path):
        if record is None:
            damaged += 1
        elif wanted.fits(record):
            found.append(record)
    return list(found), damaged


class RecordPage(Struct, frozen=True, kw_only=True):
    """Matching records in order. `next` is the cursor of the next page, None if there are no more matching records."""

    records: tuple[AuditRecord, ...]
    damaged: int
    next: str | None


def page(path: str | os.PathLike[str], wanted: RecordFilter, limit: int, cursor: str | None = None) -> RecordPage:
    """Return the first `limit` matching records after `cursor`, or of the whole log if it is None.

    Raises:
        AuditReadError: the log cannot be read, or the cursor is not one of this log.
    """
    end = cursor_number(os.path.abspath(path), cursor)
    found: list[AuditRecord] = []
    damaged = 0
    for record, behind in read_from(path, end):
        if record is None:
            damaged += 1
        elif wanted.fits(record):
            if len(found) == limit:
                return RecordPage(records=tuple(found), damaged=damaged, next=str(end))
            found.append(record)
            end = behind
    return RecordPage(records=tuple(found), damaged=damaged, next=None)


def cursor_number(log: str, cursor: str | None) -> int:
    """Return the number in a cursor, 0 if it is None. Raises AuditReadError if it is no cursor."""
    if cursor is not None and not _CURSOR.fullmatch(cursor):
        raise AuditReadError(log, f"{cursor[:40]!r} is not a cursor; take `next` of the page before")
    return int(cursor or 0)


def moment(text: str, *, end: bool) -> str:
    """Convert a date or time to the format of `AuditRecord.at`.

    A time without an offset is in UTC. A date is its first moment, or, with `end`, the first moment of the next day, so
    that the range includes the day.

    Raises:
        ValueError: the text is neither a date nor a time.
    """
    parsed = datetime.fromisoformat(text.strip())
    if end and len(text.strip()) <= _DATE_LENGTH:
        parsed += timedelta(days=1)
    parsed = parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
    return time_text(parsed)
