"""Supervise one child process until it ends: write its input, capture its output up to a limit, enforce the timeout.

Output above the limit is read, counted and dropped. So a process that writes a lot neither blocks on a full pipe nor
fills the memory of Prowess. All work is one blocking loop over descriptors in a worker thread. To cancel the run, make
the descriptor `cancel_fd` readable.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from typing import TYPE_CHECKING

from msgspec import Struct, field

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

_CHUNK = 1 << 16
_LONGEST_POLL = 1_000_000.0  # milliseconds
_DEATH_SECONDS = 2.0  # if the kernel holds a killed process longer than this, it is reported and not waited for


class Capture(Struct):
    """The first `limit` bytes of a stream, and the count of all bytes. `kept` is called with each kept chunk."""

    limit: int
    kept: Callable[[bytes], None] | None = None
    data: bytearray = field(default_factory=bytearray)
    total: int = 0

    def add(self, chunk: bytes) -> None:
        """Keep the part of `chunk` below the limit, and count all its bytes."""
        if room := self.limit - len(self.data):
            self.data += chunk[:room]
            if self.kept is not None:
                self.kept(chunk[:room])
        self.total += len(chunk)


class Ending(Struct, frozen=True, kw_only=True):
    """The outcome of the run. `ended` is False if processes were still alive some time after they were killed."""

    timed_out: bool
    cancelled: bool
    ended: bool
    seconds: float


def supervise(
    child: subprocess.Popen[bytes],
    *,
    init_pidfd: int,
    stdin: bytes | None,
    stdout: Capture,
    stderr: Capture,
    wall_seconds: float | None,
    cancel_fd: int,
) -> Ending:
    """Wait for `child`, then kill every process that is left in its process namespace.

    `child` is the monitor of the namespace, and `init_pidfd` is a descriptor of the namespace's first process.
    Left-over processes are killed as soon as the monitor ends, so a result never waits for a grandchild that holds a
    pipe.
    """
    began = time.monotonic()
    deadline = None if wall_seconds is None else began + wall_seconds
    monitor = os.pidfd_open(child.pid)
    loop = _Loop(child, stdin=stdin, captures=(stdout, stderr), monitor=monitor, cancel=cancel_fd)
    try:
        reason = loop.until_exit(deadline)
        seconds = time.monotonic() - began
        if reason != "exit":
            child.kill()
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(init_pidfd, signal.SIGKILL)
        ended = _wait(init_pidfd, _DEATH_SECONDS) and _wait(monitor, _DEATH_SECONDS)
        if ended:
            child.wait()
        loop.drain()
    finally:
        os.close(monitor)
    return Ending(timed_out=reason == "time", cancelled=reason == "cancel", ended=ended, seconds=seconds)


class _Loop:
    """The descriptors of one run. `select.poll` needs a tenth of the time of a selector. This matters in short runs."""

    def __init__(
        self,
        child: subprocess.Popen[bytes],
        *,
        stdin: bytes | None,
        captures: tuple[Capture, Capture],
        monitor: int,
        cancel: int,
    ) -> None:
        self._poll = select.poll()
        self._monitor, self._cancel = monitor, cancel
        self._poll.register(monitor, select.POLLIN)
        self._poll.register(cancel, select.POLLIN)
        self._captures: dict[int, Capture] = {}
        for stream, capture in zip((child.stdout, child.stderr), captures, strict=True):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                self._captures[stream.fileno()] = capture
                self._poll.register(stream, select.POLLIN)
        self._stdin = child.stdin
        self._input = memoryview(stdin or b"")
        if self._stdin is not None:
            os.set_blocking(self._stdin.fileno(), False)
            self._poll.register(self._stdin, select.POLLOUT)

    def until_exit(self, deadline: float | None) -> str:
        """Move bytes until the monitor exits ("exit"), the time is up ("time") or the run is cancelled ("cancel")."""
        while True:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return "time"
            ready = [fd for fd, _ in self._poll.poll(_milliseconds(left))]
            if self._cancel in ready:
                return "cancel"
            for fd in ready:
                if fd in self._captures:
                    self._read(fd)
                elif fd != self._monitor:
                    self._write(fd)
            if self._monitor in ready:
                return "exit"

    def drain(self) -> None:
        """Read the rest of the output from the pipes, without waiting."""
        for fd in list(self._captures):
            while self._read(fd):
                pass

    def _read(self, fd: int) -> bool:
        try:
            chunk = os.read(fd, _CHUNK)
        except BlockingIOError:
            return False
        if not chunk:
            self._poll.unregister(fd)
            del self._captures[fd]
            return False
        self._captures[fd].add(chunk)
        return True

    def _write(self, fd: int) -> None:
        try:
            self._input = self._input[os.write(fd, self._input[:_CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._input = memoryview(b"")  # the script closed its input, which is no error
        if not self._input:
            self._poll.unregister(fd)
            if self._stdin is not None:
                self._stdin.close()


def _milliseconds(seconds: float | None) -> float | None:
    # `poll` takes a 32-bit number of milliseconds. For a longer wait the loop calls it again.
    return None if seconds is None else min(seconds * 1000, _LONGEST_POLL)


def _wait(pidfd: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(seconds * 1000))
