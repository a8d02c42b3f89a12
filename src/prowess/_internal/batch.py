"""Many independent units of work on several processes or machines: the protocol that each engine has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_Task = TypeVar("_Task")
_Found = TypeVar("_Found")


class BatchUnit(Struct, Generic[_Task], frozen=True, kw_only=True):
    """One unit of work. `id` is unique in its batch and the same in each run; `task` can be pickled."""

    id: str
    task: _Task


class BatchResult(Struct, Generic[_Found], frozen=True, kw_only=True):
    """What the work returned for the unit `id`."""

    id: str
    value: _Found


class BatchEngine(Protocol):
    """Carries out the units of a batch somewhere.

    `at_once` is the number of units that it carries out at the same time. `remote` says whether it may do so on other
    machines, where a path can mean other files.
    """

    @property
    def at_once(self) -> int: ...

    @property
    def remote(self) -> bool: ...

    def run(self, work: Callable[[_Task], _Found], units: Sequence[BatchUnit[_Task]]) -> Iterator[BatchResult[_Found]]:
        """Yield one result for each unit, in any order. `work` is a function of a module, so that it can be pickled.

        A unit whose worker dies is carried out again, so `work` must bear that. What `work` raises is raised here, and
        ends the batch.

        Raises:
            ValueError: two units have the same id.
        """
        ...


def units_by_id(units: Sequence[BatchUnit[_Task]]) -> dict[str, BatchUnit[_Task]]:
    """Return the units by their ids.

    Raises:
        ValueError: two units have the same id.
    """
    found = {unit.id: unit for unit in units}
    if len(found) != len(units):
        raise ValueError("two units of a batch have the same id")
    return found
