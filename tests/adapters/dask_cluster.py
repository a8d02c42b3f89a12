"""A Dask scheduler and two workers, as processes of this machine, and the work that tests give them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from prowess.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]  # so that workers can import this module
_SECONDS_TO_START = 90  # on a busy machine


class Cluster:
    """A scheduler and its workers, with their files in `place`, and with `environment` added to that of this process.

    `address` is that of the scheduler; the processes are `scheduler` and `workers`.
    """

    def __init__(self, running: ExitStack, place: Path, environment: dict[str, str]) -> None:
        self._running, self._place, self._environment = running, place, environment
        self._started_workers = 0
        file = place / "scheduler.json"
        self.scheduler = self._started("scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
        self.address = _address(file)
        self.workers: list[subprocess.Popen[bytes]] = []

    def start_workers(self, number: int) -> None:
        """Start further workers, and wait for them."""
        quiet = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--death-timeout", "90")
        for _ in range(number):
            self.workers.append(self._started("worker", self.address, *quiet, "--local-directory", str(self._place)))
        self._started_workers += number
        log = self._place / "worker.log"
        _wait(lambda: not number or log.read_text().count("Registered to") >= self._started_workers)

    def _started(self, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", kind, "--host", "127.0.0.1", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **self._environment}
        with (self._place / f"{kind}.log").open("ab") as log:
            process = subprocess.Popen(command, cwd=self._place, env=environment, stdout=log, stderr=log)
        self._running.callback(process.wait, timeout=30)
        self._running.callback(process.kill)
        return process


@contextmanager
def cluster(place: Path, workers: int = 2, environment: dict[str, str] | None = None) -> Iterator[Cluster]:
    """Run a scheduler and its workers, with their files in `place`."""
    with ExitStack() as running:
        made = Cluster(running, place, environment or {})
        made.start_workers(workers)
        yield made


def _address(file: Path) -> str:
    _wait(lambda: file.exists() and file.read_text().rstrip().endswith("}"))
    return str(json.loads(file.read_text())["address"])


def _wait(done: Callable[[], bool]) -> None:
    until = time.monotonic() + _SECONDS_TO_START
    while not done():
        assert time.monotonic() < until, "the processes of Dask did not start"
        time.sleep(0.05)


def noted(task: tuple[str, int]) -> int:
    """Append the number to a shared file, and return its square a moment later."""
    file, number = task
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(descriptor, f"{number}\n".encode())
    os.close(descriptor)
    time.sleep(0.02)
    return number * number


def refused(number: int) -> int:
    """Raise an error of Prowess for 3, and another error for 4."""
    if number == 3:
        raise UnavailableError("the third")
    if number == 4:
        raise RuntimeError("four")
    return number
