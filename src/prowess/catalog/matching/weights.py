"""The numbers of matching: how much a word counts in a skill, and how a sum becomes a score from 0 to 1.

A form of BM25 over fields. The parts that are constant here depend on the catalog in the usual form: the length of a
usual skill, and for catalogs of a few skills the share of skills with a word (`common_words.SHARES`). So the weight of
a word within a skill depends on this skill alone, and scores mean the same in every catalog.
"""

from __future__ import annotations

from math import log

from prowess.catalog.matching.common_words import SHARES

# A word in the name counts as many words in the description.
FIELD_WEIGHTS = {"name": 3.0, "tags": 2.0, "when_to_use": 1.0, "description": 1.0, "body": 0.25}
_K1 = 1.2  # the usual value: how fast repetitions stop to count
_B = 0.4
_USUAL_LENGTH = 40.0  # words of name and description of the median public skill
LEVELS = 255  # a weight within a skill is kept in one byte

_SAMPLE = 200  # number of imagined skills with the shares of public skills that every catalog is mixed with
_RARE = 0.002  # share of public skills that have a word without an entry in SHARES

COMMON_SHARE = 0.1  # words that more skills have bring no skill in by themselves
_COMMON_COUNT = 10  # ... in a catalog of at least a hundred skills


def level(frequency: float, length: float) -> int:
    """Return the weight of a word within a skill, from 1 to `LEVELS`."""
    norm = _K1 * (1 - _B + _B * length / _USUAL_LENGTH)
    return max(round(LEVELS * frequency / (frequency + norm)), 1)


def rarity(stem: str, count: int, among: int) -> float:
    """Return the weight of a word that `count` of `among` skills have: the logarithm of one by its share."""
    share = SHARES.get(stem, _RARE)
    return log((among + _SAMPLE + 1) / (count + share * _SAMPLE + 0.5))


def is_common(stem: str, count: int, among: int) -> bool:
    """Whether so many skills have a word that it brings no skill in by itself."""
    return count > max(among * COMMON_SHARE, _COMMON_COUNT) or SHARES.get(stem, 0) > COMMON_SHARE


def score(evidence: float, asked: float) -> float:
    """Return the score of a skill: `evidence` is the sum over its words, `asked` the sum over those of the task."""
    return min(evidence / asked, 1.0)


THRESHOLD = 0.16
UNKNOWN_PAIR = 0.2  # part of the weight of a pair of characters that no skill has: most such pairs are not words
