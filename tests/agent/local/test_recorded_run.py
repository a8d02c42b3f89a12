"""The page about the offline model, held against the code with the replies that were recorded."""

from __future__ import annotations

import pytest

from prowess.agent import ModelError
from prowess.execution import default_sandbox
from tools import offline_run


def test_the_recorded_replies_still_lead_to_the_page() -> None:
    if not (report := default_sandbox().probe()).available:
        pytest.skip(report.hint)
    part = offline_run.written(offline_run.Replay(offline_run.recorded()))
    assert offline_run.page(part) == offline_run.PAGE.read_text(encoding="utf-8"), "run `make local`"


def test_a_question_that_was_not_recorded_is_noticed() -> None:
    first = offline_run.recorded()[0]
    assert first.labels is not None
    replay = offline_run.Replay([first])
    with pytest.raises(offline_run.StaleError, match="run `make local`"):
        replay.choose(first.question, [*first.labels, "one more"])
    assert not issubclass(offline_run.StaleError, ModelError)  # which would end a run instead
    assert replay.choose(first.question, first.labels).text == first.reply
    with pytest.raises(offline_run.StaleError):
        replay.write("Anything?", 1)
