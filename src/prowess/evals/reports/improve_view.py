"""The attempts and the result of a search of `prowess eval improve`, from the report in its folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import ValidationError

from prowess._internal.text.terminal_text import counted
from prowess.errors import InvalidArgumentsError
from prowess.evals.optimising.report import ImproveReport
from prowess.evals.reports.answer import percent, percent_interval, signed
from prowess.evals.reports.iteration_files import read_json

if TYPE_CHECKING:
    from prowess.evals.statistics.intervals import Rate

IMPROVE_FILE = "improve-report.json"


def improvement_headline(found: ImproveReport) -> str:
    """Return the answer of a search in one sentence."""
    if found.chosen is None:
        return f"{found.skill}: {'nothing failed in training' if found.nothing_failed else 'nothing better was found'}."
    delta, done = found.delta, "is written" if found.written else "is proposed"
    if delta is None or delta.mean is None or delta.low is None or delta.high is None:
        return f"A better {found.part} of {found.skill} {done}."
    mean, low, high = (signed(max(-1.0, min(1.0, value))) for value in (delta.mean, delta.low, delta.high))
    return (
        f"A better {found.part} of {found.skill} {done}: {mean} points in validation (95 % interval {low} to {high})."
    )


def improvement_limits(found: ImproveReport) -> tuple[str, ...]:
    """Return sentences that limit the answer of a search."""
    limits = ["Words alone chose the skill: this is an estimate."] if found.estimate else []
    if not found.complete:
        limits.append(f"The search is not complete ({found.stopped or 'it was stopped'}); --resume goes on.")
    if found.lost:
        limits.append(f"Lost: {counted(len(found.lost), 'case')} passed at first and not with the new text.")
    return (*limits, *found.notes)


def read_improvement(folder: str) -> ImproveReport | None:
    """Return the search of a folder, None if the folder is of another command.

    Raises:
        InvalidArgumentsError: its report cannot be read.
    """
    path = os.path.join(folder, IMPROVE_FILE)
    if not os.path.lexists(path):
        return None
    try:
        return ImproveReport.from_dict(read_json(path))
    except (ValidationError, TypeError, KeyError, AttributeError) as fault:
        raise InvalidArgumentsError((f"{path} is no report of prowess eval improve: {fault}",)) from None


def told(rate: Rate | None) -> str:
    """Return a rate with its interval as text; a dash if it was not measured."""
    if rate is None or rate.rate is None or rate.low is None or rate.high is None:
        return "–"  # noqa: RUF001 -- the sign for no value
    return f"{rate.passed} of {rate.runs}: {percent(rate.rate)} ({percent_interval(rate.low, rate.high)})"
