"""Spellings that may have been meant in place of one that is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def near_words(word: str, known: Iterable[str], *, most: int = 1, cutoff: float = 0.6) -> list[str]:
    """Return the known spellings that are most like a word, the nearest first; `cutoff` is a likeness from 0 to 1."""
    # Imported here, not at the top: only a wrong spelling pays for it.
    from difflib import get_close_matches

    return get_close_matches(word, list(known), most, cutoff)
