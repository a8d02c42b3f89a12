"""Postings: for each stem the skills that have it, with its weight and its fields in each of them.

Kept in memory for one state of a catalog. `follow` brings them to the next state by reading only the skills that
changed, which is possible because the weight of a word within a skill depends on this skill alone (`weights`).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING

from prowess.catalog.matching.fields import FIELDS, fields_of
from prowess.catalog.matching.stems import stem
from prowess.catalog.matching.weights import FIELD_WEIGHTS, in_body, level
from prowess.catalog.matching.words import spelled_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from prowess.catalog.entry import SkillEntry
    from prowess.catalog.matching.match import MatchedField

_BITS = {field: 1 << place for place, field in enumerate(FIELDS)}


class Posting:
    """The skills that have one stem: their numbers in ascending order, and for each the weight and the fields."""

    __slots__ = ("fields", "levels", "skills")

    def __init__(self) -> None:
        self.skills = array("I")
        self.levels = bytearray()
        self.fields = bytearray()

    def place(self, number: int) -> int | None:
        """Return the place of a skill, or None if it does not have the stem."""
        place = bisect_left(self.skills, number)
        return place if place < len(self.skills) and self.skills[place] == number else None

    def add(self, number: int, weight: int, fields: int) -> None:
        """Add a skill. Its number must be greater than all others."""
        self.skills.append(number)
        self.levels.append(weight)
        self.fields.append(fields)

    def remove(self, number: int) -> None:
        """Remove a skill, if it is there."""
        if (place := self.place(number)) is not None:
            del self.skills[place], self.levels[place], self.fields[place]


class Postings:
    """The postings of the skills of a catalog. With `body_of`, the bodies are a field too."""

    def __init__(self, body_of: Callable[[SkillEntry], str] | None = None) -> None:
        self._body_of = body_of
        self.stems: dict[str, Posting] = {}
        self.spellings: dict[str, str] = {}
        self.entries: list[SkillEntry | None] = []  # by number; None for a skill that is gone
        self.numbers: dict[SkillEntry, int] = {}

    @property
    def count(self) -> int:
        """The number of skills."""
        return len(self.numbers)

    def follow(self, entries: Sequence[SkillEntry]) -> None:
        """Make these the skills of the postings. Reads only those that are new, and those that are gone."""
        now = set(entries)
        for entry in [known for known in self.numbers if known not in now]:
            self._drop(entry)
        for entry in entries:
            if entry not in self.numbers:
                self._add(entry)

    def _add(self, entry: SkillEntry) -> None:
        number = len(self.entries)
        self.entries.append(entry)
        self.numbers[entry] = number
        stems = self.stems
        for word, (weight, fields) in self._terms(entry).items():
            posting = stems.get(word)
            if posting is None:
                posting = stems[word] = Posting()
            posting.add(number, weight, fields)

    def _drop(self, entry: SkillEntry) -> None:
        number = self.numbers.pop(entry)
        self.entries[number] = None
        for word in list(self.stems) if self._body_of is not None else self._terms(entry):
            if (posting := self.stems.get(word)) is not None:
                posting.remove(number)
                if not posting.skills:
                    del self.stems[word]

    def _terms(self, entry: SkillEntry) -> dict[str, tuple[int, int]]:
        texts = fields_of(entry)
        if self._body_of is None:
            return terms(texts, self.spellings)
        return terms([*texts, ("body", self._body_of(entry))], self.spellings)


def terms(texts: Iterable[tuple[MatchedField, str]], spellings: dict[str, str]) -> dict[str, tuple[int, int]]:
    """Return the stems of a skill's texts with their weight and fields. Adds each spelling with its stem."""
    frequencies: dict[str, float] = {}
    fields: dict[str, int] = {}
    length = 0
    for field, text in texts:
        counts: dict[str, int] = {}
        words = spelled_words(text)
        for word in words:
            found = spellings.get(word)
            if found is None:
                found = spellings[word] = stem(word)
            counts[found] = counts.get(found, 0) + 1
        bit, weight = _BITS[field], FIELD_WEIGHTS.get(field)
        length += 0 if weight is None else len(words)
        for word, count in counts.items():
            more = in_body(count, len(words)) if weight is None else weight * count
            frequencies[word] = frequencies.get(word, 0.0) + more
            fields[word] = fields.get(word, 0) | bit
    return {word: (level(frequency, length), fields[word]) for word, frequency in frequencies.items()}


def first_field(bits: int) -> MatchedField:
    """Return the most important of the fields in a posting."""
    return FIELDS[(bits & -bits).bit_length() - 1]
