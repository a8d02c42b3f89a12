"""The pairs of a request and the skills that serve it, by which matching is judged; see `matching-pairs/README.md`."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

FOLDER = Path(__file__).resolve().parent / "matching-pairs"
SKILLS = 800  # of the public corpus, `corpora.public_corpus`; the skills after them are those of the further pairs
DRAW = 20261129  # of the two halves

Half = Literal["tuning", "held-out"]
Group = Literal[Half, "further"]
Kind = Literal["own words", "paraphrase", "typo", "symptom", "language", "none"]


class Pair(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request as a user types it, and the skills that serve it.

    `right` has the paths of the skills in the pinned list, OWNER/NAME/PATH, each as right as the others. No skill
    serves a request of the kind `none`.
    """

    task: str
    kind: Kind
    right: list[str] = []


class _Pairs(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pair: list[Pair]


def read_pairs(group: Group) -> list[Pair]:
    """The pairs of one half, or the further ones, sorted by kind and task."""
    return msgspec.toml.decode((FOLDER / f"{group}.toml").read_bytes(), type=_Pairs).pair


def halves(pairs: list[Pair]) -> dict[Half, list[Pair]]:
    """Draw two halves with equal shares of each kind; the result does not depend on the order of `pairs`."""
    drawn: dict[Half, list[Pair]] = {"tuning": [], "held-out": []}
    for kind in sorted({pair.kind for pair in pairs}):
        of_kind = sorted((pair for pair in pairs if pair.kind == kind), key=lambda pair: pair.task)
        random.Random(f"{DRAW} {kind}").shuffle(of_kind)  # noqa: S311 -- a repeatable draw is wanted
        for number, pair in enumerate(of_kind):
            drawn["held-out" if number % 2 else "tuning"].append(pair)
    return {half: sorted(chosen, key=lambda pair: (pair.kind, pair.task)) for half, chosen in drawn.items()}


def folder_of(path: str) -> str:
    """The name of the folder of a skill in the public corpus; the path is that of `Pair.right`."""
    return path.removesuffix("/.").rpartition("/")[2]
