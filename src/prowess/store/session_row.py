"""A session as a store sees it: a text under an id, with a version and the time of the last touch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, cast

from prowess._internal.quickly_made import quickly_made


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """`state` is JSON text that the store does not read; `touched_at` is in seconds since the epoch."""

    session_id: str
    version: int
    state: str
    touched_at: float


class SessionStore(Protocol):
    """Keeps rows. Every operation is atomic, also against other processes on the same store.

    Raises:
        StoreError: from every operation, where the store cannot be reached, read or written.
    """

    async def create(self, row: SessionRow) -> bool:
        """Add a row; False, and nothing changes, where the id is taken."""

    async def get(self, session_id: str) -> SessionRow | None:
        """Return the row, or None."""

    async def replace(self, row: SessionRow, *, expected_version: int) -> bool:
        """Put `row` in place of the one with its id if that has `expected_version`; False, unchanged, otherwise."""

    async def touch(self, session_id: str, at: float) -> bool:
        """Move the time of the last touch forward, never back; the version stays. False where the row is gone."""

    async def delete(self, session_id: str) -> bool:
        """Remove the row; False where it is gone already."""

    async def expire(self, before: float) -> list[str]:
        """Remove every row last touched before that time; return their ids in order."""

    async def count(self) -> int:
        """Return the number of rows."""

    async def close(self) -> None:
        """Give up what the store holds open; a second time does nothing, and other operations fail from then on."""


class InstantStore(SessionStore, Protocol):
    """A store that never waits: three operations, asked for several times in every call, also as plain functions.

    A session decides when it is made whether its store is one (`instant`). Who wants to change what such a store does,
    for a test, derives a class from it.
    """

    def get_now(self, session_id: str) -> SessionRow | None:
        """Do what `get` does."""

    def replace_now(self, row: SessionRow, *, expected_version: int) -> bool:
        """Do what `replace` does."""

    def touch_now(self, session_id: str, at: float) -> bool:
        """Do what `touch` does."""


def instant(store: SessionStore) -> InstantStore | None:
    """Return a store whose plain functions are certain to do what its operations do; None for every other.

    It counts where one class has both forms. A class that is derived from it, or a store that was given an operation of
    its own, may do something else in one of them.
    """
    own = getattr(store, "__dict__", {}).keys()
    return cast("InstantStore", store) if vars(type(store)).keys() >= _FORMS and not _FORMS & own else None


_FORMS = frozenset({"get", "get_now", "replace", "replace_now", "touch", "touch_now"})
