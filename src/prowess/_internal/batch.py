"""Many independent units of work on several processes or machines: the protocol that each engine has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Task = TypeVar("Task")
Found = TypeVar("Found")


class BatchUnit(Struct, Generic[Task], frozen=True, kw_only=True):
    """One unit of work. `id` is unique in its batch and the same in each run; `task` can be pickled."""

    id: str
    task: Task


class BatchResult(Struct, Generic[Found], frozen=True, kw_only=True):
    """What the work returned for the unit `id`."""

    id: str
    value: Found


class BatchEngine(Protocol):
    """Carries out the units of a batch somewhere.

    `at_once` is the number of units that it carries out at the same time. `remote` says whether it may do so on other
    machines, where a path can mean other files.
    """

    @property
    def at_once(self) -> int: ...

    @property
    def remote(self) -> bool: ...

    def run(self, work: Callable[[Task], Found], units: Sequence[BatchUnit[Task]]) -> Iterator[BatchResult[Found]]:
        """Yield one result for each unit, in any order. `work` is a function of a module, so that it can be pickled.

        A unit whose worker dies is carried out again, so `work` must bear that. What `work` raises is raised here, and
        ends the batch.

        Raises:
            ValueError: two units have the same id.
        """
        ...


def units_by_id(units: Sequence[BatchUnit[Task]]) -> dict[str, BatchUnit[Task]]:
    """Return the units by their ids.

    Raises:
        ValueError: two units have the same id.
    """
    found = {unit.id: unit for unit in units}
    if len(found) != len(units):
        raise ValueError("two units of a batch have the same id")
    return found
