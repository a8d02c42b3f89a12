"""A figure with its bound, and how whole processes are measured.

Processes are run in turns, so that other work on the machine disturbs all alike, and the least processor time (user and
system, all threads and waited-for children) of each is taken: it is what the program costs, whoever else is running.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess.distribution.installation.disk.trees import remove_tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROUNDS = 20
NO_FAULT = (0, 1)  # 1: a linter that found something


class Figure(Struct, frozen=True, kw_only=True):
    """One measured value. `at_most` or `at_least` is what is promised; without them nothing is.

    `corpus` is empty if the figure depends on none. `value` is None if it could not be measured, and `note` tells why;
    otherwise `note` tells what each side does and under which conditions.
    """

    name: str
    corpus: Literal["public", "generated", ""] = ""
    value: float | None
    unit: str = "×"  # noqa: RUF001 -- it is the sign of multiplication, not a letter
    at_most: float | None = None
    at_least: float | None = None
    note: str

    @property
    def holds(self) -> bool | None:
        """Whether the promise holds in this run; None without a value or a promise."""
        if self.value is None or (self.at_most is None and self.at_least is None):
            return None
        if self.at_most is not None:
            return self.value <= self.at_most
        return self.at_least is None or self.value >= self.at_least

    @property
    def measured(self) -> str:
        """The value as people write it."""
        return "not measured" if self.value is None else f"{self.value:.2f} {self.unit}".rstrip()

    @property
    def promised(self) -> str:
        """The bound as people write it, and whether it is missed."""
        if self.at_most is None and self.at_least is None:
            return "none"
        bound = f"≤ {self.at_most:g}" if self.at_most is not None else f"≥ {self.at_least:g}"
        return f"{bound} {self.unit}".rstrip() + ("" if self.holds is not False else ", missed")

    @property
    def sentence(self) -> str:
        """The figure on a line of a terminal."""
        corpus = f", {self.corpus}" if self.corpus else ""
        return f"{self.name}{corpus}: {self.measured} (promised: {self.promised}); {self.note}"


class Command(Struct, frozen=True, kw_only=True):
    """A whole process. With `fresh_home` it finds no cache of an earlier run.

    `home` is its PROWESS_HOME instead of one that all commands share, and `directory` the working directory. The
    directories and files in `without` are removed before each run.
    """

    arguments: Sequence[str]
    fresh_home: bool = False
    home: str | None = None
    directory: str | None = None
    without: Sequence[str] = ()


class Spent(Struct, frozen=True, kw_only=True):
    """The least of all runs, each in seconds."""

    processor: float
    wall: float


def spent(commands: Mapping[str, Command], rounds: int) -> dict[str, Spent]:
    """Run each command once in every round.

    One round before the first compiles what is not compiled yet, and fills the caches of those that keep one.

    Raises:
        RuntimeError: a command ended with another exit code than `NO_FAULT`.
    """
    taken: dict[str, list[Spent]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory(prefix="prowess-bench-home-") as kept:
        for turn in range(rounds + 1):
            for name, command in commands.items():
                for path in command.without:
                    remove_tree(path)
                if not command.fresh_home:
                    one = _run(command.arguments, command.home or kept, command.directory)
                else:
                    with tempfile.TemporaryDirectory(prefix="prowess-bench-home-") as fresh:
                        one = _run(command.arguments, fresh, command.directory)
                if turn:
                    taken[name].append(one)
    return {
        name: Spent(processor=min(one.processor for one in runs), wall=min(one.wall for one in runs))
        for name, runs in taken.items()
    }


def paired_ratio(ours: Command, theirs: Command, rounds: int) -> float:
    """Return the median of the ratios of the processor time of two commands that run after each other.

    Which one comes first changes in each round. It is for small differences: the least of many runs of one side may
    come from a moment in which the machine was fast.

    Raises:
        RuntimeError: as `spent`.
    """
    ratios: list[float] = []
    with tempfile.TemporaryDirectory(prefix="prowess-bench-home-") as kept:
        for turn in range(rounds + 1):
            order = (ours, theirs) if turn % 2 else (theirs, ours)
            one, other = (_run(command.arguments, kept, command.directory).processor for command in order)
            if turn:  # the one before compiles what is not compiled yet
                ratios.append(one / other if turn % 2 else other / one)
    return statistics.median(ratios)


def _run(arguments: Sequence[str], home: str, directory: str | None) -> Spent:
    began = time.perf_counter()
    process = started(arguments, home, subprocess.DEVNULL, directory)
    processor = waited(process)
    wall = time.perf_counter() - began
    if process.returncode not in NO_FAULT:
        message = f"{' '.join(arguments)} ended with {process.returncode}"
        raise RuntimeError(message)
    return Spent(processor=processor, wall=wall)


def started(arguments: Sequence[str], home: str, streams: int, directory: str | None = None) -> subprocess.Popen[bytes]:
    """Start a process with `home` as PROWESS_HOME. `streams` is `subprocess.PIPE` or `DEVNULL` for input and output."""
    # With CI, installing is frozen by default.
    environment = {name: value for name, value in os.environ.items() if name not in {"PYTHONDONTWRITEBYTECODE", "CI"}}
    return subprocess.Popen(
        arguments,
        stdin=streams,
        stdout=streams,
        stderr=subprocess.DEVNULL,
        env={**environment, "PROWESS_HOME": home},
        cwd=directory,
    )


def waited(process: subprocess.Popen[bytes]) -> float:
    """Wait for the end of the process, and return its processor time in seconds."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def least_printed(commands: Mapping[str, Sequence[str]], rounds: int) -> dict[str, float]:
    """Run each command once in every round and return the least of the numbers that it prints."""
    numbers: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
            numbers[name].append(float(run.stdout))
    return {name: min(values) for name, values in numbers.items()}


def beside(ours: Spent, name: str, theirs: Spent) -> str:
    """Both processor times, for a note."""
    return f"{ours.processor * 1000:.0f} ms; {name} {theirs.processor * 1000:.0f} ms"
