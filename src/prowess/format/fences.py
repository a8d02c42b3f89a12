"""Fences are whole lines: where frontmatter begins and ends, and where the body begins.

A fence is a line of exactly three hyphens, trailing blanks allowed, at the start of a line. `----`, `---x`, `...` and
three hyphens inside a value are text. Line breaks are LF here already.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from prowess.format.limits import FIELDS

_FENCE = re.compile(r"^---[ \t]*$", re.MULTILINE)
_FIELD = re.compile(rf"^(?:{'|'.join(FIELDS)})[ \t]*:", re.MULTILINE)


class Fences(NamedTuple):
    """Offsets into the text. `opening` is None where there is no frontmatter; `end` is None where nothing closes it.

    The frontmatter is `text[start:end]`, the body `text[body:]`. `blank_before` is true where only blank lines stand
    before the opening fence, so that removing them mends it.
    """

    opening: int | None
    start: int = 0
    end: int | None = None
    body: int = 0
    blank_before: bool = False


def find_fences(text: str) -> Fences:
    """Find the frontmatter; comments and blank lines before it are passed over if it looks like a skill's."""
    if (first := _FENCE.match(text)) is not None:
        return _closed(text, 0, first.end())
    start, blank = _skip_prelude(text)
    if start and (late := _FENCE.match(text, start)) is not None:
        fences = _closed(text, start, late.end())
        if fences.end is not None and _FIELD.search(text, fences.start, fences.end):
            return fences._replace(blank_before=blank)
    return Fences(None)


def _closed(text: str, opening: int, fence_end: int) -> Fences:
    start = min(fence_end + 1, len(text))
    closing = _FENCE.search(text, start) if start > fence_end else None
    if closing is None:
        return Fences(opening, start, None, len(text))
    return Fences(opening, start, closing.start(), min(closing.end() + 1, len(text)))


def _skip_prelude(text: str) -> tuple[int, bool]:
    """Return the offset of the first line that is neither blank nor an HTML comment, and whether all were blank."""
    at, blank = 0, True
    while at < len(text):
        line_end = text.find("\n", at)
        line_end = len(text) if line_end < 0 else line_end
        line = text[at:line_end].strip(" \t")
        if not line:
            at = line_end + 1
        elif line.startswith("<!--"):
            blank = False
            close = text.find("-->", text.index("<!--", at) + 4)
            if close < 0:
                break
            at = close + 3
            rest = text[at : _line_end(text, at)].strip(" \t")
            if not rest:
                at = _line_end(text, at) + 1
            elif not rest.startswith("<!--"):
                break
        else:
            break
    return min(at, len(text)), blank


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
