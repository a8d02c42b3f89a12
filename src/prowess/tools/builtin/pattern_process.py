"""Run a regular expression in a separate process, which is killed if it misses its deadline."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from contextlib import suppress
from typing import cast

from prowess._internal.files.atomic_write import write_all
from prowess._internal.files.open_flags import Closing
from prowess.errors import ExecTimeoutError, InvalidArgumentsError, LimitExceededError

MEMORY_BYTES = 1024 * 1024 * 1024
_WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "grep_worker.py")
_CHUNK = 1 << 16


class PatternProcess(Closing):
    """A context manager for one pattern. Its searches together must finish within `seconds`.

    Raise InvalidArgumentsError if it is no regular expression, ExecTimeoutError if compiling it took too long.
    """

    def __init__(self, pattern: str, *, ignore_case: bool, multiline: bool, seconds: float) -> None:
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", _WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env={},
            cwd="/",
            start_new_session=True,  # a Ctrl-C at the terminal must reach Prowess only
        )
        self._kept = b""
        asked = {
            "pattern": pattern,
            "ignore_case": ignore_case,
            "multiline": multiline,
            "cpu_seconds": int(seconds) + 2,
            "memory_bytes": MEMORY_BYTES,
        }
        try:
            answer = self._ask(json.dumps(asked).encode() + b"\n")
        except BaseException:
            self.close()
            raise
        if isinstance(answer, dict) and "error" in answer:
            self.close()
            raise InvalidArgumentsError((f"pattern is not a Python regular expression: {answer['error']}",))

    def search(self, text: bytes) -> list[tuple[int, int]]:
        """Return the first and the last line of each match in a UTF-8 text, counted from 0.

        Raise ExecTimeoutError if the time is over, LimitExceededError if the pattern needs too much memory.
        """
        answer = self._ask(len(text).to_bytes(4, "big") + text)
        return [(first, last) for first, last in cast("list[list[int]]", answer)]

    def close(self) -> None:
        """Kill the process and close its pipes."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def _ask(self, message: bytes) -> object:
        # The process is waiting for a message at this point, so writing cannot block for long.
        with suppress(BrokenPipeError):
            assert self._process.stdin is not None  # noqa: S101 -- opened with PIPE
            write_all(self._process.stdin.fileno(), message)
        return json.loads(self._line())

    def _line(self) -> bytes:
        assert self._process.stdout is not None  # noqa: S101 -- opened with PIPE
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._kept:
                left = self._deadline - time.monotonic()
                timely = left > 0 and bool(selector.select(left))
                chunk = os.read(self._process.stdout.fileno(), _CHUNK) if timely else b""
                if not timely or (not chunk and time.monotonic() >= self._deadline):
                    raise ExecTimeoutError(self._seconds, "the search", "; use a simpler pattern or a narrower path")
                if not chunk:
                    raise LimitExceededError("bytes of memory for the pattern", MEMORY_BYTES, None)
                self._kept += chunk
        line, _, self._kept = self._kept.partition(b"\n")
        return line
