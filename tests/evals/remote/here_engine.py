"""An engine in this process."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

from prowess._internal.batch import BatchResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from prowess._internal.batch import BatchUnit


class HereEngine:
    """Carries out units in this process, with pickles of tasks and results. It keeps the tasks.

    `before` is called with each task.
    """

    at_once, remote = 1, True

    def __init__(self, before: Callable[[Any], object] = lambda task: None) -> None:
        self.tasks: list[Any] = []
        self._before = before

    def run(self, work: Callable[[Any], Any], units: Sequence[BatchUnit[Any]]) -> Iterator[BatchResult[Any]]:
        for unit in units:
            self.tasks.append(unit.task)
            self._before(unit.task)
            found = work(pickle.loads(pickle.dumps(unit.task)))  # noqa: S301 -- what this process wrote
            yield BatchResult(id=unit.id, value=pickle.loads(pickle.dumps(found)))  # noqa: S301 -- as above

    def cancel(self) -> None:
        pass
