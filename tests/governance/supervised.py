"""Starts a command again each time its process ends, as systemd does with `Restart=always`."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    from pathlib import Path

_PAUSE = 0.1  # seconds between an end and the next start
_SECONDS = 60
_LAST_LINES = 5


class UnaskedEnd(NamedTuple):
    """An end of a process that nobody caused. `served` is false if it ended before it could serve."""

    code: int
    served: bool
    lines: list[str]
    at: float


class Supervised:
    """A command of `prowess` that serves over HTTP, and is started again whenever it ends. `with` runs it."""

    def __init__(self, command: list[str], place: Path) -> None:
        # The signal ends a server whose test was killed.
        self._command = ["setpriv", "--pdeathsig", "KILL", *command]
        self._place = place
        self._process: subprocess.Popen[str] | None = None
        self._serving, self._closing = threading.Event(), threading.Event()
        self._loop = threading.Thread(target=self._run, daemon=True)
        self.starts = self.kills = 0
        self.ends: list[UnaskedEnd] = []

    def kill(self) -> bool:
        """Kill the process, also if it is only starting. Return False if there is none now."""
        process = self._process
        if process is None or process.poll() is not None:
            return False
        self.kills += 1
        process.send_signal(signal.SIGKILL)
        return True

    def wait(self) -> None:
        """Wait until the process serves."""
        assert self._serving.wait(_SECONDS), self.ends

    def _run(self) -> None:
        while not self._closing.is_set():
            self.starts += 1
            with subprocess.Popen(self._command, stderr=subprocess.PIPE, text=True, cwd=self._place) as process:
                self._process, lines = process, list[str]()
                assert process.stderr is not None
                for line in process.stderr:
                    lines.append(line.rstrip())
                    if line.startswith("Serving "):
                        self._serving.set()
                code = process.wait()
            served = self._serving.is_set()
            self._serving.clear()
            if code != -signal.SIGKILL and not self._closing.is_set():
                self.ends.append(UnaskedEnd(code, served, lines[-_LAST_LINES:], time.monotonic()))
            self._closing.wait(_PAUSE)

    def __enter__(self) -> Self:
        self._loop.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._closing.set()
        if self._process is not None:
            self._process.terminate()
        self._loop.join(_SECONDS)
