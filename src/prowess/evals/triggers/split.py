"""The split of a trigger set, or of evals, into training and validation, drawn once and kept.

60 % of the requests of each kind are for training, the rest for validation. A description is revised by its failures in
training alone; validation tells whether it became better. So no request may move to the other side later: a kept split
is only completed when requests are added. The same holds for a body and its evals.
"""

from __future__ import annotations

import os
from random import Random
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Struct, to_builtins

from prowess._internal.files.bounded_read import read_regular_file
from prowess.errors import InvalidArgumentsError
from prowess.evals.iterations.folders import write_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from prowess.evals.triggers.trigger_set import TriggerQuery

Side = Literal["train", "validation"]
SPLIT_FILE = "trigger-split.json"
_OF_TRAINING = (3, 5)  # 60 %, as a fraction of whole numbers
_MAX_BYTES = 16 * 1024 * 1024


class TriggerSplit(Struct, frozen=True, kw_only=True):
    """The requests, or the ids of evals, of both sides, sorted, and the seed that the split was drawn with."""

    seed: int
    train: tuple[str, ...]
    validation: tuple[str, ...]

    def side_of(self, query: str) -> Side:
        """Return the side of a request of the set, or of an eval."""
        return "train" if query in self.train else "validation"


def split_queries(queries: Sequence[TriggerQuery], *, seed: int = 0, kept: TriggerSplit | None = None) -> TriggerSplit:
    """Return the split of the requests. Those of `kept` stay on their side, and its seed counts.

    The order of the requests does not matter.
    """
    kinds = ([query.query for query in queries if query.should_trigger is wanted] for wanted in (True, False))
    return split_cases(kinds, seed=seed, kept=kept)


def split_cases(kinds: Iterable[Collection[str]], *, seed: int = 0, kept: TriggerSplit | None = None) -> TriggerSplit:
    """Return the split of the cases of each kind, as `split_queries` does."""
    seed = seed if kept is None else kept.seed
    train: list[str] = []
    rest: list[str] = []
    for cases in kinds:
        chosen = _training(sorted(cases), seed, kept)
        train += chosen
        rest += [case for case in cases if case not in set(chosen)]
    return TriggerSplit(seed=seed, train=tuple(sorted(train)), validation=tuple(sorted(rest)))


def _training(queries: Collection[str], seed: int, kept: TriggerSplit | None) -> list[str]:
    before = set() if kept is None else set(kept.train)
    known = before | (set() if kept is None else set(kept.validation))
    train = [query for query in queries if query in before]
    new = [query for query in queries if query not in known]
    Random(f"{seed}").shuffle(new)  # noqa: S311 -- a seeded draw, nothing secret
    part, whole = _OF_TRAINING
    wanted = (2 * part * len(queries) + whole) // (2 * whole)  # rounded, halves up
    return train + new[: max(wanted - len(train), 0)]


def read_split(directory: str, *, file: str = SPLIT_FILE) -> TriggerSplit | None:
    """Return the split that is kept in the file of a directory, or None.

    Raises:
        InvalidArgumentsError: the file is there and is no split.
    """
    path = os.path.join(directory, file)
    try:
        return msgspec.json.decode(read_regular_file(path, _MAX_BYTES), type=TriggerSplit)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as fault:
        raise InvalidArgumentsError((f"{path} is not a kept split ({fault}); remove it to draw a new one",)) from None


def keep_split(directory: str, split: TriggerSplit, *, file: str = SPLIT_FILE) -> None:
    """Write a split to the file of a directory, which is made if it is missing.

    Raises:
        InvalidArgumentsError: it cannot be written.
    """
    path = os.path.join(directory, file)
    try:
        os.makedirs(directory, exist_ok=True)
        write_json(path, to_builtins(split))
    except OSError as fault:
        raise InvalidArgumentsError(
            (f"the split {path} cannot be kept: {fault.strerror}; name another --out",)
        ) from None
