"""Overlap: pairs of skills whose descriptions have mostly the same words, so that a task finds both.

Two descriptions overlap by the weights of the words that both have, as a part of the weights of the words that one of
them has. Only the rarest words of a description are looked up: if two descriptions overlap by more than `_LEAST`, they
share at least one of them.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.catalog.matching.stems import stem
from prowess.catalog.matching.weights import Rarities
from prowess.catalog.matching.words import asked_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LEAST = 0.3  # finds rivals of public skills that lack a third of the words, and 14 pairs among 800 public skills
_FEWEST = 3  # words; shorter descriptions are alike by chance


class Overlap(Struct, frozen=True, kw_only=True):
    """Two skills that compete: their numbers, and the words that both descriptions have, the rarest first."""

    first: int
    second: int
    words: tuple[str, ...]


def overlaps(descriptions: Sequence[str]) -> Iterator[Overlap]:
    """Yield the pairs of descriptions that overlap, in ascending order of the second number."""
    texts = [{stem(word): written for word, written in asked_words(text).items()} for text in descriptions]
    having = Counter(root for text in texts for root in text)
    rarities = Rarities(len(texts))
    weights = {root: rarities.of(root, count) for root, count in having.items()}
    totals = [sum(weights[root] for root in text) for text in texts]
    seen: dict[str, list[int]] = {}
    for second, text in enumerate(texts):
        if len(text) < _FEWEST:
            continue
        rarest = sorted(text, key=lambda root: (-weights[root], root))
        candidates: dict[int, None] = {}
        left = totals[second]
        for root in rarest:
            if left < _LEAST * totals[second]:
                break
            left -= weights[root]
            others = seen.setdefault(root, [])
            candidates.update(dict.fromkeys(others))
            others.append(second)
        for first in sorted(candidates):
            shared = [root for root in rarest if root in texts[first]]
            both = sum(weights[root] for root in shared)
            if both >= _LEAST * (totals[first] + totals[second] - both):
                yield Overlap(first=first, second=second, words=tuple(text[root] for root in shared))
