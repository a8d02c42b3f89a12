"""The batch engine of this machine: worker processes. `prowess check -j` uses it."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, TypeVar

from prowess._internal.batch import BatchResult, BatchUnit, units_by_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_Task = TypeVar("_Task")
_Found = TypeVar("_Found")


class LocalBatch:
    """Worker processes on this machine. A unit whose process dies is carried out by a new process.

    If that dies too, the unit is carried out in this process.
    """

    remote = False

    def __init__(self, processes: int) -> None:
        self.at_once = processes

    def run(self, work: Callable[[_Task], _Found], units: Sequence[BatchUnit[_Task]]) -> Iterator[BatchResult[_Found]]:
        """Yield one result for each unit; see `BatchEngine`."""
        waiting = units_by_id(units)
        for _ in range(2):
            if min(self.at_once, len(waiting)) > 1:
                for result in _in_processes(self.at_once, work, tuple(waiting.values())):
                    del waiting[result.id]
                    yield result
        for unit in waiting.values():
            yield BatchResult(id=unit.id, value=work(unit.task))


def _in_processes(
    processes: int, work: Callable[[_Task], _Found], units: Sequence[BatchUnit[_Task]]
) -> Iterator[BatchResult[_Found]]:
    """Yield the results of the units that one pool of processes finishes. All end when one process dies."""
    # Imported here because a batch of one unit needs no multiprocessing, which is slow to import.
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool

    executor = ProcessPoolExecutor(min(processes, len(units)), initializer=_end_at_signals)
    try:
        begun = {executor.submit(work, unit.task): unit.id for unit in units}
        for future in as_completed(begun):
            if not isinstance(future.exception(), BrokenProcessPool):
                yield BatchResult(id=begun[future], value=future.result())
    except BrokenProcessPool:  # while units were handed in
        return
    finally:
        executor.shutdown(cancel_futures=True)


def _end_at_signals() -> None:
    # Ctrl-C reaches every process of a terminal: a worker ends at once, and the main process reports it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
