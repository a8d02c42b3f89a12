"""The same ranking for a few texts that are no skills of a catalog, such as the choices of the offline model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.catalog.matching.postings import Postings
from prowess.catalog.matching.ranking import Asked
from prowess.catalog.matching.stems import stemmed
from prowess.catalog.matching.words import spelled_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.catalog.matching.fields import FieldText


def evidence_in(task: str, texts: Sequence[Sequence[FieldText]]) -> list[float]:
    """Return how much each item fits a task by its fields and their texts; 0 if none of its words brings it in."""
    postings = Postings[int](texts.__getitem__)
    postings.follow(range(len(texts)))
    found = Asked(task, postings).evidence()
    return [found.get(number, 0.0) for number in range(len(texts))]


def stems_of(text: str) -> list[str]:
    """Return the stems of a text's words in their order, without common words."""
    return list(stemmed(spelled_words(text)))
