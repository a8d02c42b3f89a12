"""The table of `prowess list` and `prowess registry list`: a line for each skill, with what fits of its description."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import columns, fitting, printable_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PIPED_COLUMNS = 80
_LONGEST_NAME = 40
_SHORTEST_DESCRIPTION = 20
_LOOKED_AT = 4  # characters of a description for each column; it may have longer blanks, or characters without width


def table(names: list[str], places: list[str], texts: Iterable[str]) -> Iterator[str]:
    """Yield one line for each skill: its name, its place, and as much of the text as fits."""
    widths = list(map(columns, names))
    name_width = min(max(widths), _LONGEST_NAME)
    place_width = max(map(len, places))
    left = max(_columns() - name_width - place_width - 4, _SHORTEST_DESCRIPTION)
    for name, width, place, text in zip(names, widths, places, texts, strict=True):
        yield f"{name}{' ' * (name_width - width)}  {place:<{place_width}}  {_shortened(text, left)}\n"


def _columns() -> int:
    if not sys.stdout.isatty():
        return _PIPED_COLUMNS
    from shutil import get_terminal_size  # Imported here because a pipe has no width.

    return get_terminal_size().columns


def _shortened(text: str, width: int) -> str:
    """Return `text` as one line of at most `width` columns, cut between words if that loses less than half of it."""
    text = text.strip()
    line = text[: width + 1]
    if line.isascii() and line.isprintable() and "  " not in line:  # most are
        if len(line) <= width:
            return line
        line = line[: width - 1]
    else:
        part = text[: _LOOKED_AT * width]  # a long text is not split as a whole
        line = printable_line(" ".join(part.split()))
        if columns(line) <= width and len(part) < len(text):
            line = printable_line(" ".join(text.split()))
        if columns(line) <= width:
            return line
        line = fitting(line[: width - 1], width - 1)
    words, blank, _ = line.rpartition(" ")
    return f"{words if blank and len(words) > width // 2 else line}…"
