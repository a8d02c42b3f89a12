"""The output of a running script on the streams of this process, and a spinner while it prints nothing.

A pipe gets what the script wrote; on a terminal control characters are escaped. The spinner is drawn on standard error
if that is a terminal which wants more than plain text. It is erased before anything is printed, and at the end,
whatever ended the run.
"""

from __future__ import annotations

import itertools
import sys
import threading
import time
from typing import TYPE_CHECKING, Self

from prowess._internal.text.terminal_text import printable, printable_line
from prowess.cli import output

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.runtime import OutputChunk

_FRAMES = "|/-\\"
_STEP_SECONDS = 0.1
_WIDEST = 60  # characters of a name: a line that a terminal breaks cannot be erased
_ERASE = "\r\x1b[K"


class LiveOutput:
    """Prints chunks as they come, between `with` and its end; `finish` prints what is left of the result.

    Without `prints` only the spinner is shown. `begin` starts it: before the script runs, a person may be asked.
    """

    def __init__(self, script: str, *, prints: bool, spins: bool) -> None:
        self._text = printable_line(script)[:_WIDEST]
        self._prints, self._spins = prints, spins and output.is_rich(sys.stderr)
        self._printed = {"stdout": 0, "stderr": 0}
        self._at_line_start, self._drawn = True, False
        self._fault: OSError | None = None
        self._lock = threading.Lock()
        self._over = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self._over.set()
        with self._lock:
            self._erase()

    def begin(self) -> None:
        """Start the spinner."""
        if self._spins:
            threading.Thread(target=self._spin, name="prowess-spinner", daemon=True).start()

    def show(self, chunk: OutputChunk) -> None:
        """Print a chunk; for `run_script(on_output=)`."""
        with self._lock:
            self._print(chunk.stream, chunk.text)

    def finish(self, result: Mapping[str, object]) -> None:
        """Print what was not printed yet: a reader of a pipe may have been slow. A last line gets its end.

        Raises:
            OSError: standard output could not be written.
        """
        self._over.set()
        for stream in ("stdout", "stderr"):
            text = str(result[stream])
            with self._lock:
                self._print(stream, text[self._printed[stream] :])
                if text and not text.endswith("\n") and self._needs_end(stream):
                    self._print(stream, "\n")
        if self._fault is not None:
            raise self._fault

    def _needs_end(self, stream: str) -> bool:  # a pipe gets what the script wrote
        return not self._at_line_start if getattr(sys, stream).isatty() else stream == "stderr"

    def _print(self, stream: str, text: str) -> None:
        self._printed[stream] += len(text)
        if not text or not self._prints or self._fault is not None:
            return
        self._erase()
        if stream == "stderr":
            output.raw_note(printable(text))
        else:
            try:
                output.raw(printable(text) if sys.stdout.isatty() else text)
            except OSError as fault:  # told at the end, by the thread that runs the command
                self._fault = fault
        if getattr(sys, stream).isatty():
            self._at_line_start = text.endswith("\n")

    def _spin(self) -> None:
        began = time.monotonic()
        for frame in itertools.cycle(_FRAMES):
            if self._over.wait(_STEP_SECONDS):
                return
            with self._lock:
                if self._at_line_start and not self._over.is_set():
                    self._drawn = True
                    output.raw_note(f"{_ERASE}{frame} {self._text} {int(time.monotonic() - began)} s")

    def _erase(self) -> None:
        if self._drawn:
            self._drawn = False
            output.raw_note(_ERASE)
