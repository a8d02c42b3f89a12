"""A control group for one run: the only bound that counts the processes and the memory of a whole tree.

It needs a writable hierarchy, so in practice root. Where there is none the run goes on, and its guarantees say that
these two bounds do not hold.

Moving another process between groups makes the kernel wait for every processor, some milliseconds each time. A thread
that moves itself does not, and a child begins in the group of the thread that starts it; so with hierarchies of version
1, which can hold single threads, the starting thread visits the group for the moment of the start.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from prowess.execution.request import ExecLimits

_ROOT = "/sys/fs/cgroup"
_OWN_PROCESSES = 2  # bubblewrap's two processes are in the group as well
_CURRENT_THREAD = 0
# Version 2, version 1, and older kernels, which count how often the limit was met.
_KILL_COUNTS = (("memory.events", "oom_kill"), ("memory.oom_control", "oom_kill"), ("memory.failcnt", None))
_numbers = itertools.count()
# The kernel counts a dead process for a moment longer. No answer waits for that: the next run or the exit tries again.
_dying: list[str] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class _Controller:
    bound: str
    name: str
    file_v1: str
    file_v2: str
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Member:
    """A directory of the group; `back` is the `tasks` file that a visiting thread returns to, None in version 2."""

    bound: str
    directory: str
    back: str | None


class ControlGroup:
    """Bounds on every process that is started within `visited`, or added, and on their children.

    `enforced` names the bounds that hold.
    """

    def __init__(self, limits: ExecLimits, root: str = _ROOT) -> None:
        self._members: list[_Member] = []
        if os.geteuid() != 0:
            return
        name = f"prowess-{os.getpid()}-{next(_numbers)}"
        own = _own_groups()
        for controller in _wanted(limits):
            if (member := _make(root, controller, own, name)) is not None:
                self._members.append(member)

    @property
    def enforced(self) -> tuple[str, ...]:
        """The bounds that the kernel keeps."""
        return tuple(member.bound for member in self._members)

    @contextlib.contextmanager
    def visited(self) -> Iterator[None]:
        """Start children within this block: they begin in the group, where its version allows that."""
        inside: list[str] = []
        try:
            visiting = [(member, member.back) for member in self._members if member.back is not None]
            inside.extend(back for member, back in visiting if self._moved(member, "tasks", _CURRENT_THREAD))
            yield
        finally:
            for back in inside:
                with contextlib.suppress(OSError):
                    _write(back, _CURRENT_THREAD)

    def add(self, pid: int) -> None:
        """Bring a process in that could not begin in the group."""
        for member in tuple(self._members):
            if member.back is None:
                self._moved(member, "cgroup.procs", pid)

    def out_of_memory(self) -> bool:
        """Tell whether the kernel killed a process of the group for want of memory, as far as it says so."""
        for member in self._members:
            if member.bound == "memory":
                counts = (_count(os.path.join(member.directory, file), key) for file, key in _KILL_COUNTS)
                return bool(next((count for count in counts if count is not None), 0))
        return False

    def remove(self) -> None:
        """Delete the group; its processes must be dead."""
        _dying.extend(member.directory for member in self._members)
        self._members = []
        _bury()

    def _moved(self, member: _Member, file: str, task: int) -> bool:
        try:
            _write(os.path.join(member.directory, file), task)
        except OSError:
            self._members.remove(member)  # the bound does not hold, so it is not claimed
            _dying.append(member.directory)
            return False
        return True


def _wanted(limits: ExecLimits) -> Iterator[_Controller]:
    if limits.processes is not None:
        value = limits.processes + _OWN_PROCESSES
        yield _Controller(bound="processes", name="pids", file_v1="pids.max", file_v2="pids.max", value=value)
    if limits.memory_bytes is not None:
        yield _Controller(
            bound="memory",
            name="memory",
            file_v1="memory.limit_in_bytes",
            file_v2="memory.max",
            value=limits.memory_bytes,
        )


def _make(root: str, controller: _Controller, own_groups: Mapping[str, str], name: str) -> _Member | None:
    hierarchy = os.path.join(root, controller.name)
    if os.path.isfile(os.path.join(hierarchy, "tasks")):
        own = os.path.join(hierarchy, own_groups.get(controller.name, ""))
        # Below our own group, so that its bounds hold as well; a container may show a path that is not there.
        hierarchy = own if os.path.isdir(own) else hierarchy
        back, file = os.path.join(hierarchy, "tasks"), controller.file_v1
    elif controller.name in _enabled(root):
        hierarchy, back, file = root, None, controller.file_v2
    else:
        return None
    directory = os.path.join(hierarchy, name)
    try:
        with contextlib.suppress(FileExistsError):
            os.mkdir(directory, 0o755)
        _write(os.path.join(directory, file), controller.value)
    except OSError:
        with contextlib.suppress(OSError):
            os.rmdir(directory)
        return None
    return _Member(bound=controller.bound, directory=directory, back=back)


def _own_groups() -> dict[str, str]:
    """Return the path of this thread's group in each version 1 hierarchy, by controller, relative to its root."""
    groups: dict[str, str] = {}
    with open("/proc/thread-self/cgroup", encoding="utf-8") as file:
        for line in file:
            _, names, path = line.rstrip("\n").split(":", 2)
            groups.update(dict.fromkeys(names.split(","), path.lstrip("/")))
    return groups


def _enabled(root: str) -> list[str]:
    try:
        with open(os.path.join(root, "cgroup.subtree_control"), encoding="ascii") as file:
            return file.read().split()
    except OSError:
        return []


def _count(path: str, key: str | None) -> int | None:
    """Return the number in a file, or the one behind `key`; None where there is none."""
    try:
        with open(path, encoding="ascii") as file:
            text = file.read()
    except OSError:
        return None
    if key is None:
        return int(text)
    return next((int(line.split()[1]) for line in text.splitlines() if line.split()[:1] == [key]), None)


def _write(path: str, value: int) -> None:
    # No buffered file: a run writes seven of these, and the answer waits for them.
    fd = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        os.write(fd, str(value).encode("ascii"))
    finally:
        os.close(fd)


def _bury() -> None:
    for directory in tuple(_dying):
        with contextlib.suppress(OSError, ValueError):  # still busy, or another thread was faster
            with contextlib.suppress(FileNotFoundError):
                os.rmdir(directory)
            _dying.remove(directory)


def _bury_at_exit() -> None:
    deadline = time.monotonic() + 0.2
    while _dying and time.monotonic() < deadline:
        _bury()
        time.sleep(0.001)


atexit.register(_bury_at_exit)
