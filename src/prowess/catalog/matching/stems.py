"""Stems of English words, by which `deploys` and `deploying` match `deploy`.

The only module that imports a stemmer: PyStemmer, or snowballstemmer where PyStemmer has no wheel (both come with the
extra `match`). Their results are equal. Without them, a word is its own stem.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_SHORTEST = 3  # characters; shorter words keep their form
_MOST_KEPT = 200_000  # words


@cache
def _stemmer() -> tuple[str | None, Callable[[str], str]]:
    if find_spec("Stemmer") is not None:
        import Stemmer  # Imported here: an optional package.

        return "PyStemmer", Stemmer.Stemmer("english", 0).stemWord
    if find_spec("snowballstemmer") is not None:
        import snowballstemmer  # Imported here: an optional package.

        return "snowballstemmer", snowballstemmer.stemmer("english").stemWord
    return None, str


def stemmer_name() -> str | None:
    """Return the package that finds the stems, or None if neither is installed."""
    return _stemmer()[0]


class _Stems(dict[str, str]):
    """The stem of each word, computed when it is first looked up."""

    def __missing__(self, word: str) -> str:
        plain = len(word) >= _SHORTEST and word.isascii() and word.isalpha()
        found = _stemmer()[1](word) if plain else word
        if len(self) < _MOST_KEPT:
            self[word] = found
        return found


_stems = _Stems()


def stem(word: str) -> str:
    """Return the stem of a folded word. A word that is not written in `a` to `z` is its own stem."""
    return _stems[word]


def stemmed(words: Iterable[str]) -> Iterator[str]:
    """Yield the stems of folded words."""
    return map(_stems.__getitem__, words)
