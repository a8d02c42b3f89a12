"""The table of `prowess list` and `prowess registry list`: a line for each skill, with what fits of its description."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import columns, fitting, printable_line
from prowess.cli.output import width

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LONGEST_NAME = 40
_SHORTEST_DESCRIPTION = 20
_LOOKED_AT = 4  # characters of a description for each column; it may have longer blanks, or characters without width


def table(names: list[str], places: list[str], texts: Iterable[str]) -> Iterator[str]:
    """Yield one line for each skill: its name, its place, and as much of the text as fits; in a pipe all of it."""
    widths = list(map(columns, names))
    name_width = min(max(widths), _LONGEST_NAME)
    place_width = max(map(len, places))
    whole = width()
    left = None if whole is None else max(whole - name_width - place_width - 4, _SHORTEST_DESCRIPTION)
    for name, wide, place, text in zip(names, widths, places, texts, strict=True):
        yield f"{name}{' ' * (name_width - wide)}  {place:<{place_width}}  {_shortened(text, left)}\n"


def _shortened(text: str, most: int | None) -> str:
    """Return `text` as one line of at most `most` columns, cut between words if that loses less than half of it."""
    text = text.strip()
    if most is None:
        return printable_line(" ".join(text.split()))
    line = text[: most + 1]
    if line.isascii() and line.isprintable() and "  " not in line:  # most are
        if len(line) <= most:
            return line
        line = line[: most - 1]
    else:
        part = text[: _LOOKED_AT * most]  # a long text is not split as a whole
        line = printable_line(" ".join(part.split()))
        if columns(line) <= most and len(part) < len(text):
            line = printable_line(" ".join(text.split()))
        if columns(line) <= most:
            return line
        line = fitting(line[: most - 1], most - 1)
    words, blank, _ = line.rpartition(" ")
    return f"{words if blank and len(words) > most // 2 else line}…"
