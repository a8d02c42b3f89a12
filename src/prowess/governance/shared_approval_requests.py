"""Questions whether skills may be used, in the store of an organisation.

A session that is refused for want of an approval leaves the question there, so that people find it.
"""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from math import inf
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.json import decode, encode
from msgspec.structs import replace

from prowess._internal.text.terminal_text import counted, printable_line
from prowess._internal.text.user_names import is_same_person
from prowess.audit.record import time_text
from prowess.errors import StoreError
from prowess.governance.approving import VoteRefusedError
from prowess.store import RequestRow, SharedApprovalRequestStore

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from prowess.policy.approvals.matching import ApprovalState
    from prowess.store import SharedDatabase


MOST_QUESTIONS = 100  # of one person, that wait
MOST_LEFT = 1000  # that sessions left in one tenant, and nobody has asked or voted about
_KEPT = timedelta(days=30)  # such a question
_NOTED_AGAIN = 3600.0  # seconds after which a process leaves a question once more, because it may be gone


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


def row_of_request(request_id: str, body: AskedSkill, at: str, *, of_person: bool = True) -> RequestRow:
    """Return the row of a question that was known first at this time."""
    return RequestRow(id=request_id, digest=body.digest, at=at, body=encode(body).decode(), of_person=of_person)


def request_row(request_id: str, body: AskedSkill, before: RequestRow | None = None) -> RequestRow:
    """Return the row of a question that is asked now. If `before` has a requester, it is kept, with one more.

    One without a requester only notes that a session was refused, or that somebody wants to vote. The time of the row
    stays, because lists are in its order.
    """
    now = time_text(datetime.now(UTC))
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
        self._known: dict[str, float] = {}  # the time of the last note, by id

    def note(self, request_id: str, skill: str, digest: str) -> None:
        """Add the question if there is none with this id. If the store cannot be used, do nothing. Blocks.

        Questions that nobody looks at go: after 30 days, and the oldest of more than 1000.
        """
        at = time.monotonic()
        if at - self._known.get(request_id, -inf) < _NOTED_AGAIN:
            return
        now, asked = datetime.now(UTC), AskedSkill(skill=skill, digest=digest)
        row = row_of_request(request_id, asked, time_text(now), of_person=False)
        with suppress(StoreError):
            if self._store.put_request(row, expected=None):
                self._store.drop_requests(before=time_text(now - _KEPT), most=MOST_LEFT)
            if len(self._known) >= MOST_LEFT:
                self._known.clear()
            self._known[request_id] = at
