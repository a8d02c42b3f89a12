"""New records of each tenant for streams. The store is asked while somebody listens, once for all listeners.

A look takes one transaction of two indexed statements. Asking ten times a second needs no connection of its own for
each process, and is the same on SQLite, which cannot notify.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from prowess.audit.transparency.arriving_records import ArrivingRecords
from prowess.store.shared.audit_rows import SharedAuditRows

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from prowess.audit.transparency.arriving_records import ArrivedRecord
    from prowess.store.shared.database import SharedDatabase

_SECONDS = 0.1  # between two looks
_IDLE_SECONDS = 5.0  # after so long without a look, the records in between are skipped
_KEPT = 1000


class LiveRecords:
    """The feed of one tenant. Belongs to one event loop. It ends when `is_over` returns true: the server ends."""

    def __init__(self, database: SharedDatabase, is_over: Callable[[], bool] = lambda: False) -> None:
        self._is_over = is_over
        self._rows = SharedAuditRows(database)
        self._records = ArrivingRecords(self._rows)
        self._kept: deque[ArrivedRecord] = deque(maxlen=_KEPT)
        self._count = 0  # of all records that were ever in `_kept`
        self._looked = float("-inf")
        self._lock = anyio.Lock()

    async def listen(self, after: str | None) -> AsyncIterator[list[ArrivedRecord]]:
        """Yield the records after the one with the id `after`, or those from now on; every tenth of a second a list.

        Lists may be empty. Raises StoreError.
        """
        await self._look()
        ids = [one.id for one in self._kept]
        known = len(ids) - ids.index(after) - 1 if after in ids else 0
        position = self._count - known
        while not self._is_over():
            first = max(0, len(self._kept) - (self._count - position))
            found = list(self._kept)[first:] if position < self._count else []
            position = self._count
            yield found
            await anyio.sleep(_SECONDS)
            await self._look()

    async def _look(self) -> None:
        async with self._lock:
            now = anyio.current_time()
            if now - self._looked < _SECONDS / 2:
                return
            if now - self._looked > _IDLE_SECONDS:
                self._records = ArrivingRecords(self._rows)
                self._kept.clear()
            found = await to_thread.run_sync(self._records.look)
            self._looked = anyio.current_time()
            self._kept.extend(found)
            self._count += len(found)
