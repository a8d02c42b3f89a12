"""Run blocking work in a thread that learns of a cancellation and is then waited for.

A run of a script must not be abandoned: whoever cancels it gets control back only once its processes are dead. Threads
cannot be cancelled, so the work watches a pipe, and the end of it that the caller holds is closed when the caller is
cancelled. The usual run, which nobody cancels, pays for that pipe and for no turn of the event loop.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, TypeVar, cast

import anyio
import anyio.to_thread

if TYPE_CHECKING:
    from collections.abc import Callable

_Result = TypeVar("_Result")

_LOOK_SECONDS = 0.01


async def attended(work: Callable[[int], _Result], *, limiter: anyio.CapacityLimiter) -> _Result:
    """Return what `work(wake)` returns, or raise what it raises; `wake` becomes readable when the caller is cancelled.

    After a cancellation this waits until `work` has returned, however long that takes, and then raises the
    cancellation: `work` has to mind its `wake`.
    """
    wake, held = os.pipe()
    progress = _Progress()

    def begin() -> _Result | None:
        if not progress.begins():
            return None  # the caller has gone, nobody hears this
        try:
            return work(wake)
        finally:
            progress.ends()

    try:
        return cast("_Result", await anyio.to_thread.run_sync(begin, abandon_on_cancel=True, limiter=limiter))
    except BaseException:
        os.close(held)
        held = -1
        with anyio.CancelScope(shield=True):
            await progress.over()
        raise
    finally:
        os.close(wake)
        if held >= 0:
            os.close(held)


class _Progress:
    """How far the work is, told between the two threads: it begins only for a caller who has not gone."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state = "waits"
        self._listener = -1

    def begins(self) -> bool:
        """Tell the work whether it may begin."""
        with self._lock:
            if self._state == "waits":
                self._state = "works"
                return True
            return False

    def ends(self) -> None:
        """Say that the work is over, to a caller who listens as well."""
        with self._lock:
            self._state = "over"
            if self._listener >= 0:
                os.close(self._listener)

    async def over(self) -> None:
        """Keep work from beginning; where it has begun, return when it is over."""
        try:
            listener = self._given_up()
        except OSError:  # no descriptor is left to listen with
            while self._state == "works":  # noqa: ASYNC110 -- a thread changes it, and has nothing to tell it by
                await anyio.sleep(_LOOK_SECONDS)
            return
        if listener is not None:
            try:
                await anyio.wait_readable(listener)
            finally:
                os.close(listener)

    def _given_up(self) -> int | None:
        with self._lock:
            if self._state != "works":
                self._state = "over"
                return None
            over, self._listener = os.pipe()
            return over
