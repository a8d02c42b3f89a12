"""Resource limits (`setrlimit`) of one run, and the notice if one of them killed a process.

The parent sets the limits while the process waits before its first instruction, which costs microseconds. The child
could set the limits between fork and exec, but that costs milliseconds in a process with threads.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from prowess.execution.request import MEBIBYTE
from prowess.execution.result import ExecNotice

if TYPE_CHECKING:
    from prowess.execution.request import ExecLimits


_COUNTED_PER_NAMESPACE = (5, 14)  # before this kernel, RLIMIT_NPROC counted every process of the user


def set_bounds(pid: int, limits: ExecLimits) -> tuple[str, ...]:
    """Set the resource limits of the waiting process `pid`. Return the names of the limits that are now enforced.

    `data_size` limits the private memory of each process to the memory limit of the whole run. The limit on the whole
    run needs a control group; `data_size` is a second line of defence if there is no control group. A limit on the
    address space would not work: JavaScript reserves gigabytes of address space that it never uses.
    """
    import resource  # Imported here, not at the top: Windows has no such module, and only scripts need it.

    bounds = {
        "cpu_time": (resource.RLIMIT_CPU, limits.cpu_seconds),
        "file_size": (resource.RLIMIT_FSIZE, limits.file_bytes),
        "open_files": (resource.RLIMIT_NOFILE, limits.open_files),
        "core_dumps": (resource.RLIMIT_CORE, 0),
        "data_size": (resource.RLIMIT_DATA, limits.memory_bytes),
    }
    # The kernel does not apply RLIMIT_NPROC to root, even if root is mapped to another user in the sandbox.
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
    """Return one notice that names the limit that killed a process of the run; empty if no limit killed a process.

    `status` is the script's own exit status. A shell script has the status of its last command, so it may have
    continued after a command was killed.
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
