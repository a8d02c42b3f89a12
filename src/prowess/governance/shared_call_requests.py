"""Requests of single calls in the store of an organisation: all processes with the store share the answers.

The store has the arguments of the calls, so that a person can judge them, for at most a week.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from msgspec.json import encode

from prowess.governance.call_requests import SECONDS_KEPT, CallRequests, request_of
from prowess.store import CallRequestRow
from prowess.store.shared.requests import SharedCallRequestStore
from prowess.store.tenants import suggested_url

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.governance.call_requests import CallRequest
    from prowess.store import SharedDatabase


class SharedCallRequests(CallRequests):
    """The requests of the sessions of one tenant."""

    def __init__(self, database: SharedDatabase) -> None:
        self._store = SharedCallRequestStore(database)
        self.advice = f" --store {suggested_url(database.url)}"

    def all(self) -> list[CallRequest]:
        """Return every request, the oldest first. Raises StoreError."""
        rows = self._store.calls(time.time())
        found = [one for row in rows if (one := request_of(row.body.encode(), row.id)) is not None]
        return sorted(found, key=lambda one: (one.at, one.id))

    def _change(self, request_id: str, change: Callable[[CallRequest | None], CallRequest | None]) -> None:
        def changed(body: str | None) -> CallRequestRow | None:
            after = change(None if body is None else request_of(body.encode(), request_id))
            if after is None:
                return None
            return CallRequestRow(id=after.id, body=encode(after).decode(), expires_at=after.at + SECONDS_KEPT)

        self._store.change_call(request_id, changed, at=time.time())
