"""A session as a store sees it: a text under an id, with a version and the time of the last touch."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct


class SessionRow(Struct, frozen=True, kw_only=True):
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
