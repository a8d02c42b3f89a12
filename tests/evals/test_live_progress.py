"""The progress of a run of evals on a terminal and in a pipe."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from prowess.cli.evals.live_progress import LiveProgress
from prowess.evals.campaigns.report import Unit, UnitResult
from prowess.evals.ledger.caps import Spent
from prowess.evals.triggers.trigger_runs import TriggerRun
from prowess.evals.triggers.trigger_set import TriggerQuery

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
from prowess.cli.evals.live_progress import LiveProgress
from prowess.evals.campaigns.report import UnitResult
from prowess.evals.ledger.caps import Spent

spent = []
with LiveProgress(cap_usd=2.0) as progress:
    # each run costs a dime more for the judge, and a call in doubt holds 5 cents
    progress.begin(3, lambda: Spent(usd=0.35 * len(spent), in_doubt_usd=0.05))
    for run, (configuration, outcome) in enumerate(
        (("with_skill", "passed"), ("without_skill", "failed"), ("with_skill", "error")), 1
    ):
        spent.append(run)
        progress.show(UnitResult(
            id=f"a\\x1b]0;x\\x07/{configuration}/run-{run}", eval="a", configuration=configuration, run=run,
            outcome=outcome, seconds=1.25, usd=0.25,
        ))
"""
LINES = [
    r"1 of 3 runs, $0.35 spent, $1.60 left: a\x1b]0;x\x07/with_skill/run-1: passed, 1.2 s",
    r"2 of 3 runs, $0.70 spent, $1.25 left: a\x1b]0;x\x07/without_skill/run-2: failed, 1.2 s",
    r"3 of 3 runs, $1.05 spent, $0.90 left: a\x1b]0;x\x07/with_skill/run-3: error, 1.2 s",
]


def test_a_pipe_gets_one_line_for_each_run() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr.splitlines()) == ("", LINES)


def test_a_terminal_gets_a_table_that_is_erased_at_the_end() -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stderr=theirs, env=environment, cwd=ROOT) as process:
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 65536):
                shown += part
        except OSError:  # the other end is closed
            pass
        assert process.wait(60) == 0
    os.close(ours)
    text = shown.decode()
    assert "\x1b]0;" not in text
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    assert "3 of 3 runs, $1.05 spent, $0.90 left" in plain
    assert re.search(r"with the skill +1/1 +100 %  21 to 100 % +1 error", plain)
    assert re.search(r"without the skill +0/1 +0 %  0 to 79 %", plain)
    assert text.rstrip().endswith("\x1b[2K")  # the last lines are erased


def test_runs_of_triggers_count_as_passed_if_the_choice_is_as_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    shown = [("triggered", True), ("not_triggered", True), ("not_triggered", False), ("error", False)]
    with LiveProgress(cap_usd=1.0, is_most=True) as progress:
        progress.begin(9, lambda: Spent(usd=0.25))
        for number, (verdict, wanted) in enumerate(shown, 1):
            unit = Unit(eval="request-1", configuration="sums\x1b[2J", run=number)
            run = TriggerRun(unit=unit.id, verdicts={"sums\x1b[2J": verdict, "other": "triggered"})  # type: ignore[dict-item]  # names
            progress.show_trigger(unit, run, TriggerQuery(query="sum\x1b[2J", should_trigger=wanted))
    lines = capsys.readouterr().err.splitlines()
    start = "1 of at most 9 runs, $0.25 spent, $0.75 left: "
    assert lines[0] == rf"{start}sums\x1b[2J/run-1: triggered (sums\x1b[2J, other), as wanted: sum\x1b[2J"
    assert lines[1].endswith(r"not_triggered (other), not as wanted: sum\x1b[2J")
    assert [row[1:] for row in progress._rows()] == [
        ("1/2", "50 %  9 to 91 %", ""),
        ("1/1", "100 %  21 to 100 %", "1 error"),
    ]
    assert [row[0] for row in progress._rows()] == [r"sums\x1b[2J: wanted", r"sums\x1b[2J: not wanted"]


def test_a_quiet_run_shows_nothing_and_an_unknown_total_is_left_out() -> None:
    result = UnitResult(id="a/with_skill/run-1", eval="a", configuration="with_skill", run=1, outcome="passed")
    with LiveProgress(quiet=True) as progress:
        progress.show(result)
    assert progress._state() == "1 run, $0.00 spent"
