"""Recorded calls that failed, were rejected, or are of a skill that changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.agent import ModelError, Usage
from prowess.evals.ledger.calls import CallAnswer, CallBound
from prowess.evals.ledger.caps import Caps
from prowess.evals.ledger.journal import JOURNAL, REQUESTS, JournalError
from prowess.evals.ledger.ledger import Ledger
from prowess.evals.ledger.recorded_calls import RecordedCalls
from prowess.evals.recordings.drift import DriftError, StaleRecordingError
from tests.evals.ledger.asking import HEADER, Asking, failing

if TYPE_CHECKING:
    from pathlib import Path

BOUND = CallBound(input_tokens=10, output_tokens=10)


async def _never() -> CallAnswer:
    raise AssertionError("a replay asks nobody")


async def _rejected() -> CallAnswer:
    return CallAnswer(content=b'{"error": "no such path"}', refused=True, details={"status": "404"})


@pytest.mark.anyio
async def test_a_failure_is_replayed_unless_the_call_was_made_again_with_success(tmp_path: Path) -> None:
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        for request in (b"a", b"b"):
            with pytest.raises(ModelError):
                await ledger.call("one", request, BOUND, failing(ModelError("m", "busy", 429)))
        await Asking(ledger)("one", "b")
    with RecordedCalls(tmp_path / JOURNAL) as recorded:
        with pytest.raises(ModelError, match="as recorded: model 'm' gave no answer: busy"):
            await recorded.call("one", b"a", BOUND, _never)
        assert (await recorded.call("one", b"b", BOUND, _never)).content == b"answer 1"


@pytest.mark.anyio
async def test_a_rejected_request_is_replayed_with_its_status_but_asked_again_on_resume(tmp_path: Path) -> None:
    for _ in range(2):
        with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
            answer = await ledger.call("one", b"a", BOUND, _rejected, host="claude")
            assert answer.refused
            assert (ledger.spent.usd, ledger.spent.in_doubt_usd) == (0.0, 0.0)
    assert ledger.spent.calls == 2
    with RecordedCalls(tmp_path / JOURNAL) as recorded:
        kept = await recorded.call("one", b"a", BOUND, _never, host="claude")
        assert (kept.content, kept.details, kept.refused) == (b'{"error": "no such path"}', {"status": "404"}, True)


@pytest.mark.anyio
async def test_answers_that_are_no_text_keep_their_bytes(tmp_path: Path) -> None:
    async def ask() -> CallAnswer:
        return CallAnswer(content=b"\xff\x00\xfe", usage=Usage(input_tokens=1))

    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        await ledger.call("one", b"\xff", BOUND, ask, host="codex")
    with RecordedCalls(tmp_path / JOURNAL) as recorded:
        assert (await recorded.call("one", b"\xff", BOUND, _never, host="codex")).content == b"\xff\x00\xfe"


@pytest.mark.anyio
async def test_one_request_more_than_recorded_is_drift_and_so_is_one_whose_record_was_removed(tmp_path: Path) -> None:
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        await Asking(ledger)("one", "a")
    with RecordedCalls(tmp_path / JOURNAL) as recorded:
        await recorded.call("one", b"a", BOUND, _never)
        with pytest.raises(
            DriftError, match=r"request 2 of one .*\nthe recording has 1 answered requests of this unit"
        ):
            await recorded.call("one", b"a", BOUND, _never)
        for file in (tmp_path / REQUESTS).iterdir():
            file.write_bytes(b"changed")
        recorded.begin("one")
        with pytest.raises(DriftError, match="the recorded request was removed"):
            await recorded.call("one", b"b", BOUND, _never)


@pytest.mark.anyio
async def test_a_recording_of_other_files_is_stale(tmp_path: Path) -> None:
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()):
        pass
    with RecordedCalls(tmp_path / JOURNAL) as recorded:
        recorded.require_fresh(HEADER.files)
        with pytest.raises(StaleRecordingError, match=f"{tmp_path} is stale: csv-report/SKILL.md changed"):
            recorded.require_fresh({"csv-report/SKILL.md": "b" * 64})


def test_a_recording_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="cannot be opened: No such file or directory; name a recorded run"):
        RecordedCalls(tmp_path / JOURNAL)
    assert list(tmp_path.iterdir()) == []
