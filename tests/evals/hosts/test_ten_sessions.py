"""Ten fresh sessions of the real Claude Code, as those that are kept in `tests/evals/triggers/ten_sessions`."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from tests.evals.triggers.test_ten_sessions import KNOWN, RECORDED
from tools.hosts.ten_sessions import record

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.unmeasured,
    pytest.mark.skipif(
        "PROWESS_HOSTS" not in os.environ, reason="`make hosts` installs the hosts and runs these tests"
    ),
]


def test_ten_sessions_that_are_recorded_again_equal_those_that_are_kept(tmp_path: Path) -> None:
    assert record(tmp_path) == KNOWN
    for kept in sorted(RECORDED.glob("session-*.jsonl")):
        again = (tmp_path / kept.name).read_text("utf-8").splitlines()
        lines = kept.read_text("utf-8").splitlines()
        assert [json.loads(line)["type"] for line in again] == [json.loads(line)["type"] for line in lines]
