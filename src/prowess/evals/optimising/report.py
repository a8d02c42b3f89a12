"""The report of `prowess eval improve`."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, convert, to_builtins

from prowess.evals.campaigns.report import StopReason  # noqa: TC001 -- msgspec reads the types of fields
from prowess.evals.ledger.caps import Spent  # noqa: TC001 -- msgspec reads the types of fields
from prowess.evals.optimising.leaks import Leak  # noqa: TC001 -- as above
from prowess.evals.statistics.intervals import MeanInterval, Rate  # noqa: TC001 -- as above
from prowess.evals.triggers.split import Side  # noqa: TC001 -- as above

ImprovedPart = Literal["description", "body"]

RoundOutcome = Literal["better", "not_better", "overfitted", "worse_in_training", "repeated", "refused"]


class MeasuredText(Struct, frozen=True, kw_only=True):
    """A text with the rates of cases that passed. `round` is 0 for the first text."""

    round: int
    text: str
    train: Rate
    validation: Rate


class ImproveRound(Struct, frozen=True, kw_only=True):
    """One round.

    - `text` is None if no answer of the model may be used; `refused` are the reasons of refused answers.
    - `outcome`: `better` became the best one so far; `not_better` did not pass more in validation; `overfitted` repairs
      in training what it does not repair in validation; `worse_in_training` was not tried in validation; `repeated` was
      measured before.
    - `removed` are sentences of it that help in training and not in validation; the best one so far is without them.
    - `validation` is None if it was not tried. `confirmed` is the rate after twice as many runs, None without them.
    """

    round: int
    text: str | None
    outcome: RoundOutcome
    train: Rate | None = None
    validation: Rate | None = None
    confirmed: Rate | None = None
    removed: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


class LostCase(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A request, or the id of an eval, that passed with the first text and does not with the chosen one."""

    split: Side
    query: str | None = None
    should_trigger: bool | None = None
    eval: str | None = None

    @property
    def case(self) -> str:
        """The request or the id."""
        return self.query or self.eval or ""


class ImproveReport(Struct, frozen=True, kw_only=True):
    """The attempts and the result. `part` is the revised part.

    `chosen` is None if no text was better. `delta` is its validation rate minus that of the start. `diff` is a unified
    diff of SKILL.md, empty without a chosen one. `leaked` are all training texts in proposed texts. `nothing_failed` is
    true if all training cases passed at first. `complete` is false if a cap or a signal stopped the search, or if all
    runs of training are errors. `estimate` is true if words alone chose the skill. `notes` are sentences that limit the
    result. `iteration` is the folder of the runs.
    """

    part: ImprovedPart
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
    start: MeasuredText | None
    rounds: tuple[ImproveRound, ...]
    chosen: MeasuredText | None
    delta: MeanInterval | None
    diff: str
    lost: tuple[LostCase, ...]
    leaked: tuple[Leak, ...]
    nothing_failed: bool
    written: bool
    iteration: str
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON data. Each text is a member with the name of the part."""
        data: dict[str, Any] = to_builtins(self)
        for one in (data["start"], *data["rounds"], data["chosen"]):
            if one is not None:
                one[self.part] = one.pop("text")
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ImproveReport:
        """Return the report of a result of `as_dict`. Raises an error of the form for other data."""
        for one in (data["start"], *data["rounds"], data["chosen"]):
            if one is not None:
                one["text"] = one.pop(data["part"])
        return convert(data, cls)
