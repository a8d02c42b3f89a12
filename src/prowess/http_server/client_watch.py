"""Runs the blocking work of a request in a worker thread, and ends it if the client goes before it has the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import anyio
from anyio import to_thread

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.governance.service.call_limit import CallLimit
    from prowess.http_listener.error_bodies import Receive

MOST_SECONDS = 300.0  # in which one request may read a log
_T = TypeVar("_T")


async def run_for_client(work: Callable[[], _T], receive: Receive, limit: CallLimit) -> _T:
    """Return the result of `work`, or raise its error. The body of the request must have been read."""
    fault: Exception | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_watch, receive, limit)
        try:
            result = await to_thread.run_sync(work)
        except Exception as caught:  # noqa: BLE001 -- raised again below: the group would wrap it
            fault = caught
        tasks.cancel_scope.cancel()
    if fault is not None:
        raise fault
    return result


async def _watch(receive: Receive, limit: CallLimit) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    limit.client_has_gone()
