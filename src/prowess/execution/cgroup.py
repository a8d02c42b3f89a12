"""A control group for one run: the only bound that counts the processes and the memory of a whole tree.

It needs a writable hierarchy, so in practice root. Where there is none the run goes on, and its guarantees say that
these two bounds do not hold.

Moving another process between groups makes the kernel wait for every processor, some milliseconds each time. A thread
that moves itself does not, and a child begins in the group of the thread that starts it; so with hierarchies of version
1, which can hold single threads, the starting thread visits the group for the moment of the start.

To make a directory of a group and to delete it costs a short run a tenth of its time. So the directories of a run that
is over rest, and the next run with the same bounds takes them, if by then nothing is left in them. Some kernels go on
counting a process namespace that is gone among the processes: such a directory is deleted, and only the other is kept.
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
_OWN_PROCESSES = 2  # bubblewrap's two processes are in the group as well
_CURRENT_THREAD = 0
_FILE_BYTES = 65_536
_RESTING = 16  # so many directories are kept for later runs
_READ, _WRITE = (how | getattr(os, "O_CLOEXEC", 0) for how in (os.O_RDONLY, os.O_WRONLY | os.O_CREAT))
_NAME = r"prowess-(\d+)-(?:([0-9a-f]+)-)?\d+"
_LEFT_SECONDS = 60.0  # what is younger may be on its way to a run, of another container whose processes we do not see
# Two containers on one hierarchy may have processes of the same number, which must not share a group and its bounds.
_mark = os.urandom(4).hex()
_numbers = itertools.count()
# The kernel counts a dead process for a moment longer. No answer waits for that: the next run or the exit tries again.
_dying: list[str] = []
_resting: list[_Directory] = []
_lock = threading.Lock()


class _Bound(Struct, frozen=True, kw_only=True):
    """A number in a file of the hierarchy of a controller, which versions 1 and 2 call by two names.

    `counts` are files and the words before their numbers: what is not zero there belongs to the run before.
    """

    name: str
    controller: str
    file_v1: str
    file_v2: str
    value: int
    counts: tuple[tuple[str, str | None], ...]


class _Purpose(Struct, frozen=True, kw_only=True):
    """What a directory is made for: bounds in one hierarchy, `threads` where that can hold single threads."""

    hierarchy: str
    threads: bool
    bounds: tuple[_Bound, ...]


class _Directory(Struct, frozen=True, kw_only=True):
    """A directory of the group, with descriptors that are open for as long as it is.

    `tasks` lets a thread in and `back` takes it to where it was, both -1 in version 2. `counts` are the files that
    exist of those that its bounds name, each with the name of the bound and the word before the number.
    """

    purpose: _Purpose
    path: str
    tasks: int
    back: int
    counts: tuple[tuple[str, int, str | None], ...]

    def count(self, bound: str) -> int:
        """Return what the kernel counted for a bound, 0 where it does not say.

        Raises:
            OSError: somebody deleted the directory.
        """
        return sum(_number(fd, key) or 0 for name, fd, key in self.counts if name == bound)

    def is_fresh(self) -> bool:
        """Tell whether nothing is left of the run before: no process, and no kill that would be told of the next."""
        try:
            counted = any(self.count(bound.name) for bound in self.purpose.bounds)
        except OSError:  # somebody deleted it, and one of the same name may have been made since
            return False
        return not counted and _is_empty(self.path)

    def enter(self, task: int) -> None:
        """Bring a process in, or the current thread where the hierarchy can hold single threads."""
        if self.purpose.threads:
            _write(self.tasks, task)
        else:
            with _opened(self.path, "cgroup.procs") as processes:
                _write(processes, task)

    def close(self) -> None:
        """Give the descriptors back, and delete the directory as soon as the kernel allows it."""
        for fd in (self.tasks, self.back, *(fd for _, fd, _ in self.counts)):
            if fd >= 0:
                os.close(fd)
        _dying.append(self.path)


class ControlGroup:
    """Bounds on every process that is started within `visited`, or added, and on their children.

    `enforced` names the bounds that hold.
    """

    def __init__(self, limits: ExecLimits, root: str = _ROOT) -> None:
        self._directories: list[_Directory] = []
        if os.geteuid() != 0:
            return
        for purpose in _purposes(tuple(_wanted(limits)), root):
            if (directory := _rested(purpose) or _made(purpose)) is not None:
                self._directories.append(directory)

    @property
    def enforced(self) -> tuple[str, ...]:
        """The bounds that the kernel keeps."""
        return tuple(bound.name for directory in self._directories for bound in directory.purpose.bounds)

    @contextlib.contextmanager
    def visited(self) -> Iterator[None]:
        """Start children within this block: they begin in the group, where its version allows that."""
        inside: list[int] = []
        try:
            inside.extend(directory.back for directory in self._entered(_CURRENT_THREAD, threads=True))
            yield
        finally:
            for back in inside:
                with contextlib.suppress(OSError):
                    _write(back, _CURRENT_THREAD)

    def add(self, pid: int) -> None:
        """Bring a process in that could not begin in the group."""
        for _ in self._entered(pid, threads=False):
            pass

    def out_of_memory(self) -> bool:
        """Tell whether the kernel killed a process of the group for want of memory, as far as it says so."""
        try:
            return any(directory.count("memory") for directory in self._directories)
        except OSError:  # the run is over, and its result must not be lost for want of a reason
            return False

    def rest(self) -> None:
        """Leave the group to a later run; its processes must be dead, or about to be."""
        with _lock:
            _resting.extend(self._directories)
            too_many = _resting[:-_RESTING]
            del _resting[:-_RESTING]
        self._directories = []
        for directory in too_many:
            directory.close()

    def prepare_next(self) -> None:
        """Make what the next run will miss, and delete what is over; for the time in which a run is waited for."""
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
                    self._directories.remove(directory)  # its bounds do not hold, so they are not claimed
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
            # Version 2, version 1, and older kernels, which count how often the limit was met.
            counts=(("memory.events", "oom_kill"), ("memory.oom_control", "oom_kill"), ("memory.failcnt", None)),
        )


def _purposes(bounds: tuple[_Bound, ...], root: str) -> tuple[_Purpose, ...]:
    return _purposes_below(bounds, root, _own_groups(), _enabled(root))


@functools.lru_cache(maxsize=64)
def _purposes_below(bounds: tuple[_Bound, ...], root: str, own: str, enabled: str) -> tuple[_Purpose, ...]:
    """Return one purpose for each hierarchy: version 2 has one for all controllers, version 1 mostly one for each.

    `own` is what the kernel says of this thread's groups, `enabled` which controllers of version 2 may be used.
    """
    own_groups = _by_controller(own)
    places: dict[tuple[str, bool], list[_Bound]] = {}
    for bound in bounds:
        hierarchy = os.path.join(root, bound.controller)
        if os.path.isfile(os.path.join(hierarchy, "tasks")):
            # Below our own group, so that its bounds hold as well; a container may show a path that is not there.
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
    """Return a directory that rests and serves the purpose."""
    with _lock:
        for directory in _resting:
            if directory.purpose == purpose and directory.is_fresh():
                _resting.remove(directory)
                return directory
    return None


def _has_fresh(purpose: _Purpose) -> bool:
    """Tell whether a directory rests for the purpose; close those that cannot be used again."""
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
    """Delete, once, what earlier processes left that were killed; a directory that is in use cannot be deleted."""
    for name in os.listdir(hierarchy):
        found = re.fullmatch(_NAME, name)
        if found is None or found[2] == _mark:
            continue
        # Another process of our number is gone: in a container the next often has the number of the one before.
        if found[1] == str(os.getpid()) or not os.path.exists(f"/proc/{found[1]}"):
            path = os.path.join(hierarchy, name)
            with contextlib.suppress(OSError):
                if time.time() - os.stat(path).st_mtime > _LEFT_SECONDS:
                    os.rmdir(path)


def _counter(path: str, bound: _Bound) -> Iterator[tuple[str, int, str | None]]:
    """Open the first of the files of a bound that holds its count."""
    for file, key in bound.counts:
        with contextlib.suppress(OSError):
            fd = _open(path, file, _READ)
            if _number(fd, key) is not None:
                yield bound.name, fd, key
                return
            os.close(fd)


def _number(fd: int, key: str | None) -> int | None:
    """Return the number in a file, or the one behind `key`; None where there is none."""
    words = os.pread(fd, _FILE_BYTES, 0).decode("ascii").split()
    if key is None:
        return int(words[0])
    return int(words[words.index(key) + 1]) if key in words else None


def _by_controller(groups: str) -> dict[str, str]:
    """Return the path of a thread's group in each version 1 hierarchy, by controller, relative to its root."""
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
    except OSError:  # somebody deleted it
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
        with contextlib.suppress(OSError, ValueError):  # still busy, or another thread was faster
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
    """Leave to the parent, after a fork, what is the parent's; the lock may have been held by a thread that is gone."""
    global _lock, _mark
    _lock, _mark = threading.Lock(), os.urandom(4).hex()
    _resting.clear()
    _dying.clear()


atexit.register(_bury_at_exit)
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forget)
