"""How whole processes are measured."""

from __future__ import annotations

import sys

import pytest

from benchmarks.figures import Command, Figure, paired_ratio, spent

BUSY = "import time\nend = time.process_time() + 0.2\nwhile time.process_time() < end: pass"
ASLEEP = "import time; time.sleep(0.3)"
IN_A_CHILD = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BUSY!r}])"
# Ends with 2 if its home holds a file of an earlier run.
REMEMBERS = """
import os, sys
path = os.path.join(os.environ["PROWESS_HOME"], "seen")
if os.path.exists(path):
    sys.exit(2)
open(path, "w").close()
"""


def _python(text: str, *, fresh_home: bool = False) -> Command:
    return Command(arguments=[sys.executable, "-c", text], fresh_home=fresh_home)


def test_processor_time_counts_work_and_children_but_no_waiting() -> None:
    times = spent({"busy": _python(BUSY), "asleep": _python(ASLEEP), "in a child": _python(IN_A_CHILD)}, 1)
    assert times["busy"].processor >= 0.2
    assert times["in a child"].processor >= 0.2
    # Both start a Python, whose cost depends on the machine; only one of them works, for 0.2 seconds.
    assert times["busy"].processor - times["asleep"].processor > 0.1
    assert times["asleep"].wall > 0.2


def test_a_paired_ratio_has_ours_above_and_theirs_below() -> None:
    assert paired_ratio(_python(BUSY), _python(ASLEEP), 2) > 2
    assert paired_ratio(_python(ASLEEP), _python(BUSY), 2) < 0.5


def test_a_fresh_home_holds_nothing_of_an_earlier_run_and_a_kept_one_does() -> None:
    assert spent({"cold": _python(REMEMBERS, fresh_home=True)}, 2)["cold"].wall > 0
    with pytest.raises(RuntimeError, match="ended with 2"):
        spent({"second": _python(REMEMBERS)}, 1)


@pytest.mark.parametrize(
    ("value", "at_most", "at_least", "holds"),
    [(1, 2, None, True), (3, 2, None, False), (1, None, 2, False), (2, None, 2, True), (None, 2, None, None)],
)
def test_a_promise_is_compared_with_the_value(
    value: float | None, at_most: float | None, at_least: float | None, *, holds: bool | None
) -> None:
    assert Figure(name="a", value=value, at_most=at_most, at_least=at_least, note="b").holds is holds


def test_a_figure_without_a_promise_neither_holds_nor_fails() -> None:
    assert Figure(name="a", value=1, note="b").holds is None
