"""Who loads waits for who is loading, and for nobody else.

A lock of anyio gives way to other tasks and looks for a cancellation whenever it is taken, and asks twice which task
that is. Every call has done the first two in the door, a moment before; so here that is left to the case in which there
is something to wait for.
"""

from __future__ import annotations

import asyncio
import sys
from collections import deque

import anyio


class Turns:
    """A lock for `async with`, for tasks of one loop, in the order in which they come.

    Raises:
        RuntimeError: from `async with`, for a task that would wait for itself.
    """

    __slots__ = ("_holder", "_waiting")

    def __init__(self) -> None:
        self._holder: object = _NOBODY
        self._waiting: deque[tuple[object, anyio.Event]] = deque()

    @property
    def is_taken(self) -> bool:
        """Whether a task has its turn."""
        return self._holder is not _NOBODY

    async def __aenter__(self) -> None:
        task = _this_task()
        if self._holder is _NOBODY:
            self._holder = task
            return
        if self._holder == task:
            message = "this task has its turn already"
            raise RuntimeError(message)
        turn = (task, anyio.Event())
        self._waiting.append(turn)
        try:
            await turn[1].wait()
        except BaseException:
            if turn in self._waiting:
                self._waiting.remove(turn)
            else:  # the turn came, and who was to have it is gone
                self._pass_on()
            raise

    async def __aexit__(self, *failure: object) -> None:
        self._pass_on()

    def _pass_on(self) -> None:
        """Hand the turn to who has waited longest; nobody can take it between the two."""
        self._holder = _NOBODY
        if self._waiting:
            self._holder, came = self._waiting.popleft()
            came.set()


_NOBODY = object()


def _this_task() -> object:
    try:  # anyio would ask first which library runs, and would make a description of the task
        task = asyncio.current_task()
    except RuntimeError:
        return anyio.get_current_task()
    # None in a loop of asyncio in which trio is a guest.
    return anyio.get_current_task() if task is None and "trio" in sys.modules else task
