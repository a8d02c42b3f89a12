"""Changes of a catalog for code in an event loop: a worker thread waits for them."""

from __future__ import annotations

import threading
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

import anyio
from anyio import CapacityLimiter, to_thread

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator

T = TypeVar("T")


async def handle_changes(
    watch: Callable[[Callable[[], bool]], Generator[T, None, None]], handle: Callable[[T], Awaitable[object]]
) -> None:
    """Await `handle` for each value of a blocking generator, until cancelled or until the generator ends.

    `watch(stopped)` returns the generator, such as `Catalog.watch` or `CatalogWatch.looks`, which ends soon after
    `stopped()` returns True. When this function returns, the generator is closed and no thread is left.
    """
    stopped = threading.Event()
    values = watch(stopped.is_set)
    limiter = CapacityLimiter(1)  # the thread mostly waits, so it must not count as one of the event loop's threads

    async def follow() -> None:
        try:
            while following := await to_thread.run_sync(list, islice(values, 1), limiter=limiter):
                await handle(following[0])
            tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(values.close, limiter=limiter)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(follow)
        try:
            # A cancellation cannot interrupt the thread, but this sleep; the thread then ends by itself.
            await anyio.sleep_forever()
        finally:
            stopped.set()
