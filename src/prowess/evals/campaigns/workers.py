"""Carries out the tasks of a campaign: several at once, until none is left, a cap or a signal stops it, or it fails."""

from __future__ import annotations

import asyncio
import signal
import threading
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import TYPE_CHECKING, Generic, TypeVar

import anyio

from prowess.errors import SkillError
from prowess.evals.ledger.caps import CapReachedError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from prowess.evals.campaigns.report import StopReason

Task = TypeVar("Task")
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has no SIGHUP


class Workers(Generic[Task]):
    """Runs `work` for each task that `next_task` returns, until that is None.

    Afterwards `stopped` is the cap or signal that ended it early, or None, and `signalled` the number of the signal. A
    signal cancels all runs. After a cap or a failure, no further task is begun, and those that run are finished.
    """

    def __init__(
        self, next_task: Callable[[], Task | None], work: Callable[[Task], Awaitable[None]], *, jobs: int
    ) -> None:
        self._next_task, self._do, self._jobs = next_task, work, jobs
        self._fault: SkillError | None = None
        self.stopped: StopReason | None = None
        self.signalled: int | None = None

    async def run(self, host: object) -> None:
        """Run all tasks, within `host` if it is an async context manager.

        Raises:
            SkillError: a task raised it; the first one.
        """
        async with AsyncExitStack() as entered:
            if isinstance(host, AbstractAsyncContextManager):
                await entered.enter_async_context(host)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._listen, tasks.cancel_scope)
                async with anyio.create_task_group() as workers:
                    for _ in range(self._jobs):
                        workers.start_soon(self._work)
                tasks.cancel_scope.cancel()
        if self._fault is not None:
            raise self._fault

    async def _work(self) -> None:
        while self.stopped is None and self._fault is None and (task := self._next_task()) is not None:
            try:
                await self._do(task)
            except CapReachedError as fault:
                if self.stopped is None:
                    self.stopped = fault.cap
            except SkillError as fault:
                if self._fault is None:
                    self._fault = fault

    async def _listen(self, scope: anyio.CancelScope) -> None:
        """Stop at the first signal that this process would end by."""
        if threading.current_thread() is not threading.main_thread():
            return
        numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
        taken = [number for number in numbers if _ends_process(signal.getsignal(number))]
        if not taken:
            return
        with anyio.open_signal_receiver(*taken) as signals:
            async for number in signals:
                self.stopped, self.signalled = "signal", int(number)
                scope.cancel()


def _ends_process(handler: object) -> bool:
    """Whether a signal with this handler ends the process. `asyncio.Runner` sets one in the place of Python's own."""
    owner = getattr(getattr(handler, "func", None), "__self__", None)
    return handler in (signal.SIG_DFL, signal.default_int_handler) or isinstance(owner, asyncio.Runner)
