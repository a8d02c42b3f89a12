"""`Ranking`: finds the skills that fit a task.

The rarest words of a task are looked up first. A skill is found by any word that few skills have, or by two that many
have; then all its words count.
"""

from __future__ import annotations

from heapq import nlargest
from itertools import starmap
from typing import TYPE_CHECKING

from prowess.catalog.matching.match import Match, Reason
from prowess.catalog.matching.postings import Posting, Postings, first_field
from prowess.catalog.matching.stems import stem
from prowess.catalog.matching.trigrams import Trigrams
from prowess.catalog.matching.weights import LEVELS, THRESHOLD, UNKNOWN_PAIR, is_common, rarity, score
from prowess.catalog.matching.words import asked_words, is_pair

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from prowess.catalog.entry import SkillEntry

_DIGITS = 4
_LONGEST_TASK = 20_000  # characters that are read


class Term:
    """One word of a task: how it is written there, its weight, and the skills that have it."""

    __slots__ = ("common", "posting", "weight", "word")

    def __init__(self, word: str, posting: Posting, weight: float, *, common: bool) -> None:
        self.word, self.posting, self.weight, self.common = word, posting, weight, common


class Ranking:
    """Ranks the skills of one catalog. Not for several threads at once."""

    def __init__(self, body_of: Callable[[SkillEntry], str] | None = None) -> None:
        self._postings, self._bodies = Postings(body_of), body_of is not None
        self._trigrams: Trigrams | None = None
        self._allowed: tuple[Collection[SkillEntry], frozenset[int]] | None = None

    def follow(self, entries: Sequence[SkillEntry]) -> None:
        """Make these the skills of the ranking."""
        self._postings.follow(entries)
        self._trigrams = self._allowed = None

    def match(self, task: str, limit: int, among: Collection[SkillEntry] | None = None) -> list[Match]:
        """Return the best matches above the threshold, best first; equal ones are sorted by name."""
        terms, asked = self._terms(task[:_LONGEST_TASK])
        if not terms:
            return []
        found = _found(terms)
        if among is not None:
            allowed = self._numbers(among)
            found = {number: evidence for number, evidence in found.items() if number in allowed}
        matches = []
        for number in self._best(found, limit):
            if (rated := score(found[number], asked, bodies=self._bodies)) < THRESHOLD:
                break
            entry = self._postings.entries[number]
            assert entry is not None, "a skill that is gone is in no posting"  # noqa: S101 -- proves it to mypy
            matches.append(Match(entry=entry, score=round(rated, _DIGITS), reasons=_reasons(terms, number)))
        return matches

    def _terms(self, task: str) -> tuple[list[Term], float]:
        """Return the words of the task that skills have, and the weight of all its words."""
        postings, count = self._postings, self._postings.count
        found: dict[str, Term] = {}
        asked = 0.0
        for word, written in asked_words(task).items():
            root = stem(word)
            if root in found:
                continue
            posting = postings.stems.get(root)
            weight = rarity(root, 0 if posting is None else len(posting.skills), count)
            asked += weight * (UNKNOWN_PAIR if posting is None and is_pair(word) else 1)
            if posting is not None:
                common = is_common(root, len(posting.skills), count)
                found[root] = Term(written, posting, weight, common=common)
                continue
            for known, likeness in self._near(word):
                root = postings.spellings[known]
                if root not in found and (posting := postings.stems.get(root)) is not None:
                    near = min(weight, rarity(root, len(posting.skills), count)) * likeness
                    common = is_common(root, len(posting.skills), count)
                    found[root] = Term(written, posting, near, common=common)
        return list(found.values()), asked

    def _near(self, word: str) -> list[tuple[str, float]]:
        if self._trigrams is None:
            postings = self._postings
            self._trigrams = Trigrams(word for word, root in postings.spellings.items() if root in postings.stems)
        return self._trigrams.near(word)

    def _numbers(self, among: Collection[SkillEntry]) -> frozenset[int]:
        if self._allowed is None or self._allowed[0] is not among:
            numbers = self._postings.numbers
            self._allowed = among, frozenset(numbers[entry] for entry in among if entry in numbers)
        return self._allowed[1]

    def _best(self, found: dict[int, float], limit: int) -> list[int]:
        """Return the skills with the most evidence, best first. Equal evidence is equal to four digits."""
        if limit < len(found):
            least = nlargest(limit, found.values())[-1] - 10**-_DIGITS
            found = {number: evidence for number, evidence in found.items() if evidence >= least}
        return sorted(found, key=lambda number: (-round(found[number], _DIGITS), *self._order(number)))[:limit]

    def _order(self, number: int) -> tuple[str, str]:
        entry = self._postings.entries[number]
        return ("", "") if entry is None else (entry.name, entry.location)


def _found(terms: Sequence[Term]) -> dict[int, float]:
    """Return the skills that the words bring in, each with the sum of its weights."""
    ordered = sorted(terms, key=lambda term: len(term.posting.skills))
    found: dict[int, float] = {}
    known = found.get
    common = [term for term in ordered if term.common]
    for term in ordered:
        if term.common:
            continue
        weight = term.weight / LEVELS
        for number, level in zip(term.posting.skills, term.posting.levels, strict=True):
            found[number] = known(number, 0.0) + weight * level
    if not found and len(common) > 1:
        first = set(common[0].posting.skills)
        found = dict.fromkeys(first.intersection(*[common[1].posting.skills]), 0.0)
    for term in common:
        weight = term.weight / LEVELS
        for number in found.keys() & set(term.posting.skills):
            place = term.posting.place(number)
            found[number] += weight * term.posting.levels[place or 0]
    return found


def _reasons(terms: Sequence[Term], number: int) -> tuple[Reason, ...]:
    having = ((term, place) for term in terms if (place := term.posting.place(number)) is not None)
    return tuple(
        starmap(lambda term, place: Reason(word=term.word, field=first_field(term.posting.fields[place])), having)
    )
