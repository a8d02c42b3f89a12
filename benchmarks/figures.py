"""A figure, its bound, and how processes are timed so that other work on the machine disturbs all alike."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROUNDS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One promise and what was measured; `value` is None where it could not be, and `note` says why.

    `at_most` and `at_least` are the bound; one of them is given.
    """

    name: str
    value: float | None
    unit: str
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether the promise holds in this run; None where nothing was measured."""
        if self.value is None:
            return None
        if self.at_most is not None:
            return self.value <= self.at_most
        return self.at_least is None or self.value >= self.at_least

    @property
    def bound(self) -> str:
        """The bound as people write it."""
        if self.at_most is not None:
            return f"≤ {self.at_most:g}"
        return "" if self.at_least is None else f"≥ {self.at_least:g}"


def whole_processes(commands: Mapping[str, Sequence[str]], rounds: int) -> dict[str, float]:
    """Run each command once in every round and return the median wall time of each, in milliseconds.

    One round before the first fills caches and compiles what is not compiled yet.
    """
    taken: dict[str, list[float]] = {name: [] for name in commands}
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for turn in range(rounds + 1):
        for name, command in commands.items():
            began = time.perf_counter()
            subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=True,
                env=environment,
            )
            if turn:
                taken[name].append((time.perf_counter() - began) * 1000)
    return {name: statistics.median(times) for name, times in taken.items()}


def printed_numbers(commands: Mapping[str, Sequence[str]], rounds: int) -> dict[str, float]:
    """Run each command once in every round and return the median of the numbers they print."""
    numbers: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
            numbers[name].append(float(run.stdout))
    return {name: statistics.median(values) for name, values in numbers.items()}
