"""Control group (cgroup) of one run: the only limit on processes and memory of a whole process tree.

A control group needs a writable cgroup hierarchy, so in practice root. Without such a hierarchy the run goes on, and
its guarantees state that the limits on processes and memory are not enforced.

Moving another process between groups makes the kernel wait for every processor, some milliseconds each time. A thread
that moves itself does not have this cost, and a child begins in the group of the thread that starts it. Hierarchies of
version 1 can hold single threads. In version 1, the starting thread enters the group only while it starts the child.

Creating and deleting the directory of a group would take a tenth of the time of a short run. So the directories of a
finished run are kept in a pool. The next run with equal limits reuses the directories that are clean by then. Some
kernels still count the processes of a namespace that is dead. A directory with such a count is deleted, not reused.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import itertools
import os
import re
import threading
import time
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.execution.request import ExecLimits

_ROOT = "/sys/fs/cgroup"
_OWN_PROCESSES = 2  # bubblewrap's two processes are also in the group
_CURRENT_THREAD = 0
_FILE_BYTES = 65_536
_RESTING = 16  # limit on directories kept for later runs
_READ, _WRITE = (how | getattr(os, "O_CLOEXEC", 0) for how in (os.O_RDONLY, os.O_WRONLY | os.O_CREAT))
_NAME = r"prowess-(\d+)-(?:([0-9a-f]+)-)?\d+"
_LEFT_SECONDS = 60.0  # a younger directory may be in use by another container, whose processes are not visible here
# Part of the directory names: two containers on one hierarchy may have processes with the same id, and these must not
# share a group and its limits.
_mark = os.urandom(4).hex()
_numbers = itertools.count()
# Directories to delete. The kernel counts a dead process for a moment longer, and no run waits for that: the next run
# or the exit of this process tries again.
_dying: list[str] = []
_resting: list[_Directory] = []
_lock = threading.Lock()


class _Bound(Struct, frozen=True, kw_only=True):
    """A limit: a number in a file of a controller, with one file name for version 1 and one for version 2.

    `counts` lists pairs of a file and the word before the number in it (None if the file is only a number). A number
    other than zero means that a previous run has left processes or kills.
    """

    name: str
    controller: str
    file_v1: str
    file_v2: str
    value: int
    counts: tuple[tuple[str, str | None], ...]


class _Purpose(Struct, frozen=True, kw_only=True):
    """The limits of a directory in one hierarchy. `threads` is True if the hierarchy can hold single threads."""

    hierarchy: str
    threads: bool
    bounds: tuple[_Bound, ...]


class _Directory(Struct, frozen=True, kw_only=True):
    """A directory of the group, with descriptors that stay open until `close`.

    Writing to `tasks` moves a thread into the group, and writing to `back` moves it out again; both are -1 in version
    2. `counts` holds the existing count files of the limits: name of the limit, descriptor, and the word before the
    number.
    """

    purpose: _Purpose
    path: str
    tasks: int
    back: int
    counts: tuple[tuple[str, int, str | None], ...]

    def count(self, bound: str) -> int:
        """Return the kernel's count for a limit, or 0. Raises OSError if another process deleted the directory."""
        return sum(_number(fd, key) or 0 for name, fd, key in self.counts if name == bound)

    def is_fresh(self) -> bool:
        """Return whether the directory is clean: no process, and no earlier kill that the next run would report."""
        try:
            counted = any(self.count(bound.name) for bound in self.purpose.bounds)
        except OSError:  # another process deleted the directory, and may have made a new one with this name
            return False
        return not counted and _is_empty(self.path)

    def enter(self, task: int) -> None:
        """Move a process into the group, or the current thread if the hierarchy can hold single threads."""
        if self.purpose.threads:
            _write(self.tasks, task)
        else:
            with _opened(self.path, "cgroup.procs") as processes:
                _write(processes, task)

    def close(self) -> None:
        """Close the descriptors, and delete the directory as soon as the kernel allows it."""
        for fd in (self.tasks, self.back, *(fd for _, fd, _ in self.counts)):
            if fd >= 0:
                os.close(fd)
        _dying.append(self.path)


class ControlGroup:
    """Limits on processes started within `visited` or passed to `add`, and on their children."""

    def __init__(self, limits: ExecLimits, root: str = _ROOT) -> None:
        self._directories: list[_Directory] = []
        if os.geteuid() != 0:
            return
        for purpose in _purposes(tuple(_wanted(limits)), root):
            if (directory := _rested(purpose) or _made(purpose)) is not None:
                self._directories.append(directory)

    @property
    def enforced(self) -> tuple[str, ...]:
        """Names of the limits that the kernel enforces."""
        return tuple(bound.name for directory in self._directories for bound in directory.purpose.bounds)

    @contextlib.contextmanager
    def visited(self) -> Iterator[None]:
        """Context manager: children started in the block begin in the group, in version 1."""
        inside: list[int] = []
        try:
            inside.extend(directory.back for directory in self._entered(_CURRENT_THREAD, threads=True))
            yield
        finally:
            for back in inside:
                with contextlib.suppress(OSError):
                    _write(back, _CURRENT_THREAD)

    def add(self, pid: int) -> None:
        """Move a process into the version 2 groups; a new process cannot begin in them."""
        for _ in self._entered(pid, threads=False):
            pass

    def out_of_memory(self) -> bool:
        """Return whether the kernel reports that it killed a process of the group because of the memory limit."""
        try:
            return any(directory.count("memory") for directory in self._directories)
        except OSError:  # do not lose the result of a finished run because its reason cannot be read
            return False

    def rest(self) -> None:
        """Return the directories to the pool for the next run. The processes of the group must be dead or dying."""
        with _lock:
            _resting.extend(self._directories)
            too_many = _resting[:-_RESTING]
            del _resting[:-_RESTING]
        self._directories = []
        for directory in too_many:
            directory.close()

    def prepare_next(self) -> None:
        """Create directories for the next run and delete old ones. Called during a run, so no run becomes longer."""
        for directory in self._directories:
            if not _has_fresh(directory.purpose) and (made := _made(directory.purpose)) is not None:
                with _lock:
                    _resting.append(made)
        _bury()

    def _entered(self, task: int, *, threads: bool) -> Iterator[_Directory]:
        for directory in tuple(self._directories):
            if directory.purpose.threads is threads:
                try:
                    directory.enter(task)
                except OSError:
                    self._directories.remove(directory)  # its limits are not enforced, so do not report them
                    directory.close()
                else:
                    yield directory


def _wanted(limits: ExecLimits) -> Iterator[_Bound]:
    if limits.processes is not None:
        yield _Bound(
            name="processes",
            controller="pids",
            file_v1="pids.max",
            file_v2="pids.max",
            value=limits.processes + _OWN_PROCESSES,
            counts=(("pids.current", None),),
        )
    if limits.memory_bytes is not None:
        yield _Bound(
            name="memory",
            controller="memory",
            file_v1="memory.limit_in_bytes",
            file_v2="memory.max",
            value=limits.memory_bytes,
            # Version 2; version 1; older kernels, which count how often the limit was reached.
            counts=(("memory.events", "oom_kill"), ("memory.oom_control", "oom_kill"), ("memory.failcnt", None)),
        )


def _purposes(bounds: tuple[_Bound, ...], root: str) -> tuple[_Purpose, ...]:
    return _purposes_below(bounds, root, _own_groups(), _enabled(root))


@functools.lru_cache(maxsize=64)
def _purposes_below(bounds: tuple[_Bound, ...], root: str, own: str, enabled: str) -> tuple[_Purpose, ...]:
    """Return one purpose for each hierarchy.

    Version 2 has one hierarchy for all controllers, version 1 usually one for each controller. `own` is the text of
    this thread's `cgroup` file in /proc. `enabled` lists the usable controllers of version 2, separated by spaces.
    """
    own_groups = _by_controller(own)
    places: dict[tuple[str, bool], list[_Bound]] = {}
    for bound in bounds:
        hierarchy = os.path.join(root, bound.controller)
        if os.path.isfile(os.path.join(hierarchy, "tasks")):
            # Below our own group, so that its limits apply too. In a container the path of our own group may not exist.
            below = os.path.join(hierarchy, own_groups.get(bound.controller, ""))
            hierarchy = os.path.realpath(below if os.path.isdir(below) else hierarchy)
            places.setdefault((hierarchy, True), []).append(bound)
        elif bound.controller in enabled.split():
            places.setdefault((root, False), []).append(bound)
    return tuple(
        _Purpose(hierarchy=hierarchy, threads=threads, bounds=tuple(together))
        for (hierarchy, threads), together in places.items()
    )


def _rested(purpose: _Purpose) -> _Directory | None:
    """Take a clean directory for this purpose from the pool; None if there is none."""
    with _lock:
        for directory in _resting:
            if directory.purpose == purpose and directory.is_fresh():
                _resting.remove(directory)
                return directory
    return None


def _has_fresh(purpose: _Purpose) -> bool:
    """Return whether the pool has a clean directory for this purpose; close directories that cannot be reused."""
    with _lock:
        found = [directory for directory in _resting if directory.purpose == purpose]
        stale = [directory for directory in found if not directory.is_fresh()]
        for directory in stale:
            _resting.remove(directory)
    for directory in stale:
        directory.close()
    return len(found) > len(stale)


def _made(purpose: _Purpose) -> _Directory | None:
    path = os.path.join(purpose.hierarchy, f"prowess-{os.getpid()}-{_mark}-{next(_numbers)}")
    opened: list[int] = []
    try:
        _sweep(purpose.hierarchy)
        os.mkdir(path, 0o755)
        for bound in purpose.bounds:
            with _opened(path, bound.file_v1 if purpose.threads else bound.file_v2) as file:
                _write(file, bound.value)
        opened.extend(_open(place, "tasks") for place in ((path, purpose.hierarchy) if purpose.threads else ()))
    except OSError:
        for fd in opened:
            os.close(fd)
        with contextlib.suppress(OSError):
            os.rmdir(path)
        return None
    tasks, back = opened or (-1, -1)
    counts = tuple(found for bound in purpose.bounds for found in _counter(path, bound))
    return _Directory(purpose=purpose, path=path, tasks=tasks, back=back, counts=counts)


@functools.cache
def _sweep(hierarchy: str) -> None:
    """Delete directories that killed processes left behind, once for each hierarchy.

    The kernel does not delete a directory that is in use.
    """
    for name in os.listdir(hierarchy):
        found = re.fullmatch(_NAME, name)
        if found is None or found[2] == _mark:
            continue
        # A directory with our own process id belongs to an ended process, because its mark differs. In a container a
        # new process often gets the id of the previous one.
        if found[1] == str(os.getpid()) or not os.path.exists(f"/proc/{found[1]}"):
            path = os.path.join(hierarchy, name)
            with contextlib.suppress(OSError):
                if time.time() - os.stat(path).st_mtime > _LEFT_SECONDS:
                    os.rmdir(path)


def _counter(path: str, bound: _Bound) -> Iterator[tuple[str, int, str | None]]:
    """Open the first file that has the count of a limit; yield at most one entry."""
    for file, key in bound.counts:
        with contextlib.suppress(OSError):
            fd = _open(path, file, _READ)
            if _number(fd, key) is not None:
                yield bound.name, fd, key
                return
            os.close(fd)


def _number(fd: int, key: str | None) -> int | None:
    """Return the number after the word `key`, or the first number if `key` is None; None if `key` is missing."""
    words = os.pread(fd, _FILE_BYTES, 0).decode("ascii").split()
    if key is None:
        return int(words[0])
    return int(words[words.index(key) + 1]) if key in words else None


def _by_controller(groups: str) -> dict[str, str]:
    """Map each version 1 controller to the path of a thread's group, relative to the root of the hierarchy."""
    found: dict[str, str] = {}
    for line in groups.splitlines():
        _, names, path = line.split(":", 2)
        found.update(dict.fromkeys(names.split(","), path.lstrip("/")))
    return found


def _own_groups() -> str:
    with _opened("/proc/thread-self", "cgroup", _READ) as file:
        return os.fsdecode(os.read(file, _FILE_BYTES))


def _enabled(root: str) -> str:
    with contextlib.suppress(OSError), _opened(root, "cgroup.subtree_control", _READ) as file:
        return os.fsdecode(os.read(file, _FILE_BYTES))
    return ""


def _is_empty(path: str) -> bool:
    try:
        with _opened(path, "cgroup.procs", _READ) as processes:
            return not os.read(processes, 1)
    except OSError:  # another process deleted it
        return False


def _open(path: str, file: str, how: int = _WRITE) -> int:
    return os.open(os.path.join(path, file), how, 0o600)


@contextlib.contextmanager
def _opened(path: str, file: str, how: int = _WRITE) -> Iterator[int]:
    fd = _open(path, file, how)
    try:
        yield fd
    finally:
        os.close(fd)


def _write(fd: int, value: int) -> None:
    os.pwrite(fd, str(value).encode("ascii"), 0)


def _bury() -> None:
    for path in tuple(_dying):
        with contextlib.suppress(OSError, ValueError):  # still in use, or another thread deleted it first
            with contextlib.suppress(FileNotFoundError):
                os.rmdir(path)
            _dying.remove(path)


def _bury_at_exit() -> None:
    with _lock:
        directories = tuple(_resting)
        _resting.clear()
    for directory in directories:
        directory.close()
    deadline = time.monotonic() + 0.2
    while _dying and time.monotonic() < deadline:
        _bury()
        time.sleep(0.001)


def _forget() -> None:
    """After a fork, drop state that belongs to the parent: a thread that no longer exists may have held the lock."""
    global _lock, _mark
    _lock, _mark = threading.Lock(), os.urandom(4).hex()
    _resting.clear()
    _dying.clear()


atexit.register(_bury_at_exit)
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forget)
