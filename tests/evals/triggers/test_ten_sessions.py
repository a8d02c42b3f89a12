"""Ten recorded sessions of the real Claude Code with one request, and how often they chose the same skill.

`python -m tools.hosts.ten_sessions` recorded them through the gateway, in a network namespace. The provider is a
script: it chose by the request that the host sent, and nothing in the sixth session. So the recordings show that each
fresh session of the host offers the skill in the same way and that the share is read from its transcripts. How steady a
model is, they do not show.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from prowess.evals.transcripts.reading import read_transcript
from prowess.evals.triggers.rows import QueryRuns, TriggerRow
from prowess.evals.triggers.trigger_set import TriggerQuery
from prowess.evals.verdicts.judging import verdict_of

if TYPE_CHECKING:
    from collections.abc import Iterable

RECORDED = Path(__file__).parent / "ten_sessions"
KNOWN: dict[str, Any] = json.loads((RECORDED / "sessions.json").read_text("utf-8"))
FILES = sorted(RECORDED.glob("session-*.jsonl"))


def row(files: Iterable[Path], *, least: float) -> TriggerRow:
    """Judge the sessions, and count them as `prowess eval triggers --min-consistency` does."""
    judged = [verdict_of(read_transcript(path), skill=KNOWN["skill"], query=KNOWN["query"]).verdict for path in files]
    counted = QueryRuns(TriggerQuery(query=KNOWN["query"], should_trigger=True), planned=len(judged), least=least)
    for verdict in judged:
        counted.add(verdict)
    return counted.row("train", curtailed=False)


@pytest.mark.proves("governance.persona.consistent")
def test_nine_of_ten_recorded_sessions_of_a_real_host_choose_the_same_skill() -> None:
    found = row(FILES, least=0.9)
    assert (found.triggers, found.runs, found.consistency, found.passed) == (9, 10, 0.9, True)
    assert {name: KNOWN["row"][name] for name in ("triggers", "runs", "consistency", "pass")} == {
        "triggers": 9, "runs": 10, "consistency": 0.9, "pass": True,
    }  # fmt: skip
    assert row(FILES, least=0.91).passed is False
    silent = next(path for path in FILES if row([path], least=0.9).triggers == 0)
    assert row([*FILES[1:], silent], least=0.9).passed is False


def test_the_recorded_sessions_were_fresh_and_each_was_offered_the_same_skills() -> None:
    first = [json.loads(path.read_text("utf-8").splitlines()[0]) for path in FILES]
    assert len({record["session_id"] for record in first}) == len(FILES) == 10
    assert {record["claude_code_version"] for record in first} == {"2.1.328"}
    assert {tuple(record["skills"][:3]) for record in first} == {("invoices", "pdf-tables", "release-notes")}
    # Their first requests were equal, but for the volatile parts of the host: no session knew of an earlier one.
    assert (KNOWN["first_requests"], KNOWN["listed"]) == (1, ["invoices", "pdf-tables", "release-notes"])
