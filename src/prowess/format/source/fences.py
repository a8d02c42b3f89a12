"""Fences are whole lines: where frontmatter begins and ends, and where the body begins.

A fence is a line of exactly three hyphens, trailing blanks allowed, at the start of a line. `----`, `---x`, `...` and
three hyphens inside a value are text. Line breaks are LF here already.
"""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from prowess.format.limits import FIELDS, MAX_FRONT_MATTER_BYTES

_MOST_CANDIDATES = 20_000  # lines that begin like a fence; more do not fit into 64 KiB
_FENCE = re.compile(r"---[ \t]*(?=\n|\Z)")
_BLANKS = re.compile(r"[ \t\n]*")
_FIELD = rf"(?m)^(?:{'|'.join(FIELDS)})[ \t]*:"


class Fences(Struct, frozen=True, kw_only=True):
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
        if fences.end is not None and re.compile(_FIELD).search(text, fences.start, fences.end):
            return replace(fences, blank_before=blank)
    return Fences(opening=None)


def _closed(text: str, opening: int, fence_end: int) -> Fences:
    start = min(fence_end + 1, len(text))
    closing = _closing_fence(text, fence_end) if start > fence_end else None
    if closing is None:
        return Fences(opening=opening, start=start, end=None, body=len(text))
    begin, end = closing
    return Fences(opening=opening, start=start, end=begin, body=min(end + 1, len(text)))


def _closing_fence(text: str, line_end: int) -> tuple[int, int] | None:
    """Return start and end of the first fence after the line that ends at `line_end`."""
    at = line_end
    for _ in range(_MOST_CANDIDATES):
        at = text.find("\n---", at)
        if at < 0:
            return None
        if (fence := _FENCE.match(text, at + 1)) is not None:
            return fence.span()
        at += 1
    return None


def _skip_prelude(text: str) -> tuple[int, bool]:
    """Return the offset of the first line that is neither blank nor an HTML comment, and whether all were blank."""
    at, blank = _past_blanks(text, 0), True
    while text.startswith("<!--", at) and at < MAX_FRONT_MATTER_BYTES:
        blank = False
        close = text.find("-->", at + len("<!--"))
        if close < 0:
            return 0, False
        at = _past_blanks(text, close + len("-->"))
    return (at if at and text[at - 1] == "\n" else 0), blank


def _past_blanks(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    return at if blanks is None else blanks.end()
