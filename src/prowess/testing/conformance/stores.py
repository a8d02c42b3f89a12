"""The conformance suites of stores, one for each protocol of `prowess.store`. Every store must pass them.

Subclass a suite in a test module, and pytest runs its tests:

    class TestMyStore(SessionStoreConformance):
        def open_store(self, place):
            return MyStore(place / "sessions")

Each test opens a new, empty store in a new directory from pytest (`tmp_path`).
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Protocol, TypeVar

import anyio
import anyio.lowlevel
from msgspec.structs import replace

from prowess.errors import StoreError
from prowess.store import EventStore, KeptEvent, PeekingStore, SessionRow, SessionStore, Token
from prowess.testing.conformance.decision_stores import (
    HOSTILE_TEXTS,
    ApprovalRequestStoreConformance,
    BlockStoreConformance,
    CallRequestStoreConformance,
    DeployerStoreConformance,
    PolicyStoreConformance,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from pathlib import Path

    from prowess.store import TokenStore, VoteStore

__all__ = [
    "ApprovalRequestStoreConformance",
    "BlockStoreConformance",
    "CallRequestStoreConformance",
    "DeployerStoreConformance",
    "EventStoreConformance",
    "PolicyStoreConformance",
    "SessionStoreConformance",
    "TokenStoreConformance",
    "VoteStoreConformance",
]

_ROW = SessionRow(session_id="one", version=1, state='{"active":[]}', touched_at=100.5)
_TOKEN = Token(id="one", tenant="default", role="viewer", user="naïve \x00", created_at=1.5)
_S = TypeVar("_S", bound=SessionStore)


class SessionsWithEvents(SessionStore, EventStore, Protocol):
    """A store of sessions and of their events."""


class SessionStoreConformance:
    """The tests of `SessionStore`."""

    def open_store(self, place: Path) -> SessionStore:
        """Return a new, empty store. `place` is an empty directory for its files."""
        raise NotImplementedError

    def test_a_row_is_returned_as_it_was_stored(self, tmp_path: Path) -> None:
        """Ids and states may contain any characters, and ids are compared exactly."""

        async def check(store: SessionStore) -> None:
            rows = [replace(_ROW, session_id=text, state=f'{{"text":"{text}"}}') for text in HOSTILE_TEXTS]
            for row in rows:
                assert await store.create(row)
            assert [await store.get(row.session_id) for row in rows] == rows
            assert await store.get("one") is None

        _run(self.open_store(tmp_path), check)

    def test_an_id_is_used_once(self, tmp_path: Path) -> None:
        """A second row with the id is refused, also an equal one, and changes nothing."""

        async def check(store: SessionStore) -> None:
            assert await store.create(_ROW)
            assert not await store.create(replace(_ROW, state="other"))
            assert not await store.create(_ROW)
            assert await store.get("one") == _ROW

        _run(self.open_store(tmp_path), check)

    def test_replace_needs_the_version_that_is_stored(self, tmp_path: Path) -> None:
        """Compare and swap."""

        async def check(store: SessionStore) -> None:
            await store.create(_ROW)
            second = replace(_ROW, version=2, state="second", touched_at=200.0)
            assert not await store.replace(second, expected_version=7)
            assert await store.get("one") == _ROW
            assert await store.replace(second, expected_version=1)
            assert not await store.replace(replace(second, state="late"), expected_version=1)
            assert await store.get("one") == second

        _run(self.open_store(tmp_path), check)

    def test_replace_does_not_restore_a_deleted_row(self, tmp_path: Path) -> None:
        """A deleted row has no version."""

        async def check(store: SessionStore) -> None:
            await store.create(_ROW)
            assert await store.delete("one")
            assert not await store.delete("one")
            assert not await store.replace(replace(_ROW, version=2), expected_version=1)
            assert await store.get("one") is None
            assert await store.count() == 0

        _run(self.open_store(tmp_path), check)

    def test_touch_only_increases_the_time(self, tmp_path: Path) -> None:
        """The version stays, so a touch never disturbs a replacement."""

        async def check(store: SessionStore) -> None:
            await store.create(_ROW)
            assert await store.touch("one", 300.0)
            assert await store.touch("one", 200.0)
            assert await store.get("one") == replace(_ROW, touched_at=300.0)
            assert not await store.touch("nobody", 300.0)
            assert await store.replace(replace(_ROW, version=2), expected_version=1)

        _run(self.open_store(tmp_path), check)

    def test_expire_removes_older_rows_and_returns_their_ids(self, tmp_path: Path) -> None:
        """The time itself is not older."""

        async def check(store: SessionStore) -> None:
            for name, at in (("c", 1.0), ("a", 2.0), ("b", 3.0), ("d", 4.0)):
                await store.create(replace(_ROW, session_id=name, touched_at=at))
            assert await store.expire(3.0) == ["a", "c"]
            assert await store.expire(3.0) == []
            left = [name for name in "abcd" if await store.get(name) is not None]
            assert (left, await store.count()) == (["b", "d"], len(left))

        _run(self.open_store(tmp_path), check)

    def test_one_of_many_writers_with_the_same_version_wins(self, tmp_path: Path) -> None:
        """Twenty tasks at once."""

        async def check(store: SessionStore) -> None:
            await store.create(_ROW)
            won: list[str] = []

            async def write(number: int) -> None:
                if await store.replace(replace(_ROW, version=2, state=str(number)), expected_version=1):
                    won.append(str(number))

            await _together(20, write)
            row = await store.get("one")
            assert row is not None
            assert won == [row.state]

        _run(self.open_store(tmp_path), check)

    def test_no_increment_by_compare_and_swap_is_lost(self, tmp_path: Path) -> None:
        """Fifteen tasks increment one number."""

        async def check(store: SessionStore) -> None:
            await store.create(replace(_ROW, state="0"))

            async def increment(number: int) -> None:
                del number
                while True:
                    row = await store.get("one")
                    assert row is not None
                    await anyio.lowlevel.checkpoint()
                    new = replace(row, version=row.version + 1, state=str(int(row.state) + 1))
                    if await store.replace(new, expected_version=row.version):
                        return

            await _together(15, increment)
            row = await store.get("one")
            assert row is not None
            assert (row.state, row.version) == ("15", 16)

        _run(self.open_store(tmp_path), check)

    def test_a_row_can_be_read_without_an_event_loop(self, tmp_path: Path) -> None:
        """Only for a store that is a `PeekingStore`."""
        store = self.open_store(tmp_path)
        if isinstance(store, PeekingStore):
            assert store.peek("one") is None
            anyio.run(store.create, _ROW)
            assert store.peek("one") == _ROW
        anyio.run(store.close)

    def test_a_closed_store_refuses_every_operation(self, tmp_path: Path) -> None:
        """Closing it twice is allowed."""

        async def check(store: SessionStore) -> None:
            await store.create(_ROW)
            await store.close()
            await store.close()
            for operation in (store.get("one"), store.create(_ROW), store.expire(1.0), store.count()):
                reason = ""
                try:
                    await operation
                except StoreError as fault:
                    reason = fault.reason
                assert "closed" in reason

        _run(self.open_store(tmp_path), check)


class EventStoreConformance:
    """The tests of `EventStore`, for a store that stores the sessions too."""

    def open_store(self, place: Path) -> SessionsWithEvents:
        """Return a new, empty store. `place` is an empty directory for its files."""
        raise NotImplementedError

    def test_events_are_numbered_for_each_session_and_read_in_order(self, tmp_path: Path) -> None:
        """Numbers begin with 1, and bodies may contain any characters."""

        async def check(store: SessionsWithEvents) -> None:
            assert await store.last_event("one") == 0
            assert await store.events_after("one", 0, 10) == []
            for number, body in enumerate(HOSTILE_TEXTS, 1):
                assert await store.append_event("one", body, at=100.0, keep=100) == number
            assert await store.append_event("one\x00", "other", at=100.0, keep=100) == 1
            assert await store.events_after("one", 1, 1) == [KeptEvent(sequence=2, body=HOSTILE_TEXTS[1])]
            assert tuple(event.body for event in await store.events_after("one", 0, 10**6)) == HOSTILE_TEXTS
            assert await store.last_event("one") == len(HOSTILE_TEXTS)

        _run(self.open_store(tmp_path), check)

    def test_only_the_newest_events_are_kept(self, tmp_path: Path) -> None:
        """The numbers go on."""

        async def check(store: SessionsWithEvents) -> None:
            for number in range(64):
                await store.append_event("one", str(number), at=100.0, keep=16)
            assert [event.sequence for event in await store.events_after("one", 0, 100)] == list(range(49, 65))

        _run(self.open_store(tmp_path), check)

    def test_events_of_many_writers_have_consecutive_numbers(self, tmp_path: Path) -> None:
        """Each writer gets the number of its event."""

        async def check(store: SessionsWithEvents) -> None:
            got: dict[int, str] = {}

            async def append(number: int) -> None:
                for part in range(3):
                    body = f"{number} {part}"
                    got[await store.append_event("one", body, at=100.0, keep=100)] = body

            await _together(10, append)
            kept = await store.events_after("one", 0, 100)
            assert [event.sequence for event in kept] == list(range(1, 31))
            assert {event.sequence: event.body for event in kept} == got

        _run(self.open_store(tmp_path), check)

    def test_events_are_removed_by_the_expiry_after_their_session(self, tmp_path: Path) -> None:
        """Until then the end of a session can be read."""

        async def check(store: SessionsWithEvents) -> None:
            await store.create(_ROW)
            await store.create(replace(_ROW, session_id="two"))
            for name in ("one", "two", "closed"):
                await store.append_event(name, "early", at=100.0, keep=10)
            await store.append_event("closed", "late", at=900.0, keep=10)
            await store.delete("two")
            assert await store.last_event("two") == 1
            await store.expire(50.0)
            assert await store.last_event("two") == 1
            await store.touch("one", 900.0)
            await store.expire(500.0)
            assert await store.last_event("one") == 1
            assert await store.last_event("two") == 0
            assert [event.body for event in await store.events_after("closed", 0, 10)] == ["late"]

        _run(self.open_store(tmp_path), check)


class TokenStoreConformance:
    """The tests of `TokenStore`, for a store with the tenant `default`."""

    def open_store(self, place: Path) -> TokenStore:
        """Return a new, empty store. `place` is an empty directory for its files."""
        raise NotImplementedError

    def test_a_token_is_found_by_its_digest_and_its_use_is_noted(self, tmp_path: Path) -> None:
        """Tokens are listed, the oldest first, and found by nothing else than the whole digest."""
        store = self.open_store(tmp_path)
        assert store.add_token(replace(_TOKEN, id="new", created_at=9.0, team="a\x00b"), b"n" * 32)
        assert store.add_token(_TOKEN, b"t" * 32)
        assert store.tokens() == [_TOKEN, replace(_TOKEN, id="new", created_at=9.0, team="a\x00b")]
        used = replace(_TOKEN, used_at=50.0)
        assert store.use_token(b"t" * 32, 50.0) == used
        assert store.tokens()[0] == used
        for digest in (b"t" * 31, b"", b"x" * 32):
            assert store.use_token(digest, 50.0) is None

    def test_a_token_that_has_expired_or_was_removed_is_not_found(self, tmp_path: Path) -> None:
        """The time of the expiry itself is too late."""
        store = self.open_store(tmp_path)
        assert store.add_token(replace(_TOKEN, expires_at=100.0), b"t" * 32)
        assert store.use_token(b"t" * 32, 99.5) is not None
        assert store.use_token(b"t" * 32, 100.0) is None
        assert store.remove_token(_TOKEN.id)
        assert not store.remove_token(_TOKEN.id)
        assert store.use_token(b"t" * 32, 50.0) is None

    def test_a_token_of_an_unknown_tenant_is_refused(self, tmp_path: Path) -> None:
        """Nothing is stored."""
        store = self.open_store(tmp_path)
        assert not store.add_token(replace(_TOKEN, tenant="nobody"), b"t" * 32)
        assert store.tokens() == []


class VoteStoreConformance:
    """The tests of `VoteStore`."""

    def open_store(self, place: Path) -> VoteStore:
        """Return a new, empty store. `place` is an empty directory for its files."""
        raise NotImplementedError

    def test_votes_are_returned_as_they_were_stored_in_their_order(self, tmp_path: Path) -> None:
        """Their texts may contain any characters."""
        with closing(self.open_store(tmp_path)) as store:
            assert store.votes() == []
            for number, text in enumerate(HOSTILE_TEXTS, 1):
                assert store.add_vote(text, number=number)
            assert store.votes() == list(HOSTILE_TEXTS)

    def test_a_number_is_given_once_and_none_is_left_out(self, tmp_path: Path) -> None:
        """Who has not seen the newest vote must look again. A refused vote changes nothing."""
        with closing(self.open_store(tmp_path)) as store:
            assert store.add_vote("one", number=1)
            before = store.generation()
            for number in (0, 1, 3):
                assert not store.add_vote("late", number=number)
            assert (store.votes(), store.generation()) == (["one"], before)

    def test_each_vote_is_a_new_generation(self, tmp_path: Path) -> None:
        """So every session looks at the votes again."""
        with closing(self.open_store(tmp_path)) as store:
            seen = [store.generation()]
            for number in (1, 2):
                assert store.add_vote("vote", number=number)
                seen.append(store.generation())
            assert seen == sorted(set(seen))


def _run(store: _S, check: Callable[[_S], Awaitable[None]]) -> None:
    """Run a test on an event loop, and close the store after it."""

    async def run() -> None:
        try:
            await check(store)
        finally:
            await store.close()

    anyio.run(run)


async def _together(count: int, work: Callable[[int], Coroutine[object, object, None]]) -> None:
    async with anyio.create_task_group() as group:
        for number in range(count):
            group.start_soon(work, number)
