"""Bounds that the kernel keeps on a process and everything it starts, set from outside while it still waits.

Setting them from the parent costs microseconds; doing it in the child, between fork and exec, costs milliseconds in a
process with threads.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

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
