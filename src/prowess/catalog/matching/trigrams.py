"""Known words that look like an unknown one, by the groups of three characters that both have.

Finds the word that was meant after a typing error, and words of other languages with the same origin.
"""

from __future__ import annotations

from array import array
from itertools import chain, takewhile
from operator import eq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

SHORTEST = 4  # characters; shorter words look like too many others
LONGEST = 40
_MOST_KEPT = 1000  # unknown words with their results
_MOST = 3  # words for one unknown word
_SAME_ORIGIN = 0.6  # share of groups in common from which two words are alike however many letters differ
_BEGINNING = 0.7  # likeness of a word to a longer one that begins with it
_SAME_BEGINNING, _LEAST_PART = 5, 0.5  # letters from which a common beginning counts, and their part of the longer word
_LOOKED_UP, _COMPARED = 6, 24  # groups of an unknown word, the rarest ones; known words that have most of them


class Trigrams:
    """The known words, sorted, and their numbers by the groups of three characters that they have."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = sorted(word for word in words if SHORTEST <= len(word) <= LONGEST)
        self.having: dict[str, array[int]] = {}
        for number, word in enumerate(self.words):
            for group in trigrams(word):
                having = self.having.get(group)
                if having is None:
                    having = self.having[group] = array("I")
                having.append(number)
        self._kept: dict[str, list[tuple[str, float]]] = {}

    def near(self, word: str) -> list[tuple[str, float]]:
        """Return the known words that are most like `word`, each with its likeness: below 1, the greatest first."""
        found = self._kept.get(word)
        if found is None:
            if not SHORTEST <= len(word) <= LONGEST:
                return []
            numbers = most_shared([self.having[group] for group in trigrams(word) if group in self.having])
            found = most_alike(word, [self.words[number] for number in numbers])
            if len(self._kept) < _MOST_KEPT:
                self._kept[word] = found
        return found


def most_shared(having: Iterable[Sequence[int]]) -> list[int]:
    """Return the numbers that are most often in the shortest of these lists, in ascending order."""
    shared: dict[int, int] = {}
    lists = sorted(having, key=len)[:_LOOKED_UP]
    for number in chain.from_iterable(lists):
        shared[number] = shared.get(number, 0) + 1
    least = min(2, len(lists))
    best = [number for number, count in shared.items() if count >= least]
    if len(best) > _COMPARED:
        best = sorted(best, key=lambda number: (-shared[number], number))[:_COMPARED]
    return sorted(best)


def most_alike(word: str, known: Collection[str]) -> list[tuple[str, float]]:
    """Return the words that are most like `word`, each with its likeness: below 1, the greatest first."""
    groups = trigrams(word)
    rated = [(-alike, other) for other in known if (alike := _likeness(word, other, groups)) > 0]
    return [(other, -alike) for alike, other in sorted(rated)[:_MOST]]


def trigrams(word: str) -> set[str]:
    """Return the groups of three characters of a word, with its beginning and its end marked."""
    marked = f"  {word} "
    return {marked[at : at + 3] for at in range(len(marked) - 2)}


def _likeness(word: str, known: str, groups: set[str]) -> float:
    """Return how alike two different words are, or 0.

    One letter may be wrong, missing, added or exchanged with its neighbour; in longer words, two or three. The first
    letter is seldom wrong, so words that differ there must have most groups in common.
    """
    others = trigrams(known)
    shared = 2 * len(groups & others) / (len(groups) + len(others))
    allowed = min((max(len(word), len(known)) - 1) // 3, 3)
    if abs(len(word) - len(known)) <= allowed and (word[0] == known[0] or shared >= _SAME_ORIGIN):
        changes = edits(word, known)
        if changes <= allowed:
            return max(1 - changes / len(word), shared)
    if known.startswith(word):
        return max(_BEGINNING, shared)
    beginning: int = sum(takewhile(bool, map(eq, word, known)))
    part = beginning / max(len(word), len(known))
    if beginning >= _SAME_BEGINNING and part >= _LEAST_PART:
        return max(part, shared)
    return shared if shared >= _SAME_ORIGIN else 0.0


def edits(word: str, known: str) -> int:
    """Return the number of letters to change, add, remove or exchange with a neighbour.

    Computed for a whole column of the table at once, with one bit for each letter of `word` (the method of Myers, with
    exchanges by Hyyro).
    """
    places: dict[str, int] = {}
    for at, letter in enumerate(word):
        places[letter] = places.get(letter, 0) | 1 << at
    whole, last, found = (1 << len(word)) - 1, 1 << len(word) - 1, len(word)
    up, down, diagonal, before = whole, 0, 0, 0
    for letter in known:
        same = places.get(letter, 0)
        exchanged = (~diagonal & same) << 1 & before
        diagonal = (((same & up) + up) ^ up) | same | down | exchanged
        more, less = down | ~(diagonal | up) & whole, diagonal & up
        found += 1 if more & last else -1 if less & last else 0
        more = more << 1 | 1
        up = (less << 1 | ~(diagonal | more)) & whole
        down, before = diagonal & more & whole, same
    return found
