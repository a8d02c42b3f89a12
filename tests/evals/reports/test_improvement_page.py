"""The page of a search of `prowess eval improve`: what it shows, foreign data, and Chromium."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import to_builtins

from prowess.errors import InvalidArgumentsError
from prowess.evals.ledger.caps import Spent
from prowess.evals.reports.improve_view import IMPROVE_FILE, read_improvement
from prowess.evals.reports.page import improvement_page
from prowess.evals.statistics.intervals import rate_difference, rate_of
from tests.evals.reports.test_page_in_chromium import opened
from tests.fork_server import prowess

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

    from prowess.evals.optimising.report import ImproveReport

WORSE, BETTER = to_builtins(rate_of(3, 8)), to_builtins(rate_of(7, 8))
DIFF = "".join(
    f"{line}\n"
    for line in (
        *("--- a/SKILL.md", "+++ b/SKILL.md", "@@ -2,2 +2,2 @@"),
        *(" name: sums", "-description: Sums.", "+description: Sums rows and columns."),
    )
)


def a_search(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 -- JSON
    base = {
        "part": "description",
        "skill": "sums",
        "model": "openai:m",
        "proposer": "openai:n",
        "host": "prowess",
        "engine": "rounds",
        "estimate": False,
        "seed": 0,
        "complete": True,
        "stopped": None,
        "spent": to_builtins(Spent(usd=0.5, calls=90, input_tokens=9000, output_tokens=900)),
        "start": {"round": 0, "description": "Sums.", "train": WORSE, "validation": WORSE},
        "runs": 3,
        "rounds": [
            {"round": 1, "description": None, "outcome": "refused", "refused": ["it is empty"]},
            {
                "round": 2,
                "description": "Sums rows and columns.",
                "outcome": "better",
                "train": BETTER,
                "validation": BETTER,
                "removed": ["Think of red."],
            },
        ],
        "chosen": {"round": 2, "description": "Sums rows and columns.", "train": BETTER, "validation": BETTER},
        "delta": to_builtins(rate_difference(rate_of(3, 8), rate_of(7, 8))),
        "diff": DIFF,
        "lost": [{"query": "add up my week", "should_trigger": True, "split": "train"}],
        "leaked": [{"query": "total of may please now", "text": "total of may", "round": 1}],
        "nothing_failed": False,
        "written": False,
        "iteration": "/x/iteration-1",
    }
    return base | changes


def found_in(folder: Path, **changes: Any) -> ImproveReport:  # noqa: ANN401 -- JSON
    (folder / IMPROVE_FILE).write_text(json.dumps(a_search(**changes)), encoding="utf-8")
    found = read_improvement(str(folder))
    assert found is not None
    return found


def test_the_page_shows_the_rounds_the_change_what_was_lost_and_the_cost(tmp_path: Path) -> None:
    page = improvement_page(found_in(tmp_path), cap_usd=2.0)
    assert "A better description of sums is proposed: +50 points in validation (95 % interval +3 to +76)." in page
    assert "3 of 8: 38 % (14 to 69 %)" in page
    assert "7 of 8: 88 % (53 to 98 %)" in page
    assert "Round 1: refused" in page
    assert '<li class="new">+description: Sums rows and columns.</li>' in page
    assert '<li class="old">-description: Sums.</li>' in page
    assert "add up my week (train)" in page
    assert "round 1, request: total of may" in page
    assert "round 2: Think of red." in page
    assert "round 1: it is empty" in page
    assert "$0.50 spent of a cap of $2.00" in page
    assert "Lost: 1 case passed at first and not with the new text." in page


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"chosen": None, "delta": None, "diff": ""}, "sums: nothing better was found."),
        ({"chosen": None, "nothing_failed": True}, "sums: nothing failed in training."),
        ({"complete": False, "stopped": "cost_cap"}, "The search is not complete (cost_cap); --resume goes on."),
        ({"estimate": True}, "this is an estimate"),
        ({"written": True}, "which is written"),
        ({"notes": ["eval 7 is left out"], "lost": [{"eval": "7", "split": "train"}]}, "<li>7 (train)</li>"),
        ({"start": None, "rounds": []}, "Each round"),
    ],
)
def test_each_end_of_a_search_is_told(changes: dict[str, Any], told: str, tmp_path: Path) -> None:
    assert told in improvement_page(found_in(tmp_path, **changes))


def test_a_report_of_any_size_and_text_makes_a_page_below_300_kilobytes_without_its_markup(tmp_path: Path) -> None:
    bad = "<script>alert(1)</script>\u202e\x1b[2J" * 40
    one = a_search()["rounds"][1] | {"refused": [bad] * 3, "removed": [bad] * 3}
    page = improvement_page(
        found_in(
            tmp_path,
            skill=bad,
            rounds=[one] * 100,
            diff=f"+{bad}\n" * 500,
            lost=[{"query": bad, "should_trigger": True, "split": "train"}] * 300,
            leaked=[{"query": bad, "text": bad, "round": 1}] * 300,
            delta={"mean": 1e308, "low": -1e308, "high": 1e308},
        )
    )
    assert len(page.encode()) < 300_000
    assert "<script" not in page
    assert "\u202e" not in page
    assert "\x1b" not in page


def test_another_folder_is_none_and_a_broken_report_is_refused(tmp_path: Path) -> None:
    assert read_improvement(str(tmp_path)) is None
    (tmp_path / IMPROVE_FILE).write_text('{"skill": 1}')
    with pytest.raises(InvalidArgumentsError, match="is no report of prowess eval improve"):
        read_improvement(str(tmp_path))


def test_the_command_writes_the_page_and_refuses_what_a_search_has_not(tmp_path: Path) -> None:
    found_in(tmp_path)

    def report(*words: str) -> tuple[int, str, str]:
        command = [prowess(), "eval", "report", ".", *words]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        return ran.returncode, ran.stdout, ran.stderr

    code, text, _ = report("--out", "page.html")
    headline = (tmp_path / "page.html").read_text(encoding="utf-8").split('<h1 class="good">')[1].split("</h1>")[0]
    assert (code, text.splitlines()[0]) == (0, headline)
    code, _, error = report("--junit", "j.xml")
    assert (code, "which has a page alone" in error) == (2, True)
    code, text, _ = report("--json")
    assert (code, json.loads(text)["chosen"]["round"]) == (0, 2)


@pytest.mark.unmeasured
def test_the_page_has_no_barrier_in_a_browser(chromium: Browser, tmp_path: Path) -> None:
    found = found_in(tmp_path, estimate=True, diff=DIFF + "+" + "long " * 100 + "\n")
    path = tmp_path / "page.html"
    path.write_text(improvement_page(found, cap_usd=2.0), encoding="utf-8")
    assert opened(chromium, path, "light", 320) == ([], [path.as_uri()])
    assert opened(chromium, path, "dark", 1040) == ([], [path.as_uri()])
