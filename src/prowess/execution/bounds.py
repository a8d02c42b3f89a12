"""Resource limits of one run: set before its first instruction, and named if one of them killed it.

The parent sets them while the process still waits. That costs microseconds; doing it in the child, between fork and
exec, costs milliseconds in a process with threads.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from prowess.execution.request import MEBIBYTE
from prowess.execution.result import ExecNotice

if TYPE_CHECKING:
    from prowess.execution.request import ExecLimits


_COUNTED_PER_NAMESPACE = (5, 14)  # before this kernel, the limit on processes counted every process of the user


def set_bounds(pid: int, limits: ExecLimits) -> tuple[str, ...]:
    """Set the resource limits of the waiting process `pid`; return the names of the bounds that hold from now on.

    `data_size` holds the private memory of each process to what all of them may have together: not the bound itself,
    which needs a control group, but a second line where there is none. The size of the address space would not do, for
    JavaScript reserves gigabytes of it that it never uses.
    """
    # Imported here, not at the top: there is no such module on Windows, where everything but scripts works.
    import resource

    bounds = {
        "cpu_time": (resource.RLIMIT_CPU, limits.cpu_seconds),
        "file_size": (resource.RLIMIT_FSIZE, limits.file_bytes),
        "open_files": (resource.RLIMIT_NOFILE, limits.open_files),
        "core_dumps": (resource.RLIMIT_CORE, 0),
        "data_size": (resource.RLIMIT_DATA, limits.memory_bytes),
    }
    # The kernel exempts the superuser, also one that is somebody else inside.
    if os.geteuid() != 0 and _kernel() >= _COUNTED_PER_NAMESPACE:
        bounds["processes"] = (resource.RLIMIT_NPROC, limits.processes)
    held: tuple[str, ...] = ()
    for name, (what, value) in bounds.items():
        if value is not None:
            hard = resource.prlimit(pid, what)[1]
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.prlimit(pid, what, (bound, bound))
            held = (*held, name)
    return held


def _kernel() -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", os.uname().release)[:2])


_TOO_MUCH_TIME = 128 + 24  # SIGXCPU
_TOO_LARGE = 128 + 25  # SIGXFSZ


def killed_by(status: int, limits: ExecLimits, *, out_of_memory: bool) -> tuple[ExecNotice, ...]:
    """Return one notice that names the bound which ended a process of the run, none where no bound did.

    `status` is the script's own; it is that of its last command, so a script may also go on after a kill.
    """
    if out_of_memory and limits.memory_bytes is not None:
        return (_notice(f"a process was killed; the memory limit is {_size(limits.memory_bytes)}"),)
    if status == _TOO_LARGE and limits.file_bytes is not None:
        return (_notice(f"a process was killed; the largest file it may write is {_size(limits.file_bytes)}"),)
    if status == _TOO_MUCH_TIME and limits.cpu_seconds is not None:
        return (_notice(f"a process was killed; its limit is {limits.cpu_seconds} s of processor time"),)
    return ()


def _notice(message: str) -> ExecNotice:
    return ExecNotice(code="killed", message=message)


def _size(count: int) -> str:
    return f"{count / MEBIBYTE:g} MiB"
