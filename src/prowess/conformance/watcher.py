"""A process that asks one tool at a time and lets nothing of it live on. It is run by its path.

It imports only the standard library, reads questions from standard input, a JSON object a line, and answers each with
one: `argv`, `seconds` and `most_bytes` against `ended`, `status`, `output` (base64) and `seconds`. `ended` is `exit`,
`signal`, `timeout`, `output` (more than it may print) or `start` (it could not be started). When standard input closes,
it ends what runs and leaves.

Why a process: on Linux it adopts whatever a tool leaves behind, also what left the tool's group and session, and since
it asks one thing at a time, all that it has adopted belongs to that one question.
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
    """Answer questions until standard input closes."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    happenings: queue.Queue[tuple[str, bytes]] = queue.Queue()
    threading.Thread(target=_listen, args=(happenings,), daemon=True).start()
    while True:
        kind, line = happenings.get()
        if kind == "closed":
            return
        if kind != "question":  # what a tool's threads had left to say about an earlier one
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
    """What the tool prints: the beginning is kept, all of it is counted."""

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
    reader.join(_LAST_WORDS_SECONDS)  # every writer is gone, so it finds the end
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
    """Drop what the last tool's threads said too late; nobody asks before we have answered."""
    with suppress(queue.Empty):
        while True:
            kind, _ = happenings.get_nowait()
            if kind == "closed" and keep != "closed":
                happenings.put((kind, b""))
                return


def _as_text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _end(process: subprocess.Popen[bytes], waiter: threading.Thread) -> None:
    """Kill the tool with all that it has started, and wait until none of it is left."""
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    waiter.join(_KILL_SECONDS)
    if sys.platform != "linux":
        return
    last = time.monotonic() + _KILL_SECONDS
    while time.monotonic() < last:
        # What is killed hands its own children to us, so this goes on until nobody is left.
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
