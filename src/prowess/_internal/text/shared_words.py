"""Score texts by the words they share with a question, without a model, an index or language data besides case.

A word that few texts contain counts more than one that many contain. Very common words do not count.
"""

from __future__ import annotations

import math
import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_WORD = r"[^\W_]+"
_SHORT = 3  # words of at most this length keep a final s
_MOST_COUNTED = 3  # further repetitions of a word in a text do not count
_COMMON = frozenset(
    {
        *("a", "an", "and", "are", "as", "ask", "at", "be", "by", "can", "did", "do", "does", "each", "for", "from"),
        *("had", "has", "have", "how", "i", "in", "into", "is", "it", "its", "me", "my", "not", "of", "on", "or"),
        *("our", "please", "so", "some", "than", "that", "the", "their", "them", "there", "these", "this", "those"),
        *("to", "us", "use", "user", "want", "was", "we", "were", "what", "when", "where", "which", "who", "why"),
        *("will", "with", "you", "your"),
    }
)


def words(text: str) -> list[str]:
    """Return the words of a text without common words, case-folded and without a plural s."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return [
        word[:-1] if len(word) > _SHORT and word.endswith("s") else word
        for word in re.findall(_WORD, folded)
        if word not in _COMMON
    ]


def scores(question: str, texts: Sequence[str]) -> list[float]:
    """Return a score for each text, 0 if it shares no word with the question."""
    asked = dict.fromkeys(words(question))
    held: list[dict[str, int]] = []
    for text in texts:
        counted: dict[str, int] = {}
        for word in words(text):
            if word in asked:
                counted[word] = counted.get(word, 0) + 1
        held.append(counted)
    among = {word: sum(word in counted for counted in held) for word in asked}
    return [
        sum(
            math.log(1 + len(texts) / among[word]) * min(count, _MOST_COUNTED)
            for word, count in sorted(counted.items())
        )
        for counted in held
    ]
