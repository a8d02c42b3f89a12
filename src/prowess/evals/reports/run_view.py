"""The runs of a page, by eval and configuration: assertions, and the transcript as a list of short entries."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.evals.campaigns.report import WITHOUT_SKILL
from prowess.evals.reports.answer import configuration_words, money
from prowess.evals.reports.excerpts import TextShare, size_in_page
from prowess.evals.transcripts.transcript import MAIN_AGENT, TranscriptCall, TranscriptMessage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from prowess.evals.campaigns.report import EvalRunReport, UnitOutcome, UnitResult
    from prowess.evals.transcripts.transcript import RunTranscript

_WEIGHTS: Mapping[UnitOutcome, float] = {"failed": 2.0, "error": 2.0, "passed": 1.0, "not_run": 0.0}
_ROLES = {"user": "user", "assistant": "model", "host": "host"}
_OUTCOMES: Mapping[UnitOutcome, str] = {
    "passed": "passed",
    "failed": "failed",
    "error": "error",
    "not_run": "not run",
}
_TONES: Mapping[UnitOutcome, str] = {"passed": "good", "failed": "bad"}
_OF_ENTRY = 45  # bytes of markup around one entry
_OF_ASSERTION = 60
_MOST_TEXT = 2_000
_MOST_EVIDENCE = 400


class TranscriptEntry(Struct, frozen=True, kw_only=True):
    """One message or call. `who` is user, model, host, or the name of a tool."""

    who: str
    text: str
    failed: bool = False


class AssertionView(Struct, frozen=True, kw_only=True):
    """One assertion with its evidence."""

    passed: bool
    text: str
    evidence: str


class RunView(Struct, frozen=True, kw_only=True):
    """One run. `left_out` are entries of the transcript that did not fit."""

    title: str
    outcome: str
    tone: str
    told: str
    facts: str
    assertions: tuple[AssertionView, ...]
    entries: tuple[TranscriptEntry, ...]
    left_out: int
    file: str | None


class EvalView(Struct, frozen=True, kw_only=True):
    """The runs of one eval."""

    name: str
    told: str
    runs: tuple[RunView, ...]


class RunViews(Struct, frozen=True, kw_only=True):
    """All evals; and how many runs are left out."""

    evals: tuple[EvalView, ...]
    left_out: int


def run_views(report: EvalRunReport, transcripts: Mapping[str, RunTranscript], most: int, budget: int) -> RunViews:
    """Return the first `most` runs that began. All their texts together take at most `budget` bytes of a page."""
    ran = [unit for unit in report.units if unit.outcome != "not_run"]
    shown = ran[:most]
    left, weight = float(max(0, budget)), sum(_WEIGHTS[unit.outcome] for unit in shown)
    evals: dict[str, list[tuple[UnitResult, RunView]]] = {}
    for unit in shown:
        share = TextShare(int(left * _WEIGHTS[unit.outcome] / weight))
        left, weight = left - share.left, weight - _WEIGHTS[unit.outcome]
        view = _run_view(unit, transcripts.get(unit.id), share)
        left += max(0, share.left)  # the rest is for the later ones
        evals.setdefault(unit.eval, []).append((unit, view))
    return RunViews(
        evals=tuple(
            EvalView(name=name, told=_told([unit for unit, _ in pairs]), runs=tuple(view for _, view in pairs))
            for name, pairs in evals.items()
        ),
        left_out=len(ran) - len(shown),
    )


def _told(units: list[UnitResult]) -> str:
    counts = {outcome: sum(unit.outcome == outcome for unit in units) for outcome in _OUTCOMES}
    words = {**_OUTCOMES, "error": "with an error"}
    return ", ".join(f"{number} {words[outcome]}" for outcome, number in counts.items() if number)


def _run_view(unit: UnitResult, transcript: RunTranscript | None, share: TextShare) -> RunView:
    reason = unit.contaminated or unit.reason
    told = (None if reason is None else share.cut(reason, _MOST_EVIDENCE)) or ""
    if unit.contaminated is not None:
        told = f"Not counted, because the baseline saw the skill: {told}"
    kept = 0 if transcript is None else share.left // 2
    share.left -= kept
    assertions = tuple(_assertions(unit, share))
    share.left += kept
    entries, left_out = _entries(transcript, share)
    return RunView(
        title=f"{TextShare(40).cut(configuration_words(unit.configuration), 40)}, run {unit.run}",
        outcome=_OUTCOMES[unit.outcome] if unit.contaminated is None else "not counted",
        tone=_TONES.get(unit.outcome, "warn") if unit.contaminated is None else "warn",
        told=told,
        facts=_facts(unit),
        assertions=assertions,
        entries=tuple(entries),
        left_out=left_out,
        file=None if unit.transcript is None else share.cut(unit.transcript, 200, overhead=_OF_ENTRY),
    )


def _facts(unit: UnitResult) -> str:
    facts = [f"{unit.seconds:.1f} s"]
    if unit.tokens:
        facts.append(f"{unit.tokens:,} tokens")
    if unit.usd is not None:
        facts.append(money(unit.usd))
    if unit.activated is False and unit.configuration != WITHOUT_SKILL:
        facts.append("did not use the skill")
    return ", ".join(facts)


def _assertions(unit: UnitResult, share: TextShare) -> Iterator[AssertionView]:
    """Yield the assertions that fit, failed ones first."""
    for one in sorted(unit.assertions, key=lambda each: each.passed):
        text = share.cut(one.text, _MOST_EVIDENCE, overhead=_OF_ASSERTION)
        if text is None:
            return
        yield AssertionView(passed=one.passed, text=text, evidence=share.cut(one.evidence, _MOST_EVIDENCE) or "")


def _entries(transcript: RunTranscript | None, share: TextShare) -> tuple[list[TranscriptEntry], int]:
    """Return the entries that fit, from the beginning, and the number of the others.

    Half of the room is kept for the last entry, which is the answer.
    """
    if transcript is None:
        return [], 0
    whole = _ordered(transcript)
    last = _fitting(whole[-1:], TextShare(share.left // 2))
    share.left -= sum(size_in_page(one.text) + size_in_page(one.who) + _OF_ENTRY for one in last)
    found = [*_fitting(whole[:-1], share), *last]
    return found, len(whole) - len(found)


def _fitting(records: Sequence[TranscriptMessage | TranscriptCall], share: TextShare) -> list[TranscriptEntry]:
    found: list[TranscriptEntry] = []
    for record in records:
        if share.left <= _OF_ENTRY:
            break
        one = _entry(record)
        who = share.cut(one.who, 60, overhead=_OF_ENTRY)
        text = None if who is None else share.cut(one.text, _MOST_TEXT)
        if who is None or text is None:
            break
        found.append(TranscriptEntry(who=who, text=text, failed=one.failed))
    return found


def _ordered(transcript: RunTranscript) -> list[TranscriptMessage | TranscriptCall]:
    """Return messages and calls in the order of their records; those of sub-agents last."""
    messages = (message for message in transcript.messages if message.text.strip())
    return sorted((*messages, *transcript.calls), key=lambda one: (one.agent != MAIN_AGENT, one.at))


def _entry(record: TranscriptMessage | TranscriptCall) -> TranscriptEntry:
    if isinstance(record, TranscriptMessage):
        return TranscriptEntry(who=_ROLES[record.role], text=record.text.strip())
    given = ", ".join(f"{name}: {_value(value)}" for name, value in record.arguments.items())
    result = "" if record.result is None else f"\n→ {record.result[:_MOST_TEXT].strip()}"
    return TranscriptEntry(who=record.name, text=f"{given[:_MOST_TEXT]}{result}", failed=record.failed)


def _value(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text[:_MOST_TEXT]
