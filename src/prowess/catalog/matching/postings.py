"""Postings: for each stem the skills that have it, with its weight and its fields in each of them.

Kept in memory for one state of a catalog. `follow` brings them to the next state by reading only the skills that
changed, which is possible because the weight of a word within a skill depends on this skill alone (`weights`).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from itertools import repeat
from typing import TYPE_CHECKING, Generic, TypeVar

from prowess._internal.collector import paused
from prowess.catalog.matching.fields import FIELDS
from prowess.catalog.matching.stems import stem, stemmed
from prowess.catalog.matching.trigrams import Trigrams
from prowess.catalog.matching.weights import FIELD_WEIGHTS, in_body, levels_of, saturation
from prowess.catalog.matching.words import spelled_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from prowess.catalog.matching.fields import FieldText
    from prowess.catalog.matching.match import MatchedField

Item = TypeVar("Item")
_BITS = {field: 1 << place for place, field in enumerate(FIELDS)}


class Posting:
    """The items that have one stem: their numbers in ascending order, and for each the weight and the fields."""

    __slots__ = ("_dense", "_for", "_highest", "fields", "items", "levels")

    def __init__(self) -> None:
        self.items = array("I")
        self.levels = bytearray()
        self.fields = bytearray()
        self._for = 0  # the number of items for which the next two were computed
        self._highest = 0
        self._dense: bytearray | None = None

    def highest(self) -> int:
        """Return the highest of the weights."""
        if self._for != len(self.items) or not self._highest:
            self._forget_outdated()
            self._highest = max(self.levels)
        return self._highest

    def dense(self, size: int) -> bytearray:
        """Return the weight of each item with a number below `size`; 0 for one without the stem. Kept."""
        self._forget_outdated()
        if self._dense is None or len(self._dense) < size:
            self._dense = bytearray(max(size, self.items[-1] + 1))
            for number, weight in zip(self.items, self.levels, strict=True):
                self._dense[number] = weight
        return self._dense

    def _forget_outdated(self) -> None:
        if self._for != len(self.items):
            self._for, self._highest, self._dense = len(self.items), 0, None

    def renumbered(self, numbers: Mapping[int, int]) -> Posting:
        """Return the posting with other numbers of the items."""
        found = Posting()
        places = zip(map(numbers.__getitem__, self.items), self.levels, self.fields, strict=True)
        for number, weight, fields in sorted(places):
            found.add(number, weight, fields)
        return found

    def place(self, number: int) -> int | None:
        """Return the place of an item, or None if it does not have the stem."""
        place = bisect_left(self.items, number)
        return place if place < len(self.items) and self.items[place] == number else None

    def add(self, number: int, weight: int, fields: int) -> None:
        """Add an item. Its number must be greater than all others."""
        self.items.append(number)
        self.levels.append(weight)
        self.fields.append(fields)

    def remove(self, number: int) -> None:
        """Remove an item, if it is there."""
        if (place := self.place(number)) is not None:
            self._for = 0
            del self.items[place], self.levels[place], self.fields[place]


class Postings(Generic[Item]):
    """The postings of skills, or of other items with texts. `texts_of` returns the fields of an item.

    `drops_fast` means that `texts_of` returns the same for an item that is gone as when it was added.
    """

    def __init__(self, texts_of: Callable[[Item], Iterable[FieldText]], *, drops_fast: bool = True) -> None:
        self._texts_of, self._drops_fast = texts_of, drops_fast
        self.stems: dict[str, Posting] = {}
        self.spellings = Spellings()
        self.items: list[Item | None] = []  # by number; None for an item that is gone
        self.numbers: dict[Item, int] = {}
        self._trigrams: Trigrams | None = None
        self._lost = False

    @property
    def count(self) -> int:
        """The number of items."""
        return len(self.numbers)

    def posting(self, stem: str) -> Posting | None:
        """Return the items that have a stem, or None."""
        return self.stems.get(stem)

    def prepare(self, stems: Iterable[str]) -> None:
        """Do nothing: all postings are in memory."""

    def near(self, word: str) -> Iterator[tuple[str, float]]:
        """Yield the stems of known words that look like `word`, each with its likeness; the most alike first."""
        for known, likeness in self.trigrams().near(word):
            yield self.spellings[known], likeness

    def trigrams(self) -> Trigrams:
        """Return the words of the items. They are read again if an item is gone, because only it may have had some."""
        if self._trigrams is None:
            if self._lost:
                self._lost, self.spellings = False, Spellings()
                for item in self.numbers:
                    terms(self._texts_of(item), self.spellings)
            self._trigrams = Trigrams(self.spellings)
        return self._trigrams

    def follow(self, items: Sequence[Item]) -> None:
        """Make these the items of the postings. Reads only those that are new, and those that are gone."""
        self._trigrams = None
        now = set(items)
        for item in [known for known in self.numbers if known not in now]:
            self._drop(item)
        with paused():
            for item in items:
                if item not in self.numbers:
                    self._add(item)

    def _add(self, item: Item) -> None:
        number = len(self.items)
        self.items.append(item)
        self.numbers[item] = number
        stems = self.stems
        for word, (weight, fields) in terms(self._texts_of(item), self.spellings).items():
            posting = stems.get(word)
            if posting is None:
                posting = stems[word] = Posting()
            posting.items.append(number)
            posting.levels.append(weight)
            posting.fields.append(fields)

    def _drop(self, item: Item) -> None:
        self._lost = True
        number = self.numbers.pop(item)
        self.items[number] = None
        for word in terms(self._texts_of(item), Spellings()) if self._drops_fast else list(self.stems):
            if (posting := self.stems.get(word)) is not None:
                posting.remove(number)
                if not posting.items:
                    del self.stems[word]


class Spellings(dict[str, str]):
    """The stem of each spelling of a word. A spelling that is looked up for the first time is added."""

    def __missing__(self, word: str) -> str:
        found = self[word] = stem(word)
        return found


def terms(texts: Iterable[FieldText], spellings: Spellings) -> dict[str, tuple[int, int]]:
    """Return the stems of a skill's texts with their weight and fields. Adds each spelling with its stem.

    Spellings in bodies are not added: bodies have so many words that one of them resembles any unknown word.
    """
    frequencies: dict[str, float] = {}
    fields: dict[str, int] = {}
    length = 0
    for field, text in texts:
        words = spelled_words(text)
        bit, weight = _BITS[field], FIELD_WEIGHTS.get(field)
        found: Iterable[tuple[str, float]]
        if weight is None:
            found = [(root, in_body(count, len(words))) for root, count in Counter(stemmed(words)).items()]
        else:
            found = zip(map(spellings.__getitem__, words), repeat(weight), strict=False)
            length += len(words)
        for root, more in found:
            if root in frequencies:
                frequencies[root] += more
                fields[root] |= bit
            else:
                frequencies[root] = more
                fields[root] = bit
    levels = levels_of(frequencies.values(), saturation(length))
    return dict(zip(frequencies, zip(levels, fields.values(), strict=True), strict=True))


def first_field(bits: int) -> MatchedField:
    """Return the most important of the fields in a posting."""
    return FIELDS[(bits & -bits).bit_length() - 1]
