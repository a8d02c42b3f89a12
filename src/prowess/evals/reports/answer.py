"""The answer of a run of evals as a sentence, and the words that all its reports share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess._internal.text.terminal_text import counted
from prowess.evals.campaigns.report import OLD_SKILL, WITH_SKILL, WITHOUT_SKILL
from prowess.evals.campaigns.summary import ungraded_texts
from prowess.evals.statistics.intervals import ENOUGH_VALUES

if TYPE_CHECKING:
    from prowess.evals.campaigns.report import ConfigurationSummary, EvalRunReport, RateDelta

AnswerTone = Literal["good", "bad", "unsure"]
WORDS = {WITH_SKILL: "with the skill", WITHOUT_SKILL: "without the skill", OLD_SKILL: "with the old skill"}
MINUS = "\u2212"
_STOPPED = {
    "cost_cap": "the cap on cost stopped it",
    "call_cap": "the cap on calls stopped it",
    "token_cap": "the cap on tokens stopped it",
    "signal": "it was interrupted",
}
_CAVEAT = "This is what the runs so far show."


class RunAnswer(Struct, frozen=True, kw_only=True):
    """The answer. `headline` is one sentence; `notes` are sentences that limit it."""

    headline: str
    tone: AnswerTone
    notes: tuple[str, ...] = ()


def answer_of(report: EvalRunReport) -> RunAnswer:
    """Return the result of a run: the difference to the baseline, or without one the rate of passed runs."""
    headline, tone = _headline(report)
    return RunAnswer(headline=headline, tone=tone, notes=tuple(_notes(report)))


def configuration_words(name: str) -> str:
    """Return the words for a configuration; of a name that is not known, the name."""
    return WORDS.get(name, name)


def percent(share: float) -> str:
    """Return a share as a whole percentage."""
    return f"{share * 100:.0f} %"


def signed(share: float) -> str:
    """Return a difference of shares as percentage points, with its sign."""
    points = round(share * 100)
    return "0" if points == 0 else f"+{points}" if points > 0 else f"{MINUS}{-points}"


def percent_interval(low: float, high: float) -> str:
    """Return the interval of a share, such as `44 to 100 %`."""
    return f"{low * 100:.0f} to {percent(high)}"


def rate_text(found: ConfigurationSummary, counts: str) -> str:
    """Return `counts` with the rate of passed runs and its interval; `no run counts` without one."""
    if found.rate is None or found.low is None or found.high is None:
        return "no run counts"
    return f"{counts}: {percent(found.rate)}, 95 % interval {percent_interval(found.low, found.high)}"


def delta_text(delta: RateDelta, evals: int) -> str:
    """Return a difference in points over a number of evals, with its interval if it has one."""
    if delta.low is None or delta.high is None:
        return f"{signed(delta.mean)} points"
    return f"{signed(delta.mean)} points ({_delta_interval(delta.low, delta.high, evals)})"


def _delta_interval(low: float, high: float, evals: int) -> str:
    between = f"interval {signed(low)} to {signed(high)}"
    return f"95 % {between}" if evals >= ENOUGH_VALUES else f"{between}, too narrow with only {counted(evals, 'eval')}"


def compared_evals(report: EvalRunReport) -> int:
    """Return the number of evals with runs that count on both sides, over which the difference is."""
    sides: dict[str, set[bool]] = {}
    for unit in report.units:
        if unit.counted:
            sides.setdefault(unit.eval, set()).add(unit.configuration == WITH_SKILL)
    return sum(len(found) > 1 for found in sides.values())


def money(usd: float | None) -> str:
    """Return an amount in dollars: with two digits, or with as many as show that it is not nothing.

    None is an amount that is not known, because a model has no price.
    """
    if usd is None:
        return "an unknown amount"
    digits = 2 if usd == 0 or usd >= 0.01 else 4 if usd >= 0.0001 else 6  # noqa: PLR2004 -- a cent, and a hundredth of it
    return f"${usd:,.{digits}f}"


def _headline(report: EvalRunReport) -> tuple[str, AnswerTone]:
    summary = report.summary
    skilled = summary.configurations.get(WITH_SKILL)
    baseline = next((name for name in (WITHOUT_SKILL, OLD_SKILL) if name in summary.configurations), None)
    if skilled is None or skilled.rate is None:
        return f"No run of {report.skill} could be graded.", "unsure"
    if summary.delta is None or baseline is None:
        counts = f"{skilled.passed} of {counted(skilled.passed + skilled.failed, 'run')}"
        return f"{report.skill} passes in {rate_text(skilled, counts)}.", "unsure"
    over = "over the old version" if baseline == OLD_SKILL else "over runs without it"
    return _compared(report.skill, summary.delta, compared_evals(report), over)


def _compared(skill: str, delta: RateDelta, evals: int, over: str) -> tuple[str, AnswerTone]:
    told = f"{skill} has {delta_text(delta, evals)}"
    if delta.low is None or delta.high is None:
        return f"One eval alone shows no difference that can be trusted: {told}.", "unsure"
    if evals < ENOUGH_VALUES:
        return f"{counted(evals, 'eval')} are too few to tell a difference {over}: {told}.", "unsure"
    interval = _delta_interval(delta.low, delta.high, evals)
    points = f"{abs(delta.mean) * 100:.0f} points"
    if delta.low > 0:
        return f"{skill} raises the pass rate by {points} {over} ({interval}).", "good"
    if delta.high < 0:
        return (
            f"{skill} lowers the pass rate by {points}, compared with {over.removeprefix('over ')} ({interval}).",
            "bad",
        )
    return f"No difference is shown {over}: {told}.", "unsure"


def _notes(report: EvalRunReport) -> list[str]:
    summary, notes = report.summary, []
    left = sum(unit.outcome == "not_run" for unit in report.units)
    if report.stopped is not None:
        notes.append(f"The run is not complete: {_STOPPED[report.stopped]}, {counted(left, 'run')} left. {_CAVEAT}")
    elif not report.complete:
        notes.append(f"The run is not complete: {counted(left, 'run')} left. {_CAVEAT}")
    if summary.decision is not None:
        told = {
            "better": "The comparison was decided: the skill is better.",
            "worse": "The comparison was decided: the skill is worse.",
            "futile": "The comparison was stopped: a difference of the size that was asked for is unlikely.",
        }
        notes.append(told.get(summary.decision, "The comparison is not decided."))
    errors = sum(unit.outcome == "error" for unit in report.units)
    if errors:
        notes.append(f"{counted(errors, 'run')} ended with an error. Errors are no part of any rate.")
    spoilt = sum(unit.contaminated is not None for unit in report.units)
    if spoilt:
        notes.append(f"{counted(spoilt, 'run')} of the baseline saw the skill. They are no part of any rate.")
    return [*notes, *summary.faults, *ungraded_texts(summary.ungraded)]
