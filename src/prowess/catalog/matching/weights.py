"""The numbers of matching: how much a word counts in a skill, and how a sum becomes a score from 0 to 1.

A form of BM25 over fields. The parts that are constant here depend on the catalog in the usual form: the length of a
usual skill, and for catalogs of a few skills the share of skills with a word (`common_words.SHARES`). So the weight of
a word within a skill depends on this skill alone, and scores mean the same in every catalog.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

from prowess.catalog.matching.common_words import SHARES

if TYPE_CHECKING:
    from collections.abc import Iterable

# A word in the name counts as many words in the description.
FIELD_WEIGHTS = {"name": 3.0, "tags": 2.0, "when_to_use": 1.0, "description": 1.0}
# A word in a body counts as at most one in the description, and as half of it if it is there so often: once in an
# empty body, and four times more for each length of the usual body.
_BODY_REPETITIONS, _BODY_LENGTH = 4.0, 600  # words
_K1 = 1.8  # how fast repetitions stop to count
_B = 0.5  # how much a long description takes from the weight of its words
_USUAL_LENGTH = 40.0  # words of name and description of the median public skill
LEVELS = 255  # a weight within a skill is kept in one byte

_SAMPLE = 200  # number of imagined skills with the shares of public skills that every catalog is mixed with
_RARE = 0.002  # share of public skills that have a word without an entry in SHARES

_RAREST = 7.0  # weight of a word that one skill of a thousand has; the unit of evidence
# Fitted to the tuning half of `benchmarks/matching-pairs` and 40 further requests that no skill serves.
_HALF, _HALF_WITH_BODIES = 3.55, 2.7  # evidence at which a match is as likely right as wrong
_COVERED = 4.0
# Part of the weight of a task that is covered if all its words are there once, and only in the description or a body
_ALL_COVERED, _ALL_COVERED_BY_BODY = 0.5, 0.28
THRESHOLD = 0.5  # of the best match; below, no skill serves the task
FOLLOWING = 0.5  # part of the best match's evidence with which another skill follows it below the threshold

COMMON_SHARE = 0.1  # words that more skills have bring no skill in by themselves
_COMMON_COUNT = 10  # ... in a catalog of at least a hundred skills


def saturation(length: int) -> float:
    """Return the frequency at which a word in a skill with so many words has half of its greatest weight."""
    return _K1 * (1 - _B + _B * length / _USUAL_LENGTH)


def levels_of(frequencies: Iterable[float], half: float) -> list[int]:
    """Return the weights of words within a skill, each from 1 to `LEVELS`; `half` is that of `saturation`."""
    return [int(LEVELS * frequency / (frequency + half) + 0.5) or 1 for frequency in frequencies]


def in_body(count: int, length: int) -> float:
    """Return the frequency that `count` words in a body with `length` words add to a word."""
    return count / (count + 1 + _BODY_REPETITIONS * length / _BODY_LENGTH)


class Rarities:
    """The weights of words among `count` skills: the logarithm of one by the share of skills with the word.

    Scaled so that the rarest words weigh the same in every catalog: among more skills, more have a rare word by chance.
    """

    __slots__ = ("_every", "_most", "_scale")

    def __init__(self, count: int) -> None:
        self._every = count + _SAMPLE + 1
        self._scale = _RAREST / log(self._every)
        self._most = max(count * COMMON_SHARE, _COMMON_COUNT)

    def of(self, stem: str, having: int) -> float:
        """Return the weight of a word that so many skills have."""
        return self._scale * log(self._every / (having + SHARES.get(stem, _RARE) * _SAMPLE + 0.5))

    def is_common(self, stem: str, having: int) -> bool:
        """Whether so many skills have a word that it brings no skill in by itself."""
        return having > self._most or SHARES.get(stem, 0) > COMMON_SHARE


def score(evidence: float, asked: float, *, bodies: bool) -> float:
    """Return the score of a skill from 0 to 1, which is 0.5 where a right match is as likely as a wrong one.

    `evidence` is the sum over the words of the skill, `asked` the sum over those of the task. Evidence decides, because
    a long task has many words that no skill has. A task whose few words all match needs less of it. With `bodies`, more
    skills have each word, so that each is weaker evidence.
    """
    half, all_covered = (_HALF_WITH_BODIES, _ALL_COVERED_BY_BODY) if bodies else (_HALF, _ALL_COVERED)
    total = evidence + _COVERED * min(evidence / asked / all_covered, 1.0) ** 4
    return total / (total + half)


UNKNOWN_PAIR = 0.2  # part of the weight of a pair of characters that no skill has: most such pairs are not words
