"""Units of work on the workers of an existing Dask scheduler: `DaskBatch("tcp://HOST:PORT")`.

The scheduler and each worker need the same versions of Prowess and of its extra `scale`. Dask sends tasks and results
as pickles: whoever can reach the scheduler can run code on the workers, and its answers can run code here.
"""

from __future__ import annotations

import logging
import queue
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, TypeVar, cast
from uuid import uuid4

from msgspec import Struct

from prowess._internal.batch import BatchResult, BatchUnit, units_by_id
from prowess.errors import MissingExtraError, SkillError, UnavailableError

try:
    import distributed
except ImportError as fault:
    raise MissingExtraError(__name__, "scale", str(fault)) from fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType
    from typing import Self

_Task = TypeVar("_Task")
_Found = TypeVar("_Found")
_SECONDS_TO_CONNECT = 10.0
_SECONDS_WITHOUT_WORKERS = 30.0
_SECONDS_BETWEEN_LOOKS = 5.0


class _Answer(Struct, Generic[_Found], frozen=True, kw_only=True):
    """What a worker returns. `fault` is what the work raised on purpose, `broke` what it raised otherwise."""

    value: _Found | None = None
    fault: SkillError | None = None
    broke: str | None = None


class DaskBatch:
    """The workers of the Dask scheduler at `address`, until `close`.

    Raises:
        UnavailableError: there is no scheduler, or it has no worker.
    """

    remote = True

    def __init__(self, address: str, *, seconds_to_connect: float = _SECONDS_TO_CONNECT) -> None:
        self._address = address
        self._batches: set[queue.SimpleQueue[str | None]] = set()  # of `run` in each thread
        _keep_quiet()
        try:
            self._client = distributed.Client(address, timeout=seconds_to_connect, set_as_default=False)
        except (OSError, ValueError) as fault:
            raise self._unavailable(str(fault), f"start it with `dask scheduler`, or correct {address}") from fault
        try:
            self._client.wait_for_workers(1, timeout=seconds_to_connect)
            self.at_once = sum(self._client.nthreads().values())
        except (OSError, TimeoutError) as fault:
            self.close()
            raise self._unavailable("it has no worker", f"start some with `dask worker {address}`") from fault

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leave the scheduler. It forgets the units that have no result."""
        with suppress(OSError, TimeoutError):
            self._client.close(timeout=_SECONDS_BETWEEN_LOOKS)

    def run(self, work: Callable[[_Task], _Found], units: Sequence[BatchUnit[_Task]]) -> Iterator[BatchResult[_Found]]:
        """Yield one result for each unit; see `BatchEngine`. Dask gives the units of a dead worker to others.

        Raises:
            UnavailableError: the scheduler ended, no worker is left, or each worker that took a unit died.
        """
        batch = uuid4().hex  # the keys are new: no result of another run, which Dask may still have, is taken
        keys = {f"prowess-{batch}-{at}": unit for at, unit in enumerate(units_by_id(units).values())}
        ended: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        begun = {
            key: self._client.submit(_carry_out, work, unit.task, key=key, pure=False) for key, unit in keys.items()
        }
        self._batches.add(ended)
        try:
            for future in begun.values():
                future.add_done_callback(lambda one: ended.put(one.key))
            while begun:
                key = self._next(ended)
                value = self._value(begun[key], keys[key].id)
                del begun[key]  # Dask forgets the result
                yield BatchResult(id=keys[key].id, value=value)
        finally:
            self._batches.discard(ended)
            if begun:
                self._cancel(list(begun.values()))

    def cancel(self) -> None:
        """End the batches that other threads run: their iterators raise. Workers end the units that they have begun."""
        for ended in tuple(self._batches):
            ended.put(None)

    def _next(self, ended: queue.SimpleQueue[str | None]) -> str:
        """Return the key of a unit that ended."""
        waited = 0.0
        while waited < _SECONDS_WITHOUT_WORKERS:
            try:
                key = ended.get(timeout=_SECONDS_BETWEEN_LOOKS)
            except queue.Empty:
                waited = 0.0 if self._has_workers() else waited + _SECONDS_BETWEEN_LOOKS
            else:
                if key is not None:
                    return key
                raise self._unavailable("the batch was cancelled", "start it again")
        raise self._unavailable("no worker is left", f"start some with `dask worker {self._address}`")

    def _value(self, future: distributed.Future[_Answer[_Found]], unit: str) -> _Found:
        """Return the result of a unit. If the worker that has it dies, Dask has it computed again."""
        waited = 0.0
        while waited < _SECONDS_WITHOUT_WORKERS:
            try:
                answer = future.result(timeout=_SECONDS_BETWEEN_LOOKS)
            except TimeoutError:
                waited = 0.0 if self._has_workers() else waited + _SECONDS_BETWEEN_LOOKS
            except Exception as fault:
                reason = f"{type(fault).__name__} at the unit {unit}"
                raise self._unavailable(reason, "look at the logs of the scheduler and its workers") from fault
            else:
                return self._taken(answer, unit)
        raise self._unavailable("no worker is left", f"start some with `dask worker {self._address}`")

    def _taken(self, answer: _Answer[_Found], unit: str) -> _Found:
        if answer.fault is not None:
            raise answer.fault
        if answer.broke is not None:
            raise self._unavailable(f"{answer.broke} at the unit {unit}", "give its workers this version of Prowess")
        return cast("_Found", answer.value)  # _Found may contain None

    def _has_workers(self) -> bool:
        try:
            return bool(self._client.nthreads())
        except Exception:  # noqa: BLE001 -- whatever a client raises whose scheduler is gone
            return False

    def _cancel(self, futures: list[distributed.Future[_Answer[_Found]]]) -> None:
        with suppress(Exception):  # the scheduler may be gone; the fault that led here is reported
            self._client.cancel(futures, force=True)

    def _unavailable(self, reason: str, advice: str) -> UnavailableError:
        return UnavailableError(f"the Dask scheduler {self._address}", reason=reason, advice=advice)


def _keep_quiet() -> None:
    """Let `distributed` log nothing in this process: what matters of it is raised, as one sentence."""
    for name in tuple(logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)


def _carry_out(work: Callable[[_Task], _Found], task: _Task) -> _Answer[_Found]:
    """On a worker: do one unit. What it raises is an answer too, so that Dask neither logs nor repeats it."""
    try:
        return _Answer(value=work(task))
    except SkillError as fault:
        return _Answer(fault=fault)
    except Exception as fault:  # noqa: BLE001 -- told to the caller
        return _Answer(broke=f"{type(fault).__name__}: {fault}")
