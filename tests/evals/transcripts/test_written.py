"""Transcripts written by hand: the verdict follows from what the records state."""

from __future__ import annotations

import json
import os
import random

import pytest

from prowess.evals.transcripts.reading import read_transcript_text
from prowess.evals.verdicts.judging import verdict_of
from tests.evals.transcripts.tables.claude_session import CLAUDE_SESSION
from tests.evals.transcripts.tables.claude_stream import CLAUDE_STREAM
from tests.evals.transcripts.tables.codex import CODEX_ROLLOUT, CODEX_STREAM
from tests.evals.transcripts.tables.copilot import COPILOT
from tests.evals.transcripts.tables.ends_and_choices import ENDS_AND_CHOICES
from tests.evals.transcripts.tables.further_claude import FURTHER_CLAUDE
from tests.evals.transcripts.tables.further_codex import FURTHER_CODEX
from tests.evals.transcripts.tables.further_others import FURTHER_OTHERS
from tests.evals.transcripts.tables.gemini import GEMINI
from tests.evals.transcripts.tables.minimal import MINIMAL
from tests.evals.transcripts.tables.other import OTHERS
from tests.evals.transcripts.written import FILE, SKILL, E, N, O, P, T

CASES = {
    f"{room}: {name}": case
    for room, cases in {
        "claude stream": CLAUDE_STREAM,
        "claude session": CLAUDE_SESSION,
        "codex stream": CODEX_STREAM,
        "codex rollout": CODEX_ROLLOUT,
        "copilot": COPILOT,
        "gemini": GEMINI,
        "other": OTHERS,
        "further claude": FURTHER_CLAUDE,
        "further codex": FURTHER_CODEX,
        "further": FURTHER_OTHERS,
        "minimal": MINIMAL,
        "ends and choices": ENDS_AND_CHOICES,
    }.items()
    for name, case in cases.items()
}


@pytest.mark.proves("evals.trigger.whole-run")
@pytest.mark.parametrize(("data", "expected"), CASES.values(), ids=CASES)
def test_a_written_transcript_gets_its_verdict(data: bytes, expected: str) -> None:
    run = read_transcript_text(data)
    verdict = verdict_of(run, skill=SKILL)
    assert verdict.verdict == expected, (verdict, run)


VALUES = [None, True, 1, -2, 1.5, "", "x", SKILL, FILE, [], {}, ["a"], {"a": 1}, [{"text": "x"}], 10**30, "t1", "main"]
RECORDS = [
    [json.loads(line) for line in data.splitlines() if line.startswith(b'{"') and line.endswith(b"}")]
    for data, _ in CASES.values()
]
ROUNDS = int(os.environ.get("PROWESS_TRANSCRIPT_ROUNDS", "1500"))


def test_a_record_with_other_values_stops_no_reader() -> None:
    draw = random.Random(7)
    for _ in range(ROUNDS):
        chance = draw.choice([0.02, 0.1, 0.3])
        records = [_changed(draw, record, chance) for record in draw.choice(RECORDS)]
        data = b"\n".join(json.dumps(record).encode() for record in records)
        assert verdict_of(read_transcript_text(data), skill=SKILL).verdict in {T, N, P, O, E}


def _changed(draw: random.Random, value: object, chance: float) -> object:
    """Replace some of the values in a record."""
    if draw.random() < chance:
        return draw.choice(VALUES)
    if isinstance(value, dict):
        return {key: _changed(draw, one, chance) for key, one in value.items()}
    return [_changed(draw, one, chance) for one in value] if isinstance(value, list) else value
