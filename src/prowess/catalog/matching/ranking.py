"""Ranking: from the words of a task to the items that have them, by postings in memory or in the store.

The rarest words of a task are looked up first. An item is found by any word that few items have, or by two that many
have; then all its words count.
"""

from __future__ import annotations

from heapq import nlargest
from itertools import accumulate
from operator import attrgetter
from typing import TYPE_CHECKING, Protocol

from prowess.catalog.matching.match import Reason
from prowess.catalog.matching.postings import first_field
from prowess.catalog.matching.stems import stemmed
from prowess.catalog.matching.weights import FOLLOWING, LEVELS, THRESHOLD, UNKNOWN_PAIR, Rarities, score
from prowess.catalog.matching.words import asked_words, is_pair

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from prowess.catalog.matching.match import MatchedField
    from prowess.catalog.matching.postings import Posting

DIGITS = 4  # of a score; evidence that is equal to so many digits is equal
_MARGIN = 10**-DIGITS
_FEW = 100  # items; fewer may be looked up one by one
_MANY = 500  # items; before so many are added, it is checked whether the best ones are certain
_LONGEST_TASK = 20_000  # characters that are read
_RAREST_FIRST = attrgetter("common", "having")


class PostingSource(Protocol):
    """Postings, and the words that they know."""

    @property
    def count(self) -> int:
        """The number of items."""
        ...

    def posting(self, stem: str) -> Posting | None:
        """Return the items that have a stem, or None."""
        ...

    def prepare(self, stems: Iterable[str]) -> None:
        """Make the postings of these stems ready at once. For speed only."""
        ...

    def near(self, word: str) -> Iterable[tuple[str, float]]:
        """Return the stems of known words that look like an unknown one, each with its likeness below 1."""
        ...


class Term:
    """One word of a task: how it is written there, its weight, and the items that have it."""

    __slots__ = ("bound", "common", "having", "posting", "weight", "word")

    def __init__(self, word: str, posting: Posting, weight: float, *, common: bool) -> None:
        self.word, self.posting, self.weight, self.common = word, posting, weight, common
        self.having = len(posting.items)
        self.bound = weight * posting.highest() / LEVELS  # the most that the word adds to the evidence of an item

    def add_to(self, found: dict[int, float]) -> None:
        """Add the weight of the word to the items that have it."""
        weight, posting = self.weight / LEVELS, self.posting
        size = max(found) + 1
        if len(found) < min(_FEW, size / _FEW):
            for number in found:
                if (place := posting.place(number)) is not None:
                    found[number] += weight * posting.levels[place]
            return
        levels = posting.dense(size)
        for number, value in found.items():
            found[number] = value + weight * levels[number]


class Asked:
    """The words of a task as `source` knows them. `weight` is the sum over all words, also those that no item has."""

    def __init__(self, task: str, source: PostingSource) -> None:
        self.terms: list[Term] = []
        self.weight = 0.0
        rarities = Rarities(source.count)
        seen: set[str] = set()
        words = asked_words(task[:_LONGEST_TASK])
        source.prepare(stemmed(words))
        for (word, written), root in zip(words.items(), stemmed(words), strict=True):
            if root in seen:
                continue
            seen.add(root)
            posting = source.posting(root)
            if posting is not None:
                self.weight += self._add(root, written, posting, rarities)
                continue
            if is_pair(word):
                self.weight += rarities.of(root, 0) * UNKNOWN_PAIR
                continue
            self.weight += rarities.of(root, 0)
            for known, likeness in source.near(word):
                if known not in seen and (posting := source.posting(known)) is not None:
                    seen.add(known)
                    self._add(known, written, posting, rarities, likeness)

    def _add(self, root: str, written: str, posting: Posting, rarities: Rarities, likeness: float = 1.0) -> float:
        having = len(posting.items)
        weight = rarities.of(root, having) * likeness
        self.terms.append(Term(written, posting, weight, common=rarities.is_common(root, having)))
        return weight

    def evidence(self, limit: int | None = None, among: Collection[int] | None = None) -> dict[int, float]:
        """Return the items that the words bring in, each with the sum of its weights.

        With `limit`, items that cannot be among the `limit` best ones, of those in `among`, may be left out.
        """
        ordered = sorted(self.terms, key=_RAREST_FIRST)
        bounds = [*accumulate(term.bound for term in reversed(ordered))][::-1]  # the most that it and the rest add
        found: dict[int, float] = {}
        for at, term in enumerate(ordered):
            if term.common:
                break
            if limit is not None and term.having >= _MANY and _is_decided(found, limit, bounds[at], among):
                break
            weight, known = term.weight / LEVELS, found.get
            for number, level in zip(term.posting.items, term.posting.levels, strict=True):
                found[number] = known(number, 0.0) + weight * level
        else:
            at = len(ordered)
        rest = ordered[at:]
        if not found and len(rest) > 1:  # two words that many items have bring an item in
            found = dict.fromkeys(set(rest[0].posting.items).intersection(rest[1].posting.items), 0.0)
        if among is not None:
            found = {number: value for number, value in found.items() if number in among}
        if limit is not None and rest:
            found = leaders(found, limit, bounds[at])
        for term in rest if found else ():
            term.add_to(found)
        return found

    def reasons(self, number: int) -> tuple[Reason, ...]:
        """Return the words that an item has, in the order of the task, each once for a field."""
        found: dict[tuple[str, MatchedField], None] = {}  # two similar words can be found for one word of the task
        for term in self.terms:
            if (place := term.posting.place(number)) is not None:
                found[term.word, first_field(term.posting.fields[place])] = None
        return tuple(Reason(word=word, field=field) for word, field in found)


def _is_decided(found: Mapping[int, float], limit: int, bound: float, among: Collection[int] | None) -> bool:
    """Whether the best items are certainly among those that were found: no other could reach them by what is left."""
    if len(found) < limit:
        return False
    values = found.values() if among is None else [value for number, value in found.items() if number in among]
    return len(values) >= limit and nlargest(limit, values)[-1] > bound + _MARGIN


def leaders(found: dict[int, float], limit: int, bound: float = 0.0) -> dict[int, float]:
    """Return the items that can be among the `limit` best ones if each gets at most `bound` more."""
    if len(found) <= limit:
        return found
    least = nlargest(limit, found.values())[-1] - bound - _MARGIN
    return {number: value for number, value in found.items() if value >= least}


def best(evidence: dict[int, float], limit: int, order: Callable[[int], tuple[str, ...]]) -> list[tuple[int, float]]:
    """Return the numbers with the most evidence, best first, and their evidence. Equal ones are sorted by `order`."""
    found = leaders(evidence, limit)
    ranked = sorted(found, key=lambda number: (-round(found[number], DIGITS), *order(number)))
    return [(number, found[number]) for number in ranked[:limit]]


def scored(ranked: Sequence[tuple[int, float]], asked: Asked, *, bodies: bool) -> list[tuple[int, float]]:
    """Return the numbers of the matches, best first, and their scores. Less evidence gives a lower score.

    If the first one does not reach the threshold, there are none. If it does, others that do and those with at least
    half as much evidence follow.
    """
    rated = [(number, evidence, score(evidence, asked.weight, bodies=bodies)) for number, evidence in ranked]
    if not rated or rated[0][2] < THRESHOLD:
        return []
    enough = rated[0][1] * FOLLOWING
    return [
        (number, round(value, DIGITS)) for number, evidence, value in rated if value >= THRESHOLD or evidence >= enough
    ]
