"""Questions whether skills may be used, in the store of an organisation.

A session that is refused for want of an approval leaves the question there, so that people find it.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.json import decode, encode
from msgspec.structs import replace

from prowess._internal.text.terminal_text import counted, printable_line
from prowess._internal.text.user_names import is_same_person
from prowess.errors import StoreError
from prowess.governance.approving import VoteRefusedError
from prowess.store import RequestRow, SharedApprovalRequestStore

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from prowess.policy.approvals.matching import ApprovalState
    from prowess.store import SharedDatabase


MOST_QUESTIONS = 100  # of one person, that wait


class AskedSkill(Struct, frozen=True, kw_only=True):
    """The body of a stored question. `by` asked it at `asked_at`, `also` later; None if a session was refused."""

    skill: str
    digest: str
    capabilities: tuple[str, ...] | None = None
    reason: str = ""
    by: str | None = None
    also: tuple[str, ...] = ()
    asked_at: str | None = None

    def asked_by(self, user: str) -> bool:
        """Whether this person has asked."""
        return any(is_same_person(one, user) for one in (self.by or "", *self.also))


def asked_of(row: RequestRow) -> AskedSkill:
    """Return what was asked. Raises msgspec.DecodeError if the row is damaged."""
    return decode(row.body, type=AskedSkill)


def request_time(moment: datetime) -> str:
    """Return a time as rows have it: in UTC, so that texts sort as times do."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def row_of_request(request_id: str, body: AskedSkill, at: str) -> RequestRow:
    """Return the row of a question that was known first at this time."""
    return RequestRow(id=request_id, digest=body.digest, at=at, body=encode(body).decode())


def request_row(request_id: str, body: AskedSkill, before: RequestRow | None = None) -> RequestRow:
    """Return the row of a question that is asked now. If `before` has a requester, it is kept, with one more.

    One without a requester only notes that a session was refused, or that somebody wants to vote. The time of the row
    stays, because lists are in its order.
    """
    now = request_time(datetime.now(UTC))
    known = None if before is None else asked_of(before)
    if known is not None and known.by is not None and body.by is not None:
        body = replace(known, also=(*known.also, body.by))
    elif body.by is not None:
        body = replace(body, asked_at=now)
    return row_of_request(request_id, body, now if before is None else before.at)


def require_room(user: str, rows: Collection[RequestRow], states: Iterable[tuple[RequestRow, ApprovalState]]) -> None:
    """Raise VoteRefusedError if too many questions of a person wait. `states` are read only if it has asked many."""
    mine = {row.id for row in rows if is_same_person(asked_of(row).by or "", user)}
    if len(mine) < MOST_QUESTIONS:
        return
    waiting = sum(state == "waiting" for row, state in states if row.id in mine)
    if waiting >= MOST_QUESTIONS:
        has = f"{printable_line(user)} has {counted(waiting, 'question')} without an answer"
        raise VoteRefusedError(f"{has}; ask again when people have approved or refused some of them")


class RefusedSkills:
    """Leaves the questions of refused calls in the store, each once."""

    def __init__(self, database: SharedDatabase) -> None:
        self._store = SharedApprovalRequestStore(database)
        self._known: set[str] = set()

    def note(self, request_id: str, skill: str, digest: str) -> None:
        """Add the question if there is none with this id. If the store cannot be used, do nothing. Blocks."""
        if request_id in self._known:
            return
        with suppress(StoreError):
            self._store.put_request(request_row(request_id, AskedSkill(skill=skill, digest=digest)), expected=None)
            self._known.add(request_id)
