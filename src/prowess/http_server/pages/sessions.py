"""Pages of sessions: a list, and the conversation of one: the active skills at each time, refusals, its cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from starlette.exceptions import HTTPException

from prowess.errors import AuditReadError
from prowess.governance.service.audit import AuditQuery, AuditService
from prowess.governance.service.listing import MOST_ITEMS, NoSuchItemError
from prowess.governance.service.sessions import SessionQuery, SessionService
from prowess.http_server.pages.record_view import RecordRow, record_row

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.responses import Response

    from prowess.audit.record import AuditRecord
    from prowess.governance.service.service_call import ServiceCall
    from prowess.governance.service.sessions import StoredSession
    from prowess.http_server.pages.rendering.page_request import PageRequest

_LIMIT = 100


class SessionStep(Struct, frozen=True, kw_only=True):
    """One record of a session. `active` are the skills that are active after it, `tokens` what it added to the context.

    `total` is the sum of the tokens so far.
    """

    row: RecordRow
    active: tuple[str, ...]
    tokens: int
    total: int


class SessionStory(Struct, frozen=True, kw_only=True):
    """The steps of a session in their order, and sums over all of them."""

    steps: tuple[SessionStep, ...]
    tokens: int
    calls: int
    refused: int
    cost: tuple[tuple[str, int], ...]  # tokens of each skill, the most expensive first


def sessions_page(page: PageRequest) -> Response:
    """Show the sessions of the store, the newest first."""
    chosen = page.queries(("skill",))
    query = {"limit": _LIMIT, "cursor": page.query("cursor"), "skill": chosen.get("skill")}
    found = SessionService(page.call).list(msgspec.convert(query, SessionQuery))
    return page.render(
        "sessions.html",
        chosen=chosen,
        sessions=found.items,
        next=found.next,
        first=page.query("cursor") is not None,
    )


def session_page(page: PageRequest) -> Response:
    """Show the records of one session."""
    session_id = page.request.query_params.get("id", "")
    stored, cursor = _stored(page.call, session_id), page.query("cursor")
    query = AuditQuery(session=(session_id,), limit=MOST_ITEMS, cursor=cursor)
    try:
        found = AuditService(page.call).list(query)
    except AuditReadError:
        raise HTTPException(404, "There is no such session.") from None
    if stored is None and not found.items:
        raise HTTPException(404, "There is no such session.")
    return page.render(
        "session.html",
        id=session_id,
        stored=stored,
        story=story_of(found.items),
        who=record_row(found.items[0]) if found.items else None,
        next=found.next,
        first=cursor is not None,
    )


def story_of(records: Iterable[AuditRecord]) -> SessionStory:
    """Return the steps of the records of one session. The start of a call that has ended is no step of its own."""
    found = list(records)
    ended = {one.call_id for one in found if one.kind in {"tool.finished", "tool.refused"}}
    steps: list[SessionStep] = []
    active: dict[str, None] = {}
    cost: dict[str, int] = {}
    total = calls = refused = 0
    for record in found:
        names = _names(record.data.get("skill"))
        if record.kind == "skill.loaded":
            active.update(dict.fromkeys(names))
        elif record.kind == "skill.unloaded":
            active = {name: None for name in active if name not in names}
        tokens = record.data.get("tokens")
        added = tokens if isinstance(tokens, int) else 0
        total += added
        calls += record.kind == "tool.finished"
        refused += record.kind.endswith(".refused")
        for name in names:
            cost[name] = cost.get(name, 0) + added
        if record.kind != "tool.started" or record.call_id not in ended:
            steps.append(SessionStep(row=record_row(record), active=tuple(active), tokens=added, total=total))
    dearest = sorted(((name, sum_) for name, sum_ in cost.items() if sum_), key=lambda one: -one[1])
    return SessionStory(steps=tuple(steps), tokens=total, calls=calls, refused=refused, cost=tuple(dearest))


def _names(skill: object) -> tuple[str, ...]:
    listed = skill if isinstance(skill, list) else [skill]
    return tuple(one for one in listed if isinstance(one, str))


def _stored(call: ServiceCall, session_id: str) -> StoredSession | None:
    try:
        return SessionService(call).get(session_id)
    except NoSuchItemError:
        return None
