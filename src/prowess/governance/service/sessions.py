"""Sessions of a tenant as they are stored: which skills are active in each, and the events of one.

What a session did is in the audit log: `AuditService` with its id in `session`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, Struct

from prowess.format.name import normalise
from prowess.governance.service.listing import MOST_ITEMS, ListPage, ListQuery, NoSuchItemError
from prowess.store.shared.session_list import SharedSessionList

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.governance.service.service_call import ServiceCall
    from prowess.store.shared.session_list import ListedSession


class SessionQuery(ListQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of the list of sessions. `skill` selects those in which a skill of this name is active."""

    cursor: Annotated[str, Meta(max_length=1000, pattern=r"^[0-9]{1,12}\.[0-9]{1,9}:[^:\x00]*:")] | None = None
    skill: str | None = None


class SessionEventQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of the events of a session. `cursor` is the number of the last one that is known."""

    limit: Annotated[int, Meta(ge=1, le=MOST_ITEMS)] = 100
    cursor: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 0


class SkillInSession(Struct, frozen=True, kw_only=True):
    """A skill that is active in a session, with the digest that it had when it was loaded."""

    name: str
    digest: str | None
    location: str | None = None


class StoredSession(Struct, frozen=True, kw_only=True):
    """A session. `touched_at` is the time of its last call; `version` counts changes.

    Times are in seconds since the epoch. `created_at` is 0 if an older Prowess made the session.
    """

    id: str
    tenant: str
    touched_at: float
    created_at: float
    version: int
    active: tuple[SkillInSession, ...]


class SessionEventRow(Struct, frozen=True, kw_only=True):
    """An event of a session. `sequence` counts from 1."""

    sequence: int
    event: dict[str, Any]


class SessionService:
    """The sessions of the tenant of `call`; with the tenant `*`, those of all tenants.

    Raises:
        PolicyDeniedError: by every method, if the actor may not read records of other people.
        StoreError: by every method, if the store cannot be used.
    """

    def __init__(self, call: ServiceCall) -> None:
        self._call, self._sessions = call, SharedSessionList(call.database)

    def list(self, query: SessionQuery) -> ListPage[StoredSession]:
        """Return sessions, the one that was made last first: this order stays while sessions are used."""
        self._call.require("audit")
        found: list[StoredSession] = []
        for row in self._rows(query.cursor):
            session = _session(row)
            if query.skill is None or normalise(query.skill) in {normalise(skill.name) for skill in session.active}:
                found.append(session)
            if len(found) > query.limit:
                break
        page = found[: query.limit]
        last = page[-1] if len(found) > query.limit else None
        return ListPage(items=tuple(page), next=None if last is None else _place(last))

    def _rows(self, cursor: str | None) -> Iterator[ListedSession]:
        before = None
        if cursor is not None:
            at, tenant, session_id = cursor.split(":", 2)
            before = (float(at), tenant, session_id)
        while rows := self._sessions.sessions(MOST_ITEMS, before):
            yield from rows
            before = (rows[-1].created_at, rows[-1].tenant, rows[-1].id)

    def get(self, session_id: str) -> StoredSession:
        """Return a session. Raises NoSuchItemError."""
        return _session(self._row(session_id))

    def events(self, session_id: str, query: SessionEventQuery) -> ListPage[SessionEventRow]:
        """Return events of a session in their order; `next` is the number of the last one. Raises NoSuchItemError."""
        row = self._row(session_id)
        found = self._sessions.events(row.tenant, row.id, query.cursor, query.limit + 1)
        page = found[: query.limit]
        items = tuple(SessionEventRow(sequence=one.sequence, event=_object(one.body)) for one in page)
        return ListPage(items=items, next=str(page[-1].sequence) if len(found) > query.limit else None)

    def _row(self, session_id: str) -> ListedSession:
        self._call.require("audit")
        found = self._sessions.session(session_id)
        if found is None:
            raise NoSuchItemError("session", session_id)
        return found


def _place(session: StoredSession) -> str:
    """Return the place of a session in the list. It never changes."""
    return f"{session.created_at:.9f}:{session.tenant}:{session.id}"


def _session(row: ListedSession) -> StoredSession:
    active = _object(row.state).get("active")
    skills = [_skill(one) for one in active if isinstance(one, dict)] if isinstance(active, list) else []
    return StoredSession(
        id=row.id,
        tenant=row.tenant,
        touched_at=row.touched_at,
        created_at=row.created_at,
        version=row.version,
        active=tuple(skills),
    )


def _skill(facts: dict[str, Any]) -> SkillInSession:
    digest, location = facts.get("digest"), facts.get("location")
    return SkillInSession(
        name=str(facts.get("name")),
        digest=digest if isinstance(digest, str) else None,
        location=location if isinstance(location, str) else None,
    )


def _object(text: str) -> dict[str, Any]:
    """Rows may have been written by a newer version, so nothing is expected of them."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
