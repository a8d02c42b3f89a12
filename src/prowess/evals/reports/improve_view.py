"""What a search of `prowess eval improve` tried and found, from the report in its folder."""

from __future__ import annotations

import os

from msgspec import Struct, ValidationError, convert

from prowess._internal.text.terminal_text import counted
from prowess.errors import InvalidArgumentsError
from prowess.evals.ledger.caps import Spent  # noqa: TC001 -- msgspec reads the types
from prowess.evals.reports.answer import percent, percent_interval, signed
from prowess.evals.reports.iteration_files import read_json
from prowess.evals.statistics.intervals import MeanInterval, Rate  # noqa: TC001 -- as above

IMPROVE_FILE = "improve-report.json"


class SearchRound(Struct, frozen=True, kw_only=True):
    """One round, or the first or chosen text, with the rates of cases that passed."""

    round: int
    outcome: str | None = None
    train: Rate | None = None
    validation: Rate | None = None
    confirmed: Rate | None = None
    removed: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


class LostCase(Struct, frozen=True, kw_only=True):
    """A request or an eval that passed at first and does not now."""

    split: str
    query: str | None = None
    eval: str | None = None


class FoundLeak(Struct, frozen=True, kw_only=True):
    """Words of training in a proposed text."""

    round: int
    text: str
    source: str = "request"


class Improvement(Struct, frozen=True, kw_only=True):
    """A search. `part` is what it revised; the other members are those of `eval improve --json`."""

    part: str = "description"
    skill: str
    model: str
    proposer: str
    host: str
    engine: str
    estimate: bool
    seed: int
    complete: bool
    stopped: str | None
    spent: Spent
    start: SearchRound | None
    rounds: tuple[SearchRound, ...]
    chosen: SearchRound | None
    delta: MeanInterval | None
    diff: str
    lost: tuple[LostCase, ...]
    leaked: tuple[FoundLeak, ...]
    nothing_failed: bool
    written: bool
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        if self.chosen is None:
            found = "nothing failed in training" if self.nothing_failed else f"no better {self.part} was found"
            return f"{self.skill}: {found}."
        delta, done = self.delta, "is written" if self.written else "is proposed"
        if delta is None or delta.mean is None or delta.low is None or delta.high is None:
            return f"A better {self.part} of {self.skill} {done}."
        mean, low, high = (signed(max(-1.0, min(1.0, value))) for value in (delta.mean, delta.low, delta.high))
        interval = f"95 % interval {low} to {high}"
        return f"A better {self.part} of {self.skill} {done}: {mean} points in validation ({interval})."

    @property
    def limits(self) -> tuple[str, ...]:
        """Sentences that limit the answer."""
        found = ["Words alone chose the skill: this is an estimate."] if self.estimate else []
        if not self.complete:
            found.append(f"The search is not complete ({self.stopped or 'it was stopped'}); --resume goes on.")
        if self.lost:
            found.append(f"Lost: {counted(len(self.lost), 'case')} passed at first and not with the new text.")
        return (*found, *self.notes)


def read_improvement(folder: str) -> Improvement | None:
    """Return the search of a folder, None if the folder is of another command.

    Raises:
        InvalidArgumentsError: its report cannot be read.
    """
    path = os.path.join(folder, IMPROVE_FILE)
    if not os.path.lexists(path):
        return None
    try:
        return convert(read_json(path), Improvement)
    except ValidationError as fault:
        raise InvalidArgumentsError((f"{path} is no report of prowess eval improve: {fault}",)) from None


def told(rate: Rate | None) -> str:
    """Return a rate with its interval as text; a dash if it was not measured."""
    if rate is None or rate.rate is None or rate.low is None or rate.high is None:
        return "–"  # noqa: RUF001 -- the sign for no value
    return f"{rate.passed} of {rate.runs}: {percent(rate.rate)} ({percent_interval(rate.low, rate.high)})"
