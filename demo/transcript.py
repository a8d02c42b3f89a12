"""Output of the demo: at most 80 columns, coloured only on a terminal without NO_COLOR."""

from __future__ import annotations

import os
import sys
import textwrap

WIDTH = 80
MARGIN = 3


class Transcript:
    """Writes to standard output and counts the steps that passed."""

    def __init__(self) -> None:
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # characters outside of the encoding become `?`
        self._colours = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        self.steps = 0
        self.passed = 0

    def heading(self, text: str) -> None:
        """Print the title and a rule below it."""
        self._line(self._in("1", text))
        self._line(self._in("2", "─" * WIDTH))

    def step(self, title: str, call: str = "") -> None:
        """Begin a step; `call` is the tool call or the command."""
        self.steps += 1
        self._line("")
        head = f"{self.steps:>2} {title}"
        beside = len(head) + 2 + len(call) <= WIDTH
        self._line(f"{self._in('1', head)}  {self._in('36', call if beside else '')}".rstrip())
        if not beside:
            self._line(" " * MARGIN + self._in("36", _cut(call, WIDTH - MARGIN)))

    def say(self, text: str) -> None:
        """Print a sentence, wrapped."""
        for line in textwrap.wrap(text, WIDTH - MARGIN, break_long_words=False, break_on_hyphens=False):
            self._line(" " * MARGIN + line)

    def quote(self, text: str, lines: int = 12) -> None:
        """Print the first `lines` lines of a text, each cut to the width."""
        shown = text.splitlines()
        for line in shown[:lines]:
            self._line(self._in("2", f"{' ' * MARGIN}│ {_cut(line, WIDTH - MARGIN - 2)}".rstrip()))
        if len(shown) > lines:
            self._line(self._in("2", f"{' ' * MARGIN}│ … {len(shown) - lines} more lines"))

    def row(self, left: str, right: str) -> None:
        """Print a line with a value at its right end."""
        room = WIDTH - MARGIN - len(right) - 2
        self._line(f"{' ' * MARGIN}{_cut(left, room).ljust(room)}  {right}")

    def passes(self, text: str) -> None:
        """Print the result of a step that passed, and count the step."""
        self.passed += 1
        self._marked("✓", "32", text)

    def fails(self, text: str) -> None:
        """Print the reason why the step failed."""
        self._marked("✗", "31", text)

    def end(self, text: str) -> None:
        """Print the last lines."""
        self._line("")
        self._line(self._in("2", "─" * WIDTH))
        for line in textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False):
            self._line(self._in("1", line))

    def _marked(self, mark: str, colour: str, text: str) -> None:
        first, *rest = textwrap.wrap(text, WIDTH - MARGIN - 2, break_long_words=False, break_on_hyphens=False)
        self._line(f"{' ' * MARGIN}{self._in(colour, mark)} {self._in(colour, first)}")
        for line in rest:
            self._line(f"{' ' * (MARGIN + 2)}{self._in(colour, line)}")

    def _in(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colours and text else text

    def _line(self, text: str) -> None:
        print(text, flush=True)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
