"""Run blocking work in a thread; on cancellation, tell the thread and wait for it.

A run of a script must not be abandoned: a caller that cancels a run gets control back only after the processes of the
run are dead. Threads cannot be cancelled, so the work watches one end of a socket pair. If the caller is cancelled, the
other end is shut down. When the work closes its own end, the caller knows that the work is over. A run that is not
cancelled uses no task group and no event, because each of them would cost turns of the event loop in every run.
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
    """Run `work(wake)` in a thread; return its result or raise its exception.

    The descriptor `wake` becomes readable when the caller is cancelled, and `work` should then end soon. The
    cancellation is raised only after `work` has returned, however long that takes.
    """
    ours, theirs = socket.socketpair()
    claim = threading.Lock()  # taken by the work when it begins, or by a caller that was cancelled earlier

    def begin() -> _Result | None:
        if not claim.acquire(blocking=False):
            return None  # the caller was cancelled and gets no result
        with theirs:
            return work(theirs.fileno())

    with ours:
        try:
            return cast("_Result", await anyio.to_thread.run_sync(begin, abandon_on_cancel=True, limiter=limiter))
        except BaseException:
            if claim.acquire(blocking=False):
                theirs.close()
            else:
                with contextlib.suppress(OSError):  # the work is over and has closed its end
                    ours.shutdown(socket.SHUT_WR)
                with anyio.CancelScope(shield=True):
                    await anyio.wait_readable(ours)
            raise
