"""Sessions as people see them from outside: who is active in them, page by page, and their events."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import anyio
import pytest

from prowess.errors import PolicyDeniedError
from prowess.governance.service.listing import NoSuchItemError
from prowess.governance.service.service_call import Actor, ServiceCall
from prowess.governance.service.sessions import SessionEventQuery, SessionQuery, SessionService
from prowess.store import SessionRow, SharedDatabase
from prowess.store.shared.organisation import create_store
from prowess.store.shared.sessions import SharedSessionStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SharedDatabase]:
    url = f"sqlite:///{tmp_path / 'organisation.db'}"
    create_store(url, origin="acme", public_key="key")
    opened = SharedDatabase(url)
    anyio.run(_fill, SharedSessionStore(opened))
    yield opened
    opened.close()


async def _fill(store: SharedSessionStore) -> None:
    for number in range(5):
        state = {"active": [{"name": f"skill-{number % 2}", "digest": "sha256:00"}]}
        row = SessionRow(
            session_id=f"s{number}", version=1, state=json.dumps(state), touched_at=1764444000.123456 + number // 2
        )
        assert await store.create(row)
    await store.create(SessionRow(session_id="odd\x00", version=1, state="not JSON", touched_at=5.0))
    for number in range(3):
        await store.append_event("s1", json.dumps({"type": f"event-{number}"}), at=1.0, keep=10)


def _service(database: SharedDatabase, role: str = "administrator") -> SessionService:
    actor = Actor(user="ada", roles=(role,), tenant="default", identified_by="token")  # type: ignore[arg-type]  # a role
    return SessionService(ServiceCall(actor, database))


@pytest.mark.parametrize("limit", [1, 2, 6])
def test_sessions_are_listed_from_the_newest_on_each_once_also_if_they_are_used_meanwhile(
    database: SharedDatabase, limit: int
) -> None:
    found, cursor, store = list[str](), None, SharedSessionStore(database)
    while True:
        anyio.run(store.touch, ("s0", "s3", "odd\x00")[len(found) % 3], 1764446000.0 + len(found))
        page = _service(database).list(SessionQuery(limit=limit, cursor=cursor))
        found += [one.id for one in page.items]
        cursor = page.next
        if cursor is None:
            break
    assert found == ["s4", "s2", "s3", "s0", "s1", "odd\x00"]


def test_sessions_of_one_skill_are_found(database: SharedDatabase) -> None:
    page = _service(database).list(SessionQuery(skill="skill-1", limit=1))
    assert ([one.id for one in page.items], page.items[0].active[0].name) == (["s3"], "skill-1")
    assert [one.id for one in _service(database).list(SessionQuery(skill="skill-1", cursor=page.next)).items] == ["s1"]


def test_events_of_a_session_are_read_page_by_page(database: SharedDatabase) -> None:
    service = _service(database)
    first = service.events("s1", SessionEventQuery(limit=2))
    assert [one.event for one in first.items] == [{"type": "event-0"}, {"type": "event-1"}]
    rest = service.events("s1", SessionEventQuery(cursor=int(first.next or 0)))
    assert ([one.sequence for one in rest.items], rest.next) == ([3], None)


def test_a_session_that_is_not_there_and_an_actor_who_may_not_look_are_refused(database: SharedDatabase) -> None:
    assert _service(database).get("odd\x00").active == ()
    with pytest.raises(NoSuchItemError):
        _service(database).get("none")
    for role in ("viewer", "user", "author", "machine"):
        with pytest.raises(PolicyDeniedError):
            _service(database, role).get("s1")
