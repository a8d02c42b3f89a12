"""Transcripts that real command lines wrote against a scripted provider; the script tells the verdict of each."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from prowess.evals.transcripts.reading import read_transcript, read_transcript_text
from prowess.evals.verdicts.judging import verdict_of

if TYPE_CHECKING:
    from collections.abc import Callable

CAPTURED = Path(__file__).parent / "captured"
CASES = [json.loads(line) for line in (CAPTURED / "cases.jsonl").read_text(encoding="utf-8").splitlines()]
FILES = [case for case in CASES if (CAPTURED / case["transcript"]).is_file()]


@pytest.mark.parametrize("case", CASES, ids=[case["transcript"] for case in CASES])
def test_a_captured_transcript_gets_its_verdict(case: dict[str, str]) -> None:
    run = read_transcript(CAPTURED / case["transcript"])
    verdict = verdict_of(run, skill=case["skill"], query=case["query"])
    assert (run.host, run.form, run.notes) == (case["host"], case["form"], ())
    assert verdict.verdict == case["verdict"], (case["what"], verdict)
    assert bool(verdict.evidence) or verdict.verdict == "not_triggered"


def _indented(data: bytes) -> bytes:
    return b"\n".join(json.dumps(json.loads(line), indent=2).encode() for line in data.splitlines())


def _with_strangers(data: bytes) -> bytes:
    """Put records that nobody knows, text and broken lines between the records."""
    strangers = b'{"type": "from.the.future", "data": {"skill": "pdf-tables"}}\nLoading...\n{"type": "assi\n[1, 2]\n'
    return b"\n".join(line + b"\n" + strangers for line in data.splitlines())


CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "CRLF": lambda data: data.replace(b"\n", b"\r\n"),
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "documents over several lines": _indented,
    "one list": lambda data: b"[" + b",\n".join(data.splitlines()) + b"]",
    "empty lines": lambda data: b"\n\n" + data.replace(b"\n", b"\n \n\t\n"),
    "strangers": _with_strangers,
    "no line break at the end": lambda data: data.rstrip(b"\n"),
    "a last line that is torn": lambda data: data + b'{"type": "assistant", "message": {"content": [{"ty',
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_the_bytes_around_the_records_change_no_verdict(change: Callable[[bytes], bytes]) -> None:
    wrong: list[tuple[str, str, str]] = []
    for case in FILES:
        run = read_transcript_text(change((CAPTURED / case["transcript"]).read_bytes()))
        verdict = verdict_of(run, skill=case["skill"], query=case["query"]).verdict
        is_torn = change is CHANGES["a last line that is torn"] and run.ended == "cut"
        if verdict != case["verdict"] and not (is_torn and verdict == "error"):
            wrong.append((case["transcript"], case["verdict"], verdict))
        if run.host != case["host"]:
            wrong.append((case["transcript"], case["host"], str(run.host)))
    assert wrong == []


def test_a_transcript_that_stops_anywhere_never_claims_a_choice_that_was_not_made() -> None:
    """What is cut off can take away a choice, and the end of the run, but can add nothing."""
    for case in FILES:
        data = (CAPTURED / case["transcript"]).read_bytes()
        allowed = {case["verdict"], "error", "not_triggered"}
        if case["verdict"] == "triggered":
            allowed |= {"not_offered"} if case["host"] == "codex" else set()
        if case["verdict"] == "not_offered":
            allowed |= {"triggered"}  # until the host has answered
        for stop in range(0, len(data), max(1, len(data) // 7)):
            run = read_transcript_text(data[:stop])
            verdict = verdict_of(run, skill=case["skill"], query=case["query"]).verdict
            assert verdict in allowed, (case["transcript"], stop, verdict)
            if run.ended == "completed":
                assert verdict in {case["verdict"], "not_triggered"}, (case["transcript"], stop, verdict)


def test_another_skill_of_the_same_run_was_not_chosen() -> None:
    for case in CASES:
        run = read_transcript(CAPTURED / case["transcript"])
        verdict = verdict_of(run, skill="write-poems", query=case["query"]).verdict
        assert verdict in {"not_offered", "error", "not_triggered"}, (case["transcript"], verdict)


def test_a_transcript_tells_the_users_request_and_the_answer() -> None:
    for case in CASES:
        run = read_transcript(CAPTURED / case["transcript"])
        said = [message.text for message in run.messages if message.role == "user" and message.agent == "main"]
        # The streams of Claude Code and Codex do not hold the request.
        has_none = case["form"] == "stream" and case["host"] in {"claude", "codex"}
        assert (said == []) if has_none else (said[:1] or run.ended == "cut"), case["transcript"]
        if said and not re.match("[/$]", case["query"]):
            assert case["query"] in said[0]
        if run.ended == "completed":
            assert run.answer
