"""Units of evals on a batch engine, one batch each, so that a campaign decides after each result which unit is next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self, TypeVar

from anyio import CapacityLimiter, to_thread

from prowess._internal.batch import BatchEngine, BatchUnit
from prowess.errors import InvalidArgumentsError

if TYPE_CHECKING:
    from collections.abc import Callable

_Task = TypeVar("_Task")
_Found = TypeVar("_Found")


class CancellableEngine(BatchEngine, Protocol):
    """An engine whose batches can be ended from another thread."""

    def cancel(self) -> None:
        """End all batches: their iterators raise. Units that have not begun are not carried out."""
        ...


def require_workers_are_needed(*, replay: str | None, is_estimate: bool = False) -> None:
    """Require that a campaign on workers asks a model.

    Raises:
        InvalidArgumentsError: it is a replay or an estimate.
    """
    if is_estimate:
        raise InvalidArgumentsError(("an estimate asks no model, so it needs no workers; leave --on out",))
    if replay is not None:
        raise InvalidArgumentsError(("a replay asks no model, so it needs no workers; leave --on or --replay out",))


class EngineRunner:
    """Gives units to an engine, at most `at_once` at a time: as many as it carries out, and no more than `most`.

    An async context manager that a campaign enters once: at its end, units that still run after a signal are ended.
    """

    def __init__(self, engine: CancellableEngine, *, most: int | None) -> None:
        self._engine = engine
        self.at_once = max(1, min(engine.at_once, most or engine.at_once))
        self._threads = CapacityLimiter(self.at_once)

    async def __aenter__(self) -> Self:
        """No resource is opened."""
        return self

    async def __aexit__(self, *failure: object) -> None:
        """End the units that still run."""
        self._engine.cancel()

    async def result(self, work: Callable[[_Task], _Found], unit: BatchUnit[_Task]) -> _Found:
        """Call `work`, a function of a module, for a unit elsewhere, and return its value.

        Raises:
            SkillError: `work` raised it, or the engine cannot go on.
        """

        def first() -> _Found:
            return next(iter(self._engine.run(work, (unit,)))).value

        return await to_thread.run_sync(first, abandon_on_cancel=True, limiter=self._threads)
