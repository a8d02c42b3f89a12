"""Receipts for the proofs: one small mutation of the code for each requirement that a fixed seed draws.

A test that proves a requirement has to fail when the requirement is broken. `mutations.toml` breaks up to thirty of
each milestone reached, one at a time, and names the test that has to notice. Which thirty is not chosen by a person:
`drawn` takes them from the `must` ids of the milestone. Running them is the work of `tests.spec.mutation_receipts`.
"""

from __future__ import annotations

import random
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.spec.manifest import MILESTONES, SPEC, reached_milestones, requirements

if TYPE_CHECKING:
    from pathlib import Path

SEED = 1
DRAWN = 30  # of each milestone
PACKAGE = "src/prowess"
BESIDE = ("formal/", "tools/proof/")  # what keeps a requirement and is no part of the package


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """One way to break one requirement.

    `file` is relative to the repository, and lies in the package or in `BESIDE`; `before` occurs in it once and
    becomes `after`. `test` is the node id of a test that declares `id`; `breaks` says what the code does wrong then.
    """

    id: str
    file: str
    before: str
    after: str
    test: str
    breaks: str

    def applied(self, source: str) -> str:
        """Return the source with the mutation in it.

        Raises:
            ValueError: `before` is not there exactly once.
        """
        if (count := source.count(self.before)) != 1:
            message = f"{self.id}: the text to replace occurs {count} times in {self.file}, not once"
            raise ValueError(message)
        return source.replace(self.before, self.after)


def mutations(path: Path = SPEC / "mutations.toml") -> tuple[Mutation, ...]:
    """Every mutation, in the order of the draw."""
    return tuple(Mutation(**table) for table in tomllib.loads(path.read_text(encoding="utf-8"))["mutation"])


def drawn(reached: frozenset[str] | None = None) -> list[str]:
    """Return the ids that need a mutation, those of a milestone together, in the order of the draw.

    Each milestone is drawn from by itself, so a further one adds its ids and leaves those of the others as they are.
    One that has fewer `must` than are drawn gives all of them.
    """
    reached = reached_milestones() if reached is None else reached
    found: list[str] = []
    for milestone in (each for each in MILESTONES if each in reached):
        ids = sorted(item.id for item in requirements() if item.level == "must" and item.due == milestone)
        found += random.Random(SEED).sample(ids, min(DRAWN, len(ids)))
    return found
