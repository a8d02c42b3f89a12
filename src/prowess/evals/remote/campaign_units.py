"""A unit on a worker: it runs as long as the command that began its campaign, and alone in its folder.

The command holds the lock of the iteration until it ends, in whatever way. So a worker that finds the lock free, or the
mark of another command, does not share the folder, or has outlived the command: it begins no unit, and ends the
one that runs. The next command waits for that before its first unit. A worker that Dask believes dead may still run a
unit that another one is given; the lock of the unit lets the second wait for the first.
"""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack, asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

import anyio
from anyio import to_thread

from prowess._internal.batch_worker import worker_name
from prowess._internal.files.file_lock import locked
from prowess._internal.text.terminal_text import printable_line
from prowess.errors import UnavailableError
from prowess.evals.iterations.fence import LOCKS, unit_lock
from prowess.evals.recordings.drift import changed_files

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from prowess.evals.iterations.fence import Fence

_Result = TypeVar("_Result")
_SECONDS_BETWEEN_LOOKS = 1.0
_LONGEST_WAIT = 1800.0  # seconds for a worker that still runs the same unit


async def within_campaign(fence: Fence, unit: str, work: Callable[[], Awaitable[_Result]]) -> _Result:
    """Return the result of `work`, which is cancelled as soon as the command does not hold the lock of the iteration.

    Raises:
        UnavailableError: it does not, or another worker does not end the same unit.
    """
    await to_thread.run_sync(_require_held, fence)
    results: list[_Result] = []
    fault: Exception | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_watch, fence, tasks.cancel_scope)
        try:
            async with _alone(fence.iteration, unit):
                await to_thread.run_sync(_require_held, fence)
                results.append(await work())
        except Exception as raised:  # noqa: BLE001 -- raised below, not in a group of exceptions
            fault = raised
        tasks.cancel_scope.cancel()
    if fault is not None:
        raise fault
    if not results:
        raise _not_held(fence.iteration)
    return results[0]


def forget_locks(iteration: str) -> None:
    """Remove the locks of workers in an iteration in which no unit is left to be run."""
    shutil.rmtree(os.path.join(iteration, LOCKS), ignore_errors=True)


def require_same_files(expected: Mapping[str, str], found: Mapping[str, str]) -> None:
    """Require that this worker sees the files that the command saw. Values are digests.

    Raises:
        UnavailableError: one differs.
    """
    if changed := changed_files(expected, found):
        reason = f"it differs on {worker_name()}"
        advice = "share the folders of the skill and of the results, and resume"
        raise UnavailableError(f"the file {printable_line(changed[0])}", reason=reason, advice=advice)


@asynccontextmanager
async def _alone(iteration: str, unit: str) -> AsyncIterator[None]:
    """Hold the lock of a unit."""
    path = unit_lock(iteration, unit)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with ExitStack() as held:
        until = anyio.current_time() + _LONGEST_WAIT
        while True:
            lock = locked(path, wait_seconds=_SECONDS_BETWEEN_LOOKS)
            try:
                await to_thread.run_sync(held.enter_context, lock)
            except TimeoutError:
                if anyio.current_time() > until:
                    advice = "end the worker that runs it, and resume"
                    raise UnavailableError(f"the unit {unit}", reason="it does not end", advice=advice) from None
            else:
                break
        yield


async def _watch(fence: Fence, scope: anyio.CancelScope) -> None:
    """Cancel `scope` as soon as the command does not hold the lock of the iteration."""
    while await to_thread.run_sync(fence.holds):  # noqa: ASYNC110 -- another process frees the lock
        await anyio.sleep(_SECONDS_BETWEEN_LOOKS)
    scope.cancel()


def _require_held(fence: Fence) -> None:
    if not fence.holds():
        raise _not_held(fence.iteration)


def _not_held(iteration: str) -> UnavailableError:
    reason = f"{worker_name()} does not see that its command runs in it"
    advice = "share it with each worker, at the same path, writable and with file locks, and resume"
    return UnavailableError(f"the folder {iteration}", reason=reason, advice=advice)
