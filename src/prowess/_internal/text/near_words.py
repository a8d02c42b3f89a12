"""Suggestions for an unknown word: the most similar known words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def near_words(word: str, known: Iterable[str], *, most: int = 1, cutoff: float = 0.6) -> list[str]:
    """Return at most `most` known words, the most similar first. `cutoff` is the least similarity, from 0 to 1."""
    from difflib import get_close_matches  # Imported here, not at the top: needed only after a wrong spelling.

    return get_close_matches(word, list(known), most, cutoff)
