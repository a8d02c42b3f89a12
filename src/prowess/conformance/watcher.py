"""Child process that runs one tool at a time and kills everything the tool started. Run this file by its path.

This module imports only the standard library. Each line of standard input is a request, a JSON object with `argv`,
`seconds` and `most_bytes`. The answer to each request is a line with `ended`, `status`, `output` (base64) and
`seconds`. `ended` is `exit`, `signal`, `timeout`, `output` (printed too much) or `start` (could not be started). When
standard input closes, the process kills the running tool and exits.

A separate process is needed because, on Linux, it becomes the parent of all processes that a tool leaves behind, even
of those that left the tool's process group and session. As it runs one tool at a time, all these processes belong to
the current request.
"""

from __future__ import annotations

import base64
import ctypes
import glob
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

KEPT_BYTES = 4096
_CHUNK = 65536
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_LAST_WORDS_SECONDS = 1.0
_KILL_SECONDS = 5.0


def main() -> None:
    """Process requests until standard input closes."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    happenings: queue.Queue[tuple[str, bytes]] = queue.Queue()
    threading.Thread(target=_listen, args=(happenings,), daemon=True).start()
    while True:
        kind, line = happenings.get()
        if kind == "closed":
            return
        if kind != "question":  # late event from a thread of an earlier request
            continue
        question = json.loads(line)
        answer = _ask(question["argv"], question["seconds"], question["most_bytes"], happenings)
        if answer is None:
            return
        os.write(1, json.dumps(answer).encode() + b"\n")


def _listen(happenings: queue.Queue[tuple[str, bytes]]) -> None:
    rest = b""
    while chunk := os.read(0, _CHUNK):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            happenings.put(("question", line))
    happenings.put(("closed", b""))


class _Output:
    """The tool's output: the first bytes are kept, all bytes are counted."""

    def __init__(self, most: int, happenings: queue.Queue[tuple[str, bytes]]) -> None:
        self.kept = b""
        self.over = False
        self._most = most
        self._happenings = happenings

    def read(self, number: int) -> None:
        seen = 0
        while chunk := os.read(number, _CHUNK):
            self.kept += chunk[: KEPT_BYTES - len(self.kept)]
            seen += len(chunk)
            if seen > self._most:
                self.over = True
                self._happenings.put(("output", b""))
                return


def _ask(
    argv: list[str], seconds: float, most: int, happenings: queue.Queue[tuple[str, bytes]]
) -> dict[str, object] | None:
    began = time.monotonic()
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as fault:
        return {"ended": "start", "status": 0, "output": _as_text(str(fault).encode()), "seconds": 0.0}
    assert process.stdout is not None  # noqa: S101 -- it is a pipe
    output = _Output(most, happenings)
    reader = threading.Thread(target=output.read, args=(process.stdout.fileno(),), daemon=True)
    waiter = threading.Thread(target=_wait, args=(process, happenings), daemon=True)
    reader.start()
    waiter.start()
    try:
        ended, _ = happenings.get(timeout=max(0.0, seconds))
    except queue.Empty:
        ended = "timeout"
    took = time.monotonic() - began
    _end(process, waiter)
    reader.join(_LAST_WORDS_SECONDS)  # all writers are dead, so it reaches the end
    if not reader.is_alive():
        process.stdout.close()
    _forget(happenings, keep=ended)
    if ended == "closed":
        return None
    status = process.returncode or 0
    if ended == "exit":
        ended = "output" if output.over else "signal" if status < 0 else "exit"
    return {"ended": ended, "status": abs(status), "output": _as_text(output.kept), "seconds": round(took, 3)}


def _wait(process: subprocess.Popen[bytes], happenings: queue.Queue[tuple[str, bytes]]) -> None:
    process.wait()
    happenings.put(("exit", b""))


def _forget(happenings: queue.Queue[tuple[str, bytes]], *, keep: str) -> None:
    """Drop late events from threads of the last tool. No new request can arrive before the answer is written."""
    with suppress(queue.Empty):
        while True:
            kind, _ = happenings.get_nowait()
            if kind == "closed" and keep != "closed":
                happenings.put((kind, b""))
                return


def _as_text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _end(process: subprocess.Popen[bytes], waiter: threading.Thread) -> None:
    """Kill the tool and all processes that it started, and wait until all have ended."""
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    waiter.join(_KILL_SECONDS)
    if sys.platform != "linux":
        return
    last = time.monotonic() + _KILL_SECONDS
    while time.monotonic() < last:
        # Children of a killed process become our children, so repeat until there are none.
        for child in _children():
            with suppress(OSError):
                os.kill(child, signal.SIGKILL)
        try:
            gone, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if gone == 0:
            time.sleep(0.001)


def _children() -> list[int]:
    found: list[int] = []
    for path in glob.glob("/proc/self/task/*/children"):
        with suppress(OSError), open(path, encoding="ascii") as file:
            found += map(int, file.read().split())
    return found


if __name__ == "__main__":
    main()
