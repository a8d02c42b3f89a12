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

from msgspec import Struct

from prowess.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]  # so that workers can import this module
_SECONDS_TO_START = 90  # on a busy machine


class Cluster(Struct, kw_only=True):
    """The address of the scheduler, its process, and the processes of its workers."""

    address: str
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]


@contextmanager
def cluster(place: Path, workers: int = 2) -> Iterator[Cluster]:
    """Run a scheduler and its workers, with their files in `place`."""
    with ExitStack() as running:
        file = place / "scheduler.json"
        scheduler = _started(
            running, place, "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)
        )
        address = _address(file)
        started = [_worker(running, place, address) for _ in range(workers)]
        _wait(lambda: not workers or (place / "worker.log").read_text().count("Registered to") >= workers)
        yield Cluster(address=address, scheduler=scheduler, workers=started)


def _worker(running: ExitStack, place: Path, address: str) -> subprocess.Popen[bytes]:
    quiet = (
        "--nthreads",
        "1",
        "--no-nanny",
        "--no-dashboard",
        "--death-timeout",
        "90",
        "--local-directory",
        str(place),
    )
    return _started(running, place, "worker", address, *quiet)


def _started(running: ExitStack, place: Path, *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "dask", arguments[0], "--host", "127.0.0.1", *arguments[1:]]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with (place / f"{arguments[0]}.log").open("ab") as log:
        process = subprocess.Popen(command, cwd=place, env=environment, stdout=log, stderr=log)
    running.callback(process.wait, timeout=30)
    running.callback(process.kill)
    return process


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
