"""Known words that look like an unknown one, by the groups of three characters that both have.

Finds the word that was meant after a typing error, and words of other languages with the same origin.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

SHORTEST = 4  # characters; shorter words look like too many others
_LONGEST = 40
_MOST = 3  # words for one unknown word
_LEAST_SHARED = 0.25  # share of groups in common from which two words are compared letter by letter
_SAME_ORIGIN = 0.6  # share of groups in common from which two words are alike however many letters differ


class Trigrams:
    """The known words by their groups of three characters."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = [word for word in words if SHORTEST <= len(word) <= _LONGEST]
        self._sizes = bytearray()
        self._having: dict[str, array[int]] = {}
        for number, word in enumerate(self._words):
            groups = trigrams(word)
            self._sizes.append(len(groups))
            for group in groups:
                having = self._having.get(group)
                if having is None:
                    having = self._having[group] = array("I")
                having.append(number)

    def near(self, word: str) -> list[tuple[str, float]]:
        """Return the known words that are most like `word`, each with its likeness: below 1, the greatest first."""
        if not SHORTEST <= len(word) <= _LONGEST:
            return []
        groups = trigrams(word)
        shared: dict[int, int] = {}
        for group in groups:
            for number in self._having.get(group, ()):
                shared[number] = shared.get(number, 0) + 1
        asked, sizes = len(groups), self._sizes
        rated = [
            (-alike, known)
            for number, count in shared.items()
            if 2 * count >= _LEAST_SHARED * (asked + sizes[number])
            and (alike := likeness(word, known := self._words[number], 2 * count / (asked + sizes[number]))) > 0
        ]
        return [(known, -alike) for alike, known in sorted(rated)[:_MOST]]


def trigrams(word: str) -> set[str]:
    """Return the groups of three characters of a word, with its beginning and its end marked."""
    marked = f"  {word} "
    return {marked[at : at + 3] for at in range(len(marked) - 2)}


def likeness(word: str, known: str, shared: float) -> float:
    """Return how alike two different words with this share of groups in common are; 0 if they are not.

    One letter may be wrong, missing, added or exchanged with its neighbour; in longer words, two or three. The first
    letter is seldom wrong, so words that differ there must have most groups in common.
    """
    allowed = min((max(len(word), len(known)) - 1) // 3, 3)
    changes = edits(word, known, allowed)
    if changes <= allowed and (word[0] == known[0] or shared >= _SAME_ORIGIN):
        return max(1 - changes / len(word), shared)
    return shared if shared >= _SAME_ORIGIN else 0.0


def edits(word: str, known: str, most: int) -> int:
    """Return the number of letters to change, add, remove or exchange with a neighbour; `most + 1` if it is higher."""
    if abs(len(word) - len(known)) > most:
        return most + 1
    before, row = [0] * (len(known) + 1), list(range(len(known) + 1))
    for at, letter in enumerate(word, 1):
        before_that, before, row = before, row, [at]
        for place, other in enumerate(known, 1):
            cost = min(row[-1] + 1, before[place] + 1, before[place - 1] + (letter != other))
            if at > 1 and place > 1 and letter == known[place - 2] and word[at - 2] == other:
                cost = min(cost, before_that[place - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]
