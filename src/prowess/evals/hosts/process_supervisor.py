"""Starts one program, and leaves none of its processes behind. A program of its own, with the standard library alone.

Use: `python -I -S process_supervisor.py INPUT PROGRAM [ARGUMENT ...]`. INPUT is the file that the program reads as its
standard input. The supervisor's own standard input is a pipe that its parent holds: if the parent ends, in whatever
way, the pipe ends, and everything is killed. It exits with the code of the program, or 128 plus the number of the
signal.

On Linux it adopts all descendants whose parent ended (`PR_SET_CHILD_SUBREAPER`), so programs that made a session of
their own are found too. Elsewhere it kills the process group.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
import time

_SUBREAPER, _DEATH_SIGNAL = 36, 1  # prctl
_KILL_SECONDS = 5.0
_IS_LINUX = sys.platform == "linux"


def supervise_program(source: str, arguments: list[str]) -> int:
    """Run the program until it or the pipe ends; kill all that is left, and return the code to exit with."""
    if _IS_LINUX:
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    wakes, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    child = _start(source, arguments)
    code = None
    while code is None:
        ready, _, _ = select.select([0, wakes], [], [])
        if wakes in ready:
            told = os.read(wakes, 512)
            code = _ended(child)
            if code is None and set(told) - {signal.SIGCHLD}:
                break
        if 0 in ready and not os.read(0, 512):
            break
    _kill_all(child)
    return 128 + signal.SIGKILL if code is None else code


def _start(source: str, arguments: list[str]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        if _IS_LINUX:
            ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        os.dup2(os.open(source, os.O_RDONLY), 0)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        os.closerange(3, 256)
        os.execvp(arguments[0], arguments)  # noqa: S606 -- the program that the parent chose, without a shell
    except OSError as fault:
        os.write(2, f"{arguments[0]}: {fault.strerror}\n".encode())
    os._exit(127)


def _ended(child: int) -> int | None:
    """Reap ended processes; return the child's exit code, if it is among them."""
    code = None
    with contextlib.suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            if found[0] == child:
                status = os.waitstatus_to_exitcode(found[1])
                code = 128 - status if status < 0 else status
    return code


def _kill_all(child: int) -> None:
    """Kill children until there are none: the children of a killed one become ours."""
    deadline = time.monotonic() + _KILL_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        for each in _children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.01)


def _children() -> list[int]:
    """Return the ids of this process's children; none if the system has no /proc."""
    own, found = str(os.getpid()), []
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):  # pathlib takes three times as long to import as all this
            if name.isdigit():
                with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                    after_name = file.read().rpartition(b")")[2].split()
                    if after_name[1].decode() == own:
                        found.append(int(name))
    return found


if __name__ == "__main__":
    sys.exit(supervise_program(sys.argv[1], sys.argv[2:]))
