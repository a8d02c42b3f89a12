"""The output of a running script on the streams of this process, and a spinner while it prints nothing.

A pipe gets what the script wrote; on a terminal control characters are escaped. The spinner is drawn on standard error
if that is a terminal which wants more than plain text. It is erased before anything is printed, and at the end,
whatever ended the run.

One thread of its own prints all of it, so that a reader who does not read holds up neither the run nor its end.
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
_LAST_SECONDS = 0.5  # from an interrupt to the end of this process, if nobody reads
_WIDEST = 60  # characters of a name: a line that a terminal breaks cannot be erased
_ERASE = "\r\x1b[K"


class LiveOutput:
    """Prints chunks as they come, between `with` and its end.

    `begin` starts the spinner, if it `spins`: before the script runs, a person may be asked.
    """

    def __init__(self, script: str, *, spins: bool) -> None:
        self._text, self._spins = printable_line(script)[:_WIDEST], spins and output.is_rich(sys.stderr)
        self._chunks: SimpleQueue[OutputChunk | None] = SimpleQueue()
        self._began: float | None = None
        self._at_line_start, self._drawn = True, False
        self._is_open = {"stdout": False, "stderr": False}  # whether the last line of a stream has no end yet
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
        """Print a chunk soon; for `run_script(on_output=)`."""
        self._chunks.put(chunk)

    def finish(self) -> None:
        """Wait until everything is printed; a last line gets its end.

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
            # A pipe gets what the script wrote and nothing else.
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
            except OSError as fault:  # told by `finish`, in the thread that runs the command
                self._fault = fault

    def _spin(self, frame: str) -> None:
        if self._spins and self._began is not None and self._at_line_start:
            self._drawn = True
            output.raw_note(f"{_ERASE}{frame} {self._text} {int(time.monotonic() - self._began)} s")

    def _erase(self) -> None:
        if self._drawn:
            self._drawn = False
            output.raw_note(_ERASE)
