"""Changes of a catalog for code in an event loop: a worker thread waits for them."""

from __future__ import annotations

import threading
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

import anyio
from anyio import CapacityLimiter, to_thread

from prowess.catalog.watching.catalog_watch import CatalogWatch

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator

    from prowess.catalog import Catalog, Notice
    from prowess.catalog.watching.skill_changes import SkillChange

T = TypeVar("T")


async def handle_looks(
    catalog: Catalog, looked: Callable[[], Awaitable[object]], *, tell: Callable[[Notice], object] | None = None
) -> None:
    """Keep a catalog up to date until cancelled, and await `looked()` whenever it may have changed.

    `tell` is called in a worker thread with each notice (`CatalogWatch`). All threads have ended when this returns.
    """

    async def handle(look: None) -> None:
        del look
        await looked()

    await _handle(CatalogWatch(catalog, tell=tell).looks, handle)


async def handle_batches(
    catalog: Catalog,
    changed: Callable[[tuple[SkillChange, ...]], Awaitable[object]],
    *,
    tell: Callable[[Notice], object] | None = None,
) -> None:
    """Keep a catalog up to date until cancelled, and await `changed(batch)` for each batch of `Catalog.watch`."""
    await _handle(lambda stopped: catalog.watch(stopped=stopped, tell=tell), changed)


async def _handle(
    begin: Callable[[Callable[[], bool]], Generator[T, None, None]], handle: Callable[[T], Awaitable[object]]
) -> None:
    """Await `handle` for each value of the blocking generator `begin(stopped)`, which ends soon after `stopped()`."""
    stopped = threading.Event()
    values = begin(stopped.is_set)
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
