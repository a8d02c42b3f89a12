"""Prints the output of a running script, and shows a spinner while the script prints no output.

A regular file gets the exact text of the script; on a terminal and in a pipe, control characters are escaped. The
spinner is drawn on standard error, but only if standard error is a terminal that is not limited to plain text. The
spinner is erased before text is printed and at the end, also if the run fails.

A separate thread does all printing, so that a slow reader delays neither the run nor its end.
"""

from __future__ import annotations

import itertools
import sys
import threading
import time
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Self

from prowess._internal.text.terminal_text import printable, printable_line
from prowess.cli import output

if TYPE_CHECKING:
    from prowess.runtime import OutputChunk

_FRAMES = "|/-\\"
_STEP_SECONDS = 0.1
_LAST_SECONDS = 0.5  # seconds to wait for the printing thread after an interrupt, if the reader has stopped reading
_WIDEST = 60  # characters of the name; a line that the terminal wraps could not be erased
_ERASE = "\r\x1b[K"


class LiveOutput:
    """Prints chunks of output as they arrive, inside its `with` block.

    `begin` starts the spinner if `spins` is true. It is a separate call because a person may first be asked for
    approval.
    """

    def __init__(self, script: str, *, spins: bool) -> None:
        self._text, self._spins = printable_line(script)[:_WIDEST], spins and output.is_rich(sys.stderr)
        self._chunks: SimpleQueue[OutputChunk | None] = SimpleQueue()
        self._began: float | None = None
        self._at_line_start, self._drawn = True, False
        self._is_open = {"stdout": False, "stderr": False}  # stream -> whether its last line has no line break yet
        self._fault: OSError | None = None
        self._thread = threading.Thread(target=self._run, name="prowess-output", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._chunks.put(None)
        self._thread.join(_LAST_SECONDS)

    def begin(self) -> None:
        """Start the spinner."""
        self._began = time.monotonic()

    def show(self, chunk: OutputChunk) -> None:
        """Queue a chunk for printing. Passed to `run_script(on_output=)`."""
        self._chunks.put(chunk)

    def finish(self) -> None:
        """Wait until everything is printed. If the last line has no line break, add one.

        No line break is added to a pipe or file on standard output, which must get the exact text.

        Raises:
            OSError: standard output could not be written.
        """
        self._chunks.put(None)
        self._thread.join()
        if self._fault is not None:
            raise self._fault

    def _run(self) -> None:
        for frame in itertools.cycle(_FRAMES):
            try:
                chunk = self._chunks.get(timeout=_STEP_SECONDS)
            except Empty:
                self._spin(frame)
                continue
            self._erase()
            if chunk is None:
                break
            self._print(chunk.stream, chunk.text)
        for stream, is_open in self._is_open.items():
            # A pipe or file on standard output gets no line break that the script did not write.
            if is_open and (not self._at_line_start if getattr(sys, stream).isatty() else stream == "stderr"):
                self._print(stream, "\n")

    def _print(self, stream: str, text: str) -> None:
        self._is_open[stream] = not text.endswith("\n")
        if getattr(sys, stream).isatty():
            self._at_line_start = text.endswith("\n")
        if stream == "stderr":
            output.raw_note(printable(text))
        elif self._fault is None:
            try:
                output.foreign(text)
            except OSError as fault:  # raised by `finish` in the main thread
                self._fault = fault

    def _spin(self, frame: str) -> None:
        if self._spins and self._began is not None and self._at_line_start:
            self._drawn = True
            output.raw_note(f"{_ERASE}{frame} {self._text} {int(time.monotonic() - self._began)} s")

    def _erase(self) -> None:
        if self._drawn:
            self._drawn = False
            output.raw_note(_ERASE)
