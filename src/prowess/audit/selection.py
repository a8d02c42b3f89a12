"""Choosing records of a log by what they name, how they ended, and when they were written."""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess.audit.record import read_all
from prowess.format.name import normalise

if TYPE_CHECKING:
    import os

    from prowess.audit.record import AuditRecord

Outcome = Literal["success", "failure", "cancelled", "refused"]
OUTCOMES: tuple[Outcome, ...] = ("success", "failure", "cancelled", "refused")

_DATE_LENGTH = len("2026-11-28")


class RecordFilter(Struct, frozen=True, kw_only=True):
    """What is wanted of a log; an empty tuple and None leave everything. Of several values one must fit.

    `kinds` are kinds or their beginnings (`tool` is `tool.started`, `tool.finished` and `tool.refused`). `since` and
    `until` are compared with `at`: the first is included, the second is not.
    """

    skills: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None

    @property
    def leaves_all(self) -> bool:
        """Whether every record fits."""
        return self == RecordFilter()

    def fits(self, record: AuditRecord) -> bool:
        """Whether a record is wanted."""
        skill = record.data.get("skill")
        names = [normalise(name) for name in (skill if isinstance(skill, list) else [skill]) if isinstance(name, str)]
        return (
            (not self.skills or any(normalise(name) in names for name in self.skills))
            and (not self.users or record.data.get("user") in self.users)
            and (not self.sessions or record.session_id in self.sessions)
            and (
                not self.kinds or any(record.kind == kind or record.kind.startswith(f"{kind}.") for kind in self.kinds)
            )
            and (not self.outcomes or outcome_of(record) in self.outcomes)
            and (self.since is None or record.at >= self.since)
            and (self.until is None or record.at < self.until)
        )


def outcome_of(record: AuditRecord) -> object:
    """Return the outcome that a record names; None if it names none."""
    return "refused" if record.kind.endswith(".refused") else record.data.get("outcome")


def select(path: str | os.PathLike[str], wanted: RecordFilter, count: int) -> tuple[list[AuditRecord], int]:
    """Return the last `count` records that fit, in the order of the file, and how many lines are no records.

    Raises:
        AuditReadError: there is no log, or it cannot be read.
    """
    found: deque[AuditRecord] = deque(maxlen=count)
    damaged = 0
    for record in read_all(path):
        if record is None:
            damaged += 1
        elif wanted.fits(record):
            found.append(record)
    return list(found), damaged


def moment(text: str, *, end: bool) -> str:
    """Return a date or a time as records have it; without an offset it is in UTC, a date is its first moment.

    With `end` a date is the first moment of the next day, so that the day is within.

    Raises:
        ValueError: it is neither a date nor a time.
    """
    parsed = datetime.fromisoformat(text.strip())
    if end and len(text.strip()) <= _DATE_LENGTH:
        parsed += timedelta(days=1)
    parsed = parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
    return parsed.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
