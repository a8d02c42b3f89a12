# ruff: noqa: INP001, T201 -- a program, which prints
"""A matcher that fuses the words of a task with vectors.

    python examples/matching/fused_matcher.py TASK [DIRECTORY]

`FusedMatcher` ranks skills twice, by `Catalog.match` and by the angle between vectors, and adds the reciprocals of the
two ranks. It has the shape of the protocol `prowess.catalog.Matcher`, so a host can use it where it used a catalog.

The vectors here are counts of character trigrams, so that the example needs no model. Replace `embed` by the call of an
embedding model to find skills that share no word with the task.
"""

from __future__ import annotations

import sys
from collections import Counter
from math import sqrt
from typing import TYPE_CHECKING

from prowess.catalog import Catalog, Match

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from prowess.catalog import Matcher, SkillEntry

DAMPING = 60  # the usual constant of reciprocal rank fusion
LEAST_LIKENESS = 0.25  # of a vector; below, a skill is not a match


def embed(text: str) -> Mapping[str, float]:
    """Return a vector of length 1."""
    counts = Counter(text.casefold()[at : at + 3] for at in range(len(text) - 2))
    length = sqrt(sum(count * count for count in counts.values())) or 1.0
    return {part: count / length for part, count in counts.items()}


class FusedMatcher:
    """Fuses the ranks of a catalog and of vectors. Vectors of skills are computed once per state of the catalog."""

    def __init__(self, catalog: Catalog, embed: Callable[[str], Mapping[str, float]] = embed) -> None:
        self._catalog, self._embed = catalog, embed
        self._vectors: dict[SkillEntry, Mapping[str, float]] = {}

    def match(
        self, task: str, limit: int = 5, *, bodies: bool = False, among: Collection[SkillEntry] | None = None
    ) -> tuple[Match, ...]:
        """Return at most `limit` matches, best first. Scores are those of the words, else the likeness of vectors."""
        entries = self._catalog.entries()
        self._vectors = {entry: self._vectors.get(entry) or self._vector(entry) for entry in entries}
        by_words = self._catalog.match(task, 4 * limit, bodies=bodies, among=among)
        asked = self._embed(task)
        likeness = {
            entry: sum(value * vector.get(part, 0.0) for part, value in asked.items())
            for entry, vector in self._vectors.items()
            if among is None or entry in among
        }
        by_vectors = sorted(likeness, key=likeness.__getitem__, reverse=True)[: 4 * limit]
        matches = {match.entry: match for match in by_words}
        fused = {match.entry: 1 / (DAMPING + rank) for rank, match in enumerate(by_words)}
        for rank, entry in enumerate(by_vectors):
            if likeness[entry] >= LEAST_LIKENESS:
                fused[entry] = fused.get(entry, 0.0) + 1 / (DAMPING + rank)
                matches.setdefault(entry, Match(entry=entry, score=round(likeness[entry], 4), reasons=()))
        best = sorted(fused, key=lambda entry: (-fused[entry], entry.name))[:limit]
        return tuple(matches[entry] for entry in best)

    def _vector(self, entry: SkillEntry) -> Mapping[str, float]:
        return self._embed(f"{entry.name} {entry.description}")


def main() -> None:
    """Print the matches of a task."""
    if len(sys.argv) == 1:
        sys.exit("usage: python examples/matching/fused_matcher.py TASK [DIRECTORY]")
    task, directory = [*sys.argv[1:], "examples/skills"][:2]
    matcher: Matcher = FusedMatcher(Catalog(directory))
    for match in matcher.match(task):
        print(f"{match.name}  {match.score:.2f}  {' '.join(reason.word for reason in match.reasons)}")


if __name__ == "__main__":
    main()
