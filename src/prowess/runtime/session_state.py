"""Reads and writes a session's state in its store. No other module accesses the stored state.

A change reads the newest row, applies a pure transition and writes by compare and swap. If another task or process
wrote in between, the change is repeated on the new row. So parallel calls behave as if they ran one after another, and
the cap on active skills always holds. A session that is unused for its time to live expires. A `StoredState` that has
seen its session expire never opens the session again. If the catalog no longer lists a skill, the next read removes the
skill from the state. The skill becomes active again only by a new load.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

import anyio

from prowess.errors import SessionNotFoundError, StoreError, UnavailableError
from prowess.runtime.state import SessionState, Transition, from_json, pruned, to_json
from prowess.store import PeekingStore, SessionRow

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from prowess.runtime.state import ActiveSkill
    from prowess.store import SessionStore

DEFAULT_TTL_SECONDS = 86_400.0  # 24 hours without a call
_GRAIN_SECONDS = 0.125  # Another touch within this time, or within 1/1000 of the time to live, is not written.
_ATTEMPTS = 64
_NOT_READ = -1  # generation of a row that was just written
_LONGEST_PAUSE = 0.02  # seconds; a competing write takes far less


class StoredState:
    """State of one session in one store. `state` is the last state that this object has read.

    `listed` returns whether the catalog still offers an active skill. `ended` is awaited with the ids of sessions that
    have expired or were closed, to remove their artifacts. `expired` is awaited with the last state of this session
    after its expiry, in the one process that removes the session. `dropped` is awaited with skills that were removed
    because the catalog no longer lists them.
    """

    def __init__(
        self,
        store: SessionStore,
        session_id: str,
        *,
        ttl_seconds: float,
        listed: Callable[[ActiveSkill], bool],
        ended: Callable[[list[str]], Awaitable[None]],
        expired: Callable[[SessionState], Awaitable[None]] | None = None,
        dropped: Callable[[Sequence[ActiveSkill]], Awaitable[None]] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._session_id, self._ttl = store, session_id, ttl_seconds
        self._grain = min(_GRAIN_SECONDS, ttl_seconds / 1000)
        self.is_listed, self._ended, self._clock = listed, ended, clock
        self._opened = self._gone = False
        self._expired, self._dropped = expired, dropped
        self._removed: list[ActiveSkill] = []
        self._read: tuple[str, SessionState] = ("", SessionState())  # the last stored text and its parsed state
        self.state = SessionState()

    def look(self) -> None:
        """Read the state now if the store supports blocking reads. If reading fails, the next call raises the error."""
        if not isinstance(self._store, PeekingStore):
            return
        with suppress(StoreError):
            row = self._store.peek(self._session_id)
            if row is not None and self._clock() - row.touched_at <= self._ttl:
                self.state = pruned(self._understood(row.state), self.is_listed).state

    async def touch(self) -> int | None:
        """Record that the session is in use. If the session is gone, do nothing: the call reports the error.

        Return the generation of governance that was read with the row, None if the row is new or gone.
        """
        try:
            row = await self._row()
        except SessionNotFoundError:
            return None
        now = self._clock()
        if now - row.touched_at >= self._grain:
            await self._store.touch(self._session_id, now)
        return None if row.generation == _NOT_READ else row.generation

    async def current(self) -> SessionState:
        """Return the newest state, without unlisted skills. Raise SessionNotFoundError or StoreError."""
        return (await self.change(lambda state: Transition(state=state))).state

    async def change(self, transition: Callable[[SessionState], Transition]) -> Transition:
        """Apply a transition to the newest state and store the result.

        The transition may be called several times. If it raises, the stored state is unchanged.

        Raises:
            SessionNotFoundError, StoreError: see `current`.
            UnavailableError: in every attempt another writer changed the state first.
        """
        for attempt in range(_ATTEMPTS):
            row = await self._row()
            stored = self._understood(row.state)
            pruning = None
            for skill in stored.active:
                if not self.is_listed(skill):
                    pruning = pruned(stored, self.is_listed)
                    break
            step = transition(stored if pruning is None else pruning.state)
            if _is_same(step.state, stored):
                self.state = stored
                return step
            written = self._next_row(row, step.state)
            if await self._store.replace(written, expected_version=row.version):
                self._note_written(written, step.state)
                if pruning is not None:
                    gone = [skill for skill in stored.active if skill not in pruning.state.active]
                    self._removed += gone
                    if self._dropped is not None:
                        await self._dropped(gone)
                return step
            await anyio.sleep(_pause(attempt))
        raise UnavailableError(f"the state of session {self._session_id!r}", 1.0, "other calls keep changing it")

    def take_removed(self) -> tuple[ActiveSkill, ...]:
        """Return skills removed because the catalog no longer lists them. Each removal is returned only once."""
        if not self._removed:
            return ()
        removed, self._removed = {skill.name: skill for skill in self._removed}, []
        return tuple(removed.values())

    async def close(self) -> None:
        """Delete the session. Does nothing if it is already gone."""
        if self._gone:
            return
        self._gone, self.state = True, SessionState()
        await self._store.delete(self._session_id)
        await self._ended([self._session_id])

    async def _row(self) -> SessionRow:
        row = None if self._gone else await self._store.get(self._session_id)
        return row if row is not None and self._is_in_use(row) else await self._looked_after(row)

    def _next_row(self, row: SessionRow, state: SessionState) -> SessionRow:
        return SessionRow(
            session_id=self._session_id, version=row.version + 1, state=to_json(state), touched_at=self._clock()
        )

    def _note_written(self, row: SessionRow, state: SessionState) -> None:
        self.state = state
        self._read = (row.state, state)

    def _understood(self, text: str) -> SessionState:
        """Parse a stored text. The last result is cached, because most reads return an unchanged text."""
        known, state = self._read
        if text != known:
            state = from_json(text)
            self._read = (text, state)
        return state

    def _is_in_use(self, row: SessionRow) -> bool:
        """Return whether this object has read the session before and the session has not expired."""
        return self._opened and self._clock() - row.touched_at <= self._ttl

    async def _looked_after(self, row: SessionRow | None) -> SessionRow:
        """Return the row if `_is_in_use` is false. Separate from `_row`, which runs several times in every call."""
        if self._gone:
            raise SessionNotFoundError(self._session_id)
        if row is not None:
            if self._clock() - row.touched_at <= self._ttl:
                self._opened = True
                return row
            if await self._store.delete(self._session_id) and self._expired is not None:
                await self._expired(self._understood(row.state))
            await self._ended([self._session_id])
        if self._opened:
            self._gone, self.state = True, SessionState()
            raise SessionNotFoundError(self._session_id)
        row = await self._create()
        self._opened = True
        return row

    async def _create(self) -> SessionRow:
        # Each new session removes expired ones, so no background task is needed. Other sessions are never removed
        # before the default time to live, because they may rely on it.
        if expired := await self._store.expire(self._clock() - max(self._ttl, DEFAULT_TTL_SECONDS)):
            await self._ended(expired)
        row = SessionRow(
            session_id=self._session_id,
            version=1,
            state=to_json(SessionState()),
            touched_at=self._clock(),
            generation=_NOT_READ,
        )
        if await self._store.create(row):
            return row
        return await self._store.get(self._session_id) or row  # another process created it just now


def _is_same(state: SessionState, stored: SessionState) -> bool:
    return state is stored or (state.active == stored.active and state == stored)


def _pause(attempt: int) -> float:
    """Return a random number of seconds, so that two writers do not collide again; 0 for the first attempt."""
    if not attempt:
        return 0
    import random  # imported here: rarely needed

    return random.uniform(0, _LONGEST_PAUSE)  # noqa: S311 -- not a secret
