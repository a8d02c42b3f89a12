"""Transcripts written by hand: the verdict follows from what the records state."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prowess.evals.transcripts.reading import read_transcript_text
from prowess.evals.verdicts.judging import verdict_of
from tests.evals.transcripts.tables.claude_session import CLAUDE_SESSION
from tests.evals.transcripts.tables.claude_stream import CLAUDE_STREAM
from tests.evals.transcripts.tables.codex import CODEX_ROLLOUT, CODEX_STREAM
from tests.evals.transcripts.tables.copilot import COPILOT
from tests.evals.transcripts.tables.gemini import GEMINI
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
    }.items()
    for name, case in cases.items()
}


@pytest.mark.parametrize(("data", "expected"), CASES.values(), ids=CASES)
def test_a_written_transcript_gets_its_verdict(data: bytes, expected: str) -> None:
    run = read_transcript_text(data)
    verdict = verdict_of(run, skill=SKILL)
    assert verdict.verdict == expected, (verdict, run)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from([SKILL, FILE, "user", "t1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
KNOWN = [
    json.loads(line)
    for data, _ in CASES.values()
    for line in data.splitlines()
    if line.startswith(b'{"') and line.endswith(b"}")
]


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_a_record_with_other_values_stops_no_reader(data: st.DataObject) -> None:
    records = [_changed(data, data.draw(st.sampled_from(KNOWN))) for _ in range(data.draw(st.integers(1, 4)))]
    run = read_transcript_text(b"\n".join(json.dumps(record).encode() for record in records))
    assert verdict_of(run, skill=SKILL).verdict in {T, N, P, O, E}


def _changed(data: st.DataObject, value: object) -> object:
    """Replace some of the values in a record."""
    if data.draw(st.integers(0, 9)) == 0:
        return data.draw(VALUES)
    if isinstance(value, dict):
        return {key: _changed(data, one) for key, one in value.items()}
    return [_changed(data, one) for one in value] if isinstance(value, list) else value
