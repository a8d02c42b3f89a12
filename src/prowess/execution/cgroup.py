"""A control group for one run: the only bound that counts the processes and the memory of a whole tree.

It needs a writable hierarchy, so in practice root. Where there is none the run goes on, and its guarantees say that
these two bounds do not hold.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prowess.execution.request import ExecLimits

_ROOT = "/sys/fs/cgroup"
_numbers = itertools.count()
# The kernel counts a dead process for a moment longer. No answer waits for that: the next run or the exit tries again.
_dying: list[str] = []


class ControlGroup:
    """Bounds on every process that `add` brings in and on their children; `enforced` names those that hold."""

    def __init__(self, limits: ExecLimits, root: str = _ROOT) -> None:
        name = f"prowess-{os.getpid()}-{next(_numbers)}"
        self.enforced: tuple[str, ...] = ()
        self._directories: list[str] = []
        if os.geteuid() != 0:
            return
        wanted = {"pids": ("processes", limits.processes), "memory": ("memory", limits.memory_bytes)}
        for controller, (bound, value) in wanted.items():
            if value is not None and (place := _place(root, controller)) is not None:
                directory, file = place
                if self._limit(os.path.join(directory, name), file, value):
                    self.enforced = (*self.enforced, bound)

    def add(self, pid: int) -> bool:
        """Bring the process in; False where the kernel refuses, and then nothing is bounded."""
        try:
            for directory in self._directories:
                _write(os.path.join(directory, "cgroup.procs"), pid)
        except OSError:
            self.enforced = ()
            return False
        return True

    def remove(self) -> None:
        """Delete the group; its processes must be dead."""
        _dying.extend(self._directories)
        self._directories = []
        _bury()

    def _limit(self, directory: str, file: str, value: int) -> bool:
        try:
            if directory not in self._directories:
                os.mkdir(directory, 0o755)
                self._directories.append(directory)
            _write(os.path.join(directory, file), value)
        except OSError:
            with contextlib.suppress(OSError):
                os.rmdir(directory)
            self._directories = [kept for kept in self._directories if kept != directory]
            return False
        return True


def _bury() -> None:
    for directory in tuple(_dying):
        with contextlib.suppress(OSError, ValueError):  # still busy, or another thread was faster
            os.rmdir(directory)
            _dying.remove(directory)


def _bury_at_exit() -> None:
    deadline = time.monotonic() + 0.2
    while _dying and time.monotonic() < deadline:
        _bury()
        time.sleep(0.001)


atexit.register(_bury_at_exit)


def _place(root: str, controller: str) -> tuple[str, str] | None:
    """Return (directory for groups, file of the bound) of a controller, version 1 or 2."""
    if os.path.isfile(os.path.join(root, controller, "cgroup.procs")):
        return os.path.join(root, controller), {"pids": "pids.max", "memory": "memory.limit_in_bytes"}[controller]
    try:
        with open(os.path.join(root, "cgroup.subtree_control"), encoding="ascii") as file:
            enabled = file.read().split()
    except OSError:
        return None
    return (root, f"{controller}.max") if controller in enabled else None


def _write(path: str, value: int) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(str(value))
