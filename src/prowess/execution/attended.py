"""Run blocking work in a thread that learns of a cancellation and is then waited for.

A run of a script must not be abandoned: whoever cancels it gets control back only once its processes are dead. Threads
cannot be cancelled, so the work watches one end of a socket pair. The other end is shut when the caller is cancelled,
and what the work closes at its end tells the caller that it is over. The usual run, which nobody cancels, costs no task
group and no event, which would be turns of the event loop that every run pays for.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import TYPE_CHECKING, TypeVar, cast

import anyio
import anyio.to_thread

if TYPE_CHECKING:
    from collections.abc import Callable

_Result = TypeVar("_Result")


async def attended(work: Callable[[int], _Result], *, limiter: anyio.CapacityLimiter) -> _Result:
    """Return what `work(wake)` returns, or raise what it raises; `wake` becomes readable when the caller is cancelled.

    After a cancellation this waits until `work` has returned, however long that takes, and then raises the
    cancellation: `work` has to mind its `wake`.
    """
    ours, theirs = socket.socketpair()
    claim = threading.Lock()  # taken by the work when it begins, or by a caller who was cancelled before that

    def begin() -> _Result | None:
        if not claim.acquire(blocking=False):
            return None  # the caller has gone, nobody hears this
        with theirs:
            return work(theirs.fileno())

    with ours:
        try:
            return cast("_Result", await anyio.to_thread.run_sync(begin, abandon_on_cancel=True, limiter=limiter))
        except BaseException:
            if claim.acquire(blocking=False):
                theirs.close()
            else:
                with contextlib.suppress(OSError):  # the work is over, so its end is closed
                    ours.shutdown(socket.SHUT_WR)
                with anyio.CancelScope(shield=True):
                    await anyio.wait_readable(ours)
            raise
