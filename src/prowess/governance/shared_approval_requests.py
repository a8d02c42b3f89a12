"""Questions whether skills may be used, in the store of an organisation.

A session that is refused for want of an approval leaves the question there, so that people find it.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.json import encode

from prowess.errors import StoreError
from prowess.store import RequestRow, SharedApprovalRequestStore

if TYPE_CHECKING:
    from prowess.store import SharedDatabase


class AskedSkill(Struct, frozen=True, kw_only=True):
    """The body of a stored question. `by` is who asked; None if a session was refused."""

    skill: str
    digest: str
    capabilities: tuple[str, ...] | None = None
    reason: str = ""
    by: str | None = None


def request_row(request_id: str, body: AskedSkill) -> RequestRow:
    """Return the row of a question that is asked now."""
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return RequestRow(id=request_id, at=at, body=encode(body).decode())


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
