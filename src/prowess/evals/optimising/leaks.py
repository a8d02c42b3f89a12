"""Texts of training requests that stand in a description. Such a description was learnt by heart."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

WORDS = 5  # a common sequence of this many words is a leak; of a shorter request, all words, but at least three
_FEWEST = 3
_WORD = re.compile(r"\w+")


class Leak(Struct, frozen=True, kw_only=True):
    """Words of a training request that a proposed description has, and the first one did not have."""

    query: str
    text: str
    round: int


def leaks_of(description: str, start: str, requests: Iterable[str], *, number: int) -> tuple[Leak, ...]:
    """Return the longest common sequence of words with each request, if it is long enough to be a leak."""
    new, old = _spelled(description), f" {' '.join(_spelled(start))} "
    found: list[Leak] = []
    for request in requests:
        asked = _spelled(request)
        least = min(WORDS, max(len(asked), _FEWEST))
        shared = max(_shared(asked, new, least, old), key=len, default=[])
        if shared:
            found.append(Leak(query=request, text=" ".join(shared), round=number))
    return tuple(found)


def _shared(asked: Sequence[str], new: Sequence[str], least: int, old: str) -> Iterator[Sequence[str]]:
    """Yield the common sequences of at least `least` words that are not in the old text."""
    places: dict[str, list[int]] = {}
    for at, word in enumerate(new):
        places.setdefault(word, []).append(at)
    for start, word in enumerate(asked):
        for at in places.get(word, ()):
            length = 0
            while start + length < len(asked) and at + length < len(new) and asked[start + length] == new[at + length]:
                length += 1
            words = asked[start : start + length]
            if length >= least and f" {' '.join(words)} " not in old:
                yield words


def _spelled(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
