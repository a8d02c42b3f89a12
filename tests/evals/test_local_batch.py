from __future__ import annotations

import os
from pathlib import Path

import pytest

from prowess._internal.batch import BatchUnit
from prowess.errors import UnavailableError
from prowess.evals.local_batch import LocalBatch


def _squares(processes: int) -> list[tuple[str, int]]:
    units = [BatchUnit(id=f"unit-{at}", task=at) for at in range(30)]
    return sorted((result.id, result.value) for result in LocalBatch(processes).run(_square, units))


def _square(number: int) -> int:
    return number * number


@pytest.mark.parametrize("processes", [1, 2])
def test_each_unit_has_one_result(processes: int) -> None:
    assert _squares(processes) == sorted((f"unit-{at}", at * at) for at in range(30))


def test_a_process_that_dies_is_replaced(tmp_path: Path) -> None:
    units = [BatchUnit(id=str(at), task=(str(tmp_path / "died"), at)) for at in range(12)]
    results = [(result.id, result.value[0]) for result in LocalBatch(2).run(_die_once, units)]
    assert sorted(results) == sorted((str(at), at) for at in range(12))
    assert (tmp_path / "died").exists()


def test_what_a_process_dies_of_twice_is_done_in_this_process() -> None:
    units = [BatchUnit(id=str(at), task=(os.getpid(), at)) for at in range(4)]
    assert {result.value for result in LocalBatch(2).run(_only_here, units)} == {os.getpid()}


def _die_once(task: tuple[str, int]) -> tuple[int, int]:
    mark, number = task
    if number == 5 and not Path(mark).exists():
        Path(mark).touch()
        os._exit(9)
    return number, os.getpid()


def _only_here(task: tuple[int, int]) -> int:
    if os.getpid() != task[0]:
        os._exit(9)
    return os.getpid()


@pytest.mark.parametrize("processes", [1, 2])
def test_what_the_work_raises_ends_the_batch(processes: int) -> None:
    units = [BatchUnit(id=str(at), task=at) for at in range(4)]
    with pytest.raises(UnavailableError, match="number 3"):
        list(LocalBatch(processes).run(_refuse_three, units))


def _refuse_three(number: int) -> int:
    if number == 3:
        raise UnavailableError(f"number {number}")
    return number


def test_two_units_of_one_id_are_refused() -> None:
    with pytest.raises(ValueError, match="the same id"):
        list(LocalBatch(2).run(_square, [BatchUnit(id="a", task=1), BatchUnit(id="a", task=2)]))
