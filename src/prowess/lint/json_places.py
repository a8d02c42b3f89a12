"""Where the values of a JSON text stand: the members of an object and the items of a list, one level at a time.

The text has been parsed before, so that it is JSON and no deeper than the parser goes.
"""

from __future__ import annotations

import re
from json import JSONDecoder

_BLANK = re.compile(r"[ \t\r\n]*")
_DECODE = JSONDecoder(strict=False).raw_decode


def members(text: str, start: int) -> dict[str, int]:
    """Return where the value of each member stands; `start` is where an object begins."""
    found: dict[str, int] = {}
    at = _after(text, _after(text, start) + 1)
    while text[at] != "}":
        key, at = _DECODE(text, at)
        at = _after(text, _after(text, at) + 1)
        found[key] = at
        _, at = _DECODE(text, at)
        at = _next(text, at)
    return found


def items(text: str, start: int) -> list[int]:
    """Return where each item stands; `start` is where a list begins."""
    found = []
    at = _after(text, _after(text, start) + 1)
    while text[at] != "]":
        found.append(at)
        _, at = _DECODE(text, at)
        at = _next(text, at)
    return found


def _next(text: str, at: int) -> int:
    """Return where the next one begins, or the end of all."""
    at = _after(text, at)
    return _after(text, at + 1) if text[at] == "," else at


def _after(text: str, at: int) -> int:
    return _BLANK.match(text, at).end()  # type: ignore[union-attr]  # no blank at all matches as well
