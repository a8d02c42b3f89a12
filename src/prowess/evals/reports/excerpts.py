"""How much text of a run a page shows: a page has a limit, and each run a share of it.

Texts are foreign data of any length. A share counts bytes as they stand in the page, escapes of HTML included.
"""

from __future__ import annotations

from html import escape

from prowess._internal.text.terminal_text import printable

_MOST = 24_000  # bytes of one run


class TextShare:
    """The bytes that are left of a share."""

    def __init__(self, size: int) -> None:
        self.left = max(0, min(size, _MOST))

    def cut(self, text: str, most: int, *, overhead: int = 0) -> str | None:
        """Return the beginning of a text that fits, with an ellipsis if it is shortened; None if nothing fits.

        `most` is a limit in characters, and `overhead` what the markup around the text takes.
        """
        shown = printable(text[: most + 1])
        shortened = len(text) > most
        room = self.left - overhead
        if shortened:
            shown = shown[:most]
        if size_in_page(shown) + 3 > room:
            shown, shortened = _fitting(shown, room - 3), True
        if not shown and text:
            return None
        self.left -= size_in_page(shown) + overhead + 3 * shortened
        return f"{shown}…" if shortened else shown


def size_in_page(text: str) -> int:
    """Return the bytes that a text takes in a page."""
    return len(escape(text).encode("utf-8", "replace"))


def _fitting(text: str, room: int) -> str:
    """Return the longest beginning that takes at most `room` bytes."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if size_in_page(text[:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    return text[:low]
