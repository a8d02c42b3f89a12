"""What every store promises, run over each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel
import pytest
from msgspec.structs import replace

from prowess.errors import StoreError
from prowess.store import EventStore, KeptEvent, MemorySessionStore, SessionRow, SqliteSessionStore

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from prowess.store import SessionStore

pytestmark = pytest.mark.anyio

ROW = SessionRow(session_id="one", version=1, state='{"active":[]}', touched_at=100.5)


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SessionStore]:
    made: SessionStore = (
        MemorySessionStore() if request.param == "memory" else SqliteSessionStore(tmp_path / "state.db")
    )
    yield made
    await made.close()


async def test_an_async_block_closes_a_store(store: MemorySessionStore | SqliteSessionStore) -> None:
    async with store as opened:
        assert opened is store
        assert await store.create(ROW)
    with pytest.raises(StoreError):
        await store.get("one")


async def test_a_row_comes_back_as_it_was_put_in(store: SessionStore) -> None:
    row = replace(ROW, session_id="naïve \x00 '; --", state='{"text":"\U0001f600\\u0000"}')
    assert await store.create(row)
    assert await store.get(row.session_id) == row


async def test_an_unknown_id_gives_none(store: SessionStore) -> None:
    assert await store.get("nobody") is None


async def test_an_id_is_taken_once(store: SessionStore) -> None:
    assert await store.create(ROW)
    assert not await store.create(replace(ROW, state="other"))
    assert await store.get("one") == ROW


async def test_a_row_equal_to_the_one_there_is_not_created_again(store: SessionStore) -> None:
    assert await store.create(ROW)
    assert not await store.create(ROW)


async def test_replace_needs_the_version_that_is_there(store: SessionStore) -> None:
    await store.create(ROW)
    second = replace(ROW, version=2, state="second", touched_at=200.0)
    assert not await store.replace(second, expected_version=7)
    assert await store.get("one") == ROW
    assert await store.replace(second, expected_version=1)
    assert not await store.replace(replace(second, state="late"), expected_version=1)
    assert await store.get("one") == second


async def test_replace_does_not_bring_a_row_back(store: SessionStore) -> None:
    await store.create(ROW)
    assert await store.delete("one")
    assert not await store.replace(replace(ROW, version=2), expected_version=1)
    assert await store.get("one") is None


async def test_touch_moves_the_time_forward_only(store: SessionStore) -> None:
    await store.create(ROW)
    assert await store.touch("one", 300.0)
    assert await store.touch("one", 200.0)
    assert await store.get("one") == replace(ROW, touched_at=300.0)
    assert not await store.touch("nobody", 300.0)


async def test_a_touch_does_not_disturb_a_replace(store: SessionStore) -> None:
    await store.create(ROW)
    await store.touch("one", 300.0)
    assert await store.replace(replace(ROW, version=2), expected_version=1)


async def test_a_store_that_is_used_with_with_is_closed_behind_it(store: SessionStore) -> None:
    assert isinstance(store, (MemorySessionStore, SqliteSessionStore))
    with store as same:
        assert same is store
        await store.create(ROW)
    with pytest.raises(StoreError, match="closed"):
        await store.get("one")


async def test_delete_says_whether_there_was_something(store: SessionStore) -> None:
    await store.create(ROW)
    assert await store.delete("one")
    assert not await store.delete("one")
    assert await store.count() == 0


async def test_expire_removes_what_is_older_and_names_it(store: SessionStore) -> None:
    for name, at in (("c", 1.0), ("a", 2.0), ("b", 3.0), ("d", 4.0)):
        await store.create(replace(ROW, session_id=name, touched_at=at))
    assert await store.expire(3.0) == ["a", "c"]
    assert await store.expire(3.0) == []
    assert await store.count() == 2
    assert await store.get("b") is not None


async def test_of_many_writers_with_one_version_one_wins(store: SessionStore) -> None:
    await store.create(ROW)
    won: list[int] = []

    async def write(number: int) -> None:
        if await store.replace(replace(ROW, version=2, state=str(number)), expected_version=1):
            won.append(number)

    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(write, number)
    row = await store.get("one")
    assert row is not None
    assert [str(number) for number in won] == [row.state]


async def test_increments_by_compare_and_swap_are_not_lost(store: SessionStore) -> None:
    await store.create(replace(ROW, state="0"))

    async def increment() -> None:
        while True:
            row = await store.get("one")
            assert row is not None
            await anyio.lowlevel.checkpoint()
            new = replace(row, version=row.version + 1, state=str(int(row.state) + 1))
            if await store.replace(new, expected_version=row.version):
                return

    async with anyio.create_task_group() as group:
        for _ in range(15):
            group.start_soon(increment)
    row = await store.get("one")
    assert row is not None
    assert (row.state, row.version) == ("15", 16)


async def test_a_closed_store_says_so(store: SessionStore) -> None:
    await store.create(ROW)
    await store.close()
    await store.close()
    with pytest.raises(StoreError, match="closed"):
        await store.get("one")
    with pytest.raises(StoreError, match="closed"):
        await store.create(ROW)


async def test_events_are_numbered_for_each_session_and_read_in_order(store: SessionStore) -> None:
    assert isinstance(store, EventStore)
    assert await store.last_event("one") == 0
    assert await store.events_after("one", 0, 10) == []
    for number in range(1, 4):
        assert await store.append_event("one", f"e{number}", at=100.0, keep=100) == number
    assert await store.append_event("two", "other", at=100.0, keep=100) == 1
    assert await store.events_after("one", 1, 1) == [KeptEvent(sequence=2, body="e2")]
    assert [event.body for event in await store.events_after("one", 0, 10)] == ["e1", "e2", "e3"]
    assert await store.last_event("one") == 3


async def test_only_the_newest_events_stay(store: SessionStore) -> None:
    assert isinstance(store, EventStore)
    for number in range(64):
        await store.append_event("one", str(number), at=100.0, keep=16)
    assert [event.sequence for event in await store.events_after("one", 0, 100)] == list(range(49, 65))


async def test_events_go_with_the_sweep_after_their_session(store: SessionStore) -> None:
    assert isinstance(store, EventStore)
    await store.create(ROW)
    await store.create(replace(ROW, session_id="two"))
    for name in ("one", "two", "closed"):
        await store.append_event(name, "early", at=100.0, keep=10)
    await store.append_event("closed", "late", at=900.0, keep=10)
    await store.delete("two")
    assert await store.last_event("two") == 1  # its end can still be read
    await store.expire(50.0)
    assert await store.last_event("two") == 1
    await store.touch("one", 900.0)
    await store.expire(500.0)
    assert await store.last_event("one") == 1  # of a session that lives
    assert await store.last_event("two") == 0
    assert [event.body for event in await store.events_after("closed", 0, 10)] == ["late"]
