"""Start bubblewrap and stop right before the script: all mounts are made, all capabilities are dropped.

bubblewrap reports the sandbox's first process on a status descriptor. When bubblewrap has set up the sandbox, it waits
on a block descriptor. Then the start gate (`prowess.execution.backends.start_gate`) waits for a line on its standard
input. The options are passed in a memory file, so that the process list shows neither variables nor paths.

The line is written only when every process of the sandbox is sure to die with Prowess. bubblewrap's monitor asks the
kernel for a death signal before it reports the first process. The first process asks for a death signal right before it
installs the system call filter, and the filter is visible in the status of the process.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import time
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from prowess.errors import SandboxUnavailableError
from prowess.execution.backends.bubblewrap_options import ETC_FILES, Layout, options
from prowess.execution.backends.device_nodes import device_directory
from prowess.execution.backends.start_gate import gated, new_line
from prowess.execution.backends.syscall_filter import ALLOW_EVERYTHING, syscall_filter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

_SETUP_SECONDS = 10.0
_DEATH_SECONDS = 2.0
_FIRST_PAUSE, _LONGEST_PAUSE, _GROWTH = 0.0002, 0.005, 1.03
_MESSAGE_BYTES = 4096
_STATUS_BYTES = 65_536
_FILTERED = 2  # SECCOMP_MODE_FILTER


class Started(Struct):
    """A waiting sandbox. `out_fd` is a descriptor of /out. `release` starts the script; `close` kills the sandbox."""

    process: subprocess.Popen[bytes]
    init_pid: int
    init_pidfd: int
    out_fd: int
    _status: int
    _block: int
    _report: bytes
    _line: bytes
    _program: str
    _stdin: bool

    def release(self) -> None:
        """Let the script start. Raises SandboxUnavailableError if the set-up fails or takes too long."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._block, b"x")
        os.close(self._block)
        self._block = -1
        _wait_until_it_dies_with_us(self.init_pid, self.process)
        if (stdin := self.process.stdin) is not None:
            with contextlib.suppress(BrokenPipeError):
                os.write(stdin.fileno(), self._line)
            if not self._stdin:
                stdin.close()
                self.process.stdin = None

    def missing(self, stderr: bytes) -> str | None:
        """Return a sentence if the start gate reported a missing program. `stderr` is all of standard error."""
        if stderr != self._line:
            return None
        return f"{self._program} is not in the sandbox, which holds /usr and the directories that are mounted"

    def script_status(self) -> int | None:
        """Return the script's exit status; None if the script was never started.

        Must be called after bubblewrap has ended.
        """
        os.set_blocking(self._status, False)
        with contextlib.suppress(BlockingIOError):
            self._report += os.read(self._status, _STATUS_BYTES)
        for line in self._report.splitlines()[1:]:
            status = json.loads(line).get("exit-code")
            if isinstance(status, int):
                return status
        return None

    def close(self) -> None:
        """Kill the sandbox if it still runs; close every descriptor and the pipes of the process."""
        if self.process.poll() is None:
            self.process.kill()
            # The first process may not yet be set to die with the monitor, so it is killed too.
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.init_pidfd, signal.SIGKILL)
            # If the kernel cannot end the process, there is no other way to end it.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(_DEATH_SECONDS)
        for fd in (self.init_pidfd, self.out_fd, self._status, self._block):
            if fd >= 0:
                os.close(fd)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()


def start(
    program: str,
    layout: Layout,
    command: Sequence[str],
    *,
    stdin: bool,
    within: AbstractContextManager[None] | None = None,
) -> Started:
    """Build the sandbox and stop before `command`. The process is started inside the context manager `within`.

    Raises:
        SandboxUnavailableError: the sandbox cannot be built here; the command was not run.
    """
    line = new_line()
    status, status_in = _readable_pipe()
    block_out, block = os.pipe()
    inherited = [status_in, block_out]
    try:
        with within or contextlib.nullcontext():
            process = _spawn(program, layout, command, inherited, stdin=stdin)
    except OSError as fault:
        _close_all([status, block])
        raise SandboxUnavailableError("bubblewrap", f"{program} cannot be started: {fault.strerror}") from fault
    finally:
        _close_all(inherited)
    try:
        report, init_pid = _first_report(status, process)
        init_pidfd = os.pidfd_open(init_pid)
        out_fd = _open_out(init_pid, process)
    except (OSError, SandboxUnavailableError) as fault:
        process.kill()
        _, message = process.communicate()
        _close_all([status, block])
        if isinstance(fault, SandboxUnavailableError) and not message:
            raise
        raise SandboxUnavailableError("bubblewrap", hint_from(message)) from fault
    return Started(process, init_pid, init_pidfd, out_fd, status, block, report, line, command[0], stdin)


def hint_from(message: bytes) -> str:
    """Return bubblewrap's own error message, with a remedy if one is known."""
    text = message[:_MESSAGE_BYTES].decode("utf-8", "replace").strip() or "it ended without a message"
    if "Unknown option" in text:
        return f"{text}; bubblewrap 0.8 or later is needed"
    if "mount proc" in text:
        return (
            f"{text}; parts of /proc are masked here, as in most containers, and then the kernel allows no other /proc "
            "(start the container with --security-opt systempaths=unconfined, with Podman --security-opt unmask=ALL)"
        )
    if "namespace" in text or "Operation not permitted" in text or "uid map" in text:
        return (
            f"{text}; this machine or container does not allow user namespaces (look at the sysctl settings "
            "user.max_user_namespaces, kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns)"
        )
    return text


def _spawn(
    program: str, layout: Layout, command: Sequence[str], inherited: list[int], *, stdin: bool
) -> subprocess.Popen[bytes]:
    status_in, block_out = inherited
    command, env = gated(command, layout.env, layout.limits, stdin=stdin)
    etc = {path: _memory_file(path, content, inherited) for path, content in ETC_FILES.items()}
    devices = device_directory()
    words = [*options(structs.replace(layout, env=env, devices=devices or "/dev"), etc)]
    words += ["--json-status-fd", str(status_in), "--block-fd", str(block_out)]
    calls = syscall_filter(chmod=devices is not None) or ALLOW_EVERYTHING
    words += ["--seccomp", str(_memory_file("filter", calls, inherited))]
    told = _memory_file("options", b"\0".join(os.fsencode(word) for word in words), inherited)
    return subprocess.Popen(
        [program, "--args", str(told), "--", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        env={},
        cwd="/",
        pass_fds=inherited,
        start_new_session=True,  # Ctrl-C at the terminal must reach only Prowess, which then ends the run in order
    )


def _readable_pipe() -> tuple[int, int]:
    """Return a pipe whose write end is also open for reading, so that writing never raises SIGPIPE.

    If Prowess dies, the monitor still writes to the pipe. If SIGPIPE killed the monitor then, the first process of the
    sandbox would wait for it forever.
    """
    out, into = os.pipe()
    both = os.open(f"/proc/self/fd/{into}", os.O_RDWR | os.O_CLOEXEC)
    os.close(into)
    return out, both


def _memory_file(name: str, content: bytes, opened: list[int]) -> int:
    fd = os.memfd_create(name.replace("/", "-"))
    opened.append(fd)
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _first_report(status: int, process: subprocess.Popen[bytes]) -> tuple[bytes, int]:
    deadline = time.monotonic() + _SETUP_SECONDS
    report = b""
    poll = select.poll()
    poll.register(status, select.POLLIN)
    while b"\n" not in report:
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            raise _too_slow()
        chunk = os.read(status, _STATUS_BYTES)
        if not chunk:
            raise SandboxUnavailableError("bubblewrap", f"it ended with status {process.wait()} before its set-up")
        report += chunk
    return report, int(json.loads(report.split(b"\n", 1)[0])["child-pid"])


def _wait_until_it_dies_with_us(init_pid: int, process: subprocess.Popen[bytes]) -> None:
    ours = _filters("thread-self")
    for _ in _looks(process):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            # Linux before 5.9 reports no count of filters. If Prowess itself has a filter, the filter that the child
            # inherited cannot be told from the child's own filter, so do not wait.
            if _filters(str(init_pid)) > ours or ours == [_FILTERED]:
                return


def _filters(process: str) -> list[int]:
    """Return the seccomp mode of a process and the number of its filters (missing before Linux 5.9)."""
    with open(f"/proc/{process}/status", "rb") as file:
        return [int(number) for number in re.findall(rb"^Seccomp(?:_filters)?:\t(\d+)$", file.read(), re.MULTILINE)]


def _open_out(init_pid: int, process: subprocess.Popen[bytes]) -> int:
    """Wait until the sandbox has its own root, then open /out in it."""
    here = os.stat("/")
    for _ in _looks(process):
        # The process begins in our root, then passes through an empty root, which has no /out, to its own root.
        with contextlib.suppress(FileNotFoundError):
            root = os.open(f"/proc/{init_pid}/root", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                found = os.fstat(root)
                if (found.st_dev, found.st_ino) != (here.st_dev, here.st_ino):
                    return os.open("out", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=root)
            finally:
                os.close(root)
    raise AssertionError("the looks end with an error")


def _looks(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Yield repeatedly during the set-up. Raises SandboxUnavailableError if bubblewrap ends or takes too long."""
    deadline = time.monotonic() + _SETUP_SECONDS
    pause = _FIRST_PAUSE
    while True:
        yield
        if process.poll() is not None:
            said = b"" if process.stderr is None else process.stderr.read(_MESSAGE_BYTES)
            hint = f"it ended with status {process.returncode} during its set-up"
            raise SandboxUnavailableError("bubblewrap", hint_from(said) if said else hint)
        if time.monotonic() > deadline:
            raise _too_slow()
        time.sleep(pause)
        pause = min(pause * _GROWTH, _LONGEST_PAUSE)


def _too_slow() -> SandboxUnavailableError:
    return SandboxUnavailableError("bubblewrap", f"it was not ready within {_SETUP_SECONDS:g} s; try again later")


def _close_all(fds: list[int]) -> None:
    for fd in fds:
        os.close(fd)
