"""Texts of training in a proposed text. Such a text was learnt by heart."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

WORDS = 5  # a common sequence of this many words is a leak; of a shorter text, all words, but at least three
_FEWEST = 3
_WORD = re.compile(r"\w+")
LeakSource = Literal["request", "expected_output", "assertion"]


class Leak(Struct, frozen=True, kw_only=True):
    """Words of training that a proposed text has, and the first one did not have.

    `query` is the request, or the text of the eval, that has them. A proposed text is refused for words of requests and
    expected outputs. For words of an assertion it is not: an assertion states a wish, and so do instructions.
    """

    query: str
    text: str
    round: int
    source: LeakSource = "request"

    @property
    def is_refused(self) -> bool:
        """Whether the proposed text was refused for it."""
        return self.source != "assertion"


def leaks_of(
    text: str, start: str, trained: Iterable[str], *, number: int, source: LeakSource = "request"
) -> tuple[Leak, ...]:
    """Return the longest common sequence of words with each text of training, if it is long enough to be a leak."""
    new, old = _spelled(text), _spelled(start)
    sequences: dict[int, set[tuple[str, ...]]] = {}
    found: list[Leak] = []
    for one in trained:
        asked = _spelled(one)
        least = min(WORDS, max(len(asked), _FEWEST))
        if least not in sequences:
            sequences[least] = set(_sequences(new, least)) - set(_sequences(old, least))
        shared = max(_shared(asked, sequences[least], least), key=len, default=[])
        if shared:
            found.append(Leak(query=one, text=" ".join(shared), round=number, source=source))
    return tuple(found)


def _shared(asked: Sequence[str], new: set[tuple[str, ...]], least: int) -> Iterator[Sequence[str]]:
    """Yield the longest parts of `asked` of which all sequences of `least` words are new in the text."""
    start: int | None = None
    for at, one in enumerate([*_sequences(asked, least), ()]):
        if one in new:
            start = at if start is None else start
        elif start is not None:
            yield asked[start : at + least - 1]
            start = None


def _sequences(words: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    return (tuple(words[at : at + length]) for at in range(len(words) - length + 1))


def _spelled(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
