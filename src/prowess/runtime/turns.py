"""Who loads waits for who is loading, and for nobody else.

A lock of anyio gives way to other tasks and looks for a cancellation whenever it is taken. Every call has done both in
the door, a moment before; so here that is left to the case in which there is something to wait for.
"""

from __future__ import annotations

import anyio


class Turns:
    """A lock for `async with`, for tasks of one loop, in the order in which they come."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = anyio.Lock(fast_acquire=True)

    async def __aenter__(self) -> None:
        try:
            self._lock.acquire_nowait()
        except anyio.WouldBlock:
            await self._lock.acquire()

    async def __aexit__(self, *failure: object) -> None:
        self._lock.release()
