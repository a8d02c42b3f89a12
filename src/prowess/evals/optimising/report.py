"""The report of `prowess eval improve`."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, to_builtins

from prowess.evals.campaigns.report import StopReason  # noqa: TC001 -- msgspec reads the types of fields
from prowess.evals.ledger.caps import Spent  # noqa: TC001 -- msgspec reads the types of fields
from prowess.evals.optimising.leaks import Leak  # noqa: TC001 -- as above
from prowess.evals.statistics.intervals import MeanInterval, Rate  # noqa: TC001 -- as above
from prowess.evals.triggers.split import Side  # noqa: TC001 -- as above

RoundOutcome = Literal["better", "not_better", "overfitted", "worse_in_training", "repeated", "refused"]


class MeasuredDescription(Struct, frozen=True, kw_only=True):
    """A description with the rates of requests that passed. `round` is 0 for the first description."""

    round: int
    description: str
    train: Rate
    validation: Rate


class ImproveRound(Struct, frozen=True, kw_only=True):
    """One round.

    - `description` is None if no answer of the model may be one; `refused` are the reasons of refused answers.
    - `outcome`: `better` became the best one so far; `not_better` did not pass more in validation; `overfitted` repairs
      in training what it does not repair in validation; `worse_in_training` was not tried in validation; `repeated` was
      measured before.
    - `removed` are sentences of it that help in training and not in validation; the best one so far is without them.
    - `validation` is None if it was not tried. `confirmed` is the rate after twice as many runs, None without them.
    """

    round: int
    description: str | None
    outcome: RoundOutcome
    train: Rate | None = None
    validation: Rate | None = None
    confirmed: Rate | None = None
    removed: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


class LostRequest(Struct, frozen=True, kw_only=True):
    """A request that passed with the first description, and does not with the chosen one."""

    query: str
    should_trigger: bool
    split: Side


class ImproveReport(Struct, frozen=True, kw_only=True):
    """What was tried and found.

    `chosen` is None if no description was better. `delta` is its validation rate minus that of the start. `diff` is a
    unified diff of SKILL.md, empty without a chosen one. `leaked` are all training texts in proposed descriptions; such
    descriptions are refused. `nothing_failed` is true if no training request failed at first. `estimate` is true if
    words alone chose the skill. `iteration` is the folder of the runs.
    """

    complete: bool
    stopped: StopReason | None
    skill: str
    model: str
    proposer: str
    host: str
    engine: str
    estimate: bool
    seed: int
    runs: int
    spent: Spent
    start: MeasuredDescription | None
    rounds: tuple[ImproveRound, ...]
    chosen: MeasuredDescription | None
    delta: MeanInterval | None
    diff: str
    lost: tuple[LostRequest, ...]
    leaked: tuple[Leak, ...]
    nothing_failed: bool
    written: bool
    iteration: str

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        data: dict[str, Any] = to_builtins(self)
        return data
