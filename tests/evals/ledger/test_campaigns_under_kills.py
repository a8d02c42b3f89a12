"""Money, counted at the provider: `prowess eval run` killed at random moments, and with caps drawn at random."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from prowess.cli import exit_codes
from tests.evals.ledger.counting_provider import CALLS_OF_A_UNIT, PRICE, Counts, counting_provider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytest.importorskip("pydantic_ai.models.openai", reason="OpenAI's client is not installed")
pytestmark = pytest.mark.unmeasured  # the code runs in processes that are killed

CAMPAIGNS = int(os.environ.get("PROWESS_LEDGER_CAMPAIGNS", "1"))
KILLS = int(os.environ.get("PROWESS_LEDGER_KILLS", "3"))  # of all campaigns together
CAPS = int(os.environ.get("PROWESS_LEDGER_CAPS", "1"))
SEED = int(os.environ.get("PROWESS_LEDGER_SEED", "1"))
EVALS, RUNS = (8, 1) if KILLS < 50 else (20, 2)
ROOT = Path(__file__).parents[3]


class _Launcher:
    """Runs `prowess eval run` in children of one process; each can be killed."""

    def __init__(self, url: str) -> None:
        environment = {**os.environ, "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"}
        command = [sys.executable, "-m", "tests.evals.ledger.campaign_process"]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, text=True)
        assert self._line() == "ready"

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def run(self, place: Path, *further: str, kill: Callable[[], bool] | None = None) -> int:
        """Run one campaign and return its exit status; kill it as soon as `kill` says so, if it still runs."""
        assert self._process.stdin is not None
        model = ("--model", "openai-chat:gpt-4.1-mini", "--price", PRICE)
        arguments = ["eval", "run", f"{place}/csv-report", *model, "--baseline", "none", "--resume", "--json", *further]
        order = {"arguments": [*arguments, "--out", str(place)], "report": f"{place}/report.json"}
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        child = int(self._line())
        with suppress(ProcessLookupError):  # it was done before
            while kill is not None and not kill():
                time.sleep(0.002)
                os.kill(child, 0)
            if kill is not None:
                os.kill(child, signal.SIGKILL)
        return int(self._line())

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()


@pytest.fixture(scope="module")
def provider() -> Iterator[tuple[_Launcher, Counts]]:
    with counting_provider() as (url, counts):
        launcher = _Launcher(url)
        yield launcher, counts
        launcher.close()


def _place(directory: Path, evals: int) -> Path:
    """Make a directory with a skill and its evals."""
    skill = directory / "csv-report"
    shutil.copytree(ROOT / "examples" / "skills" / "csv-report", skill)
    listed = [
        {
            "id": number,
            "prompt": f"Work at unit-{number}.",
            "expected_output": "Done.",
            "assertions": [
                {"text": "It is done", "type": "contains_phrase", "phrase": f"Done with unit-{number}."},
            ],
        }
        for number in range(evals)
    ]
    (skill / "evals").mkdir(exist_ok=True)
    (skill / "evals" / "evals.json").write_text(
        json.dumps({"skill_name": "csv-report", "evals": listed}), encoding="utf-8"
    )
    return directory


def _after_some_calls(counts: Counts, draw: random.Random) -> Callable[[], bool]:
    """Return when to kill: a random time after a random number of further calls, which may be none."""
    calls = counts.paid + draw.randint(0, 2 * EVALS * RUNS * CALLS_OF_A_UNIT * CAMPAIGNS // KILLS)
    pause = draw.uniform(0, 0.06)
    reached: list[float] = []

    def kill() -> bool:
        if counts.paid >= calls and not reached:
            reached.append(time.monotonic())
        return bool(reached) and time.monotonic() >= reached[0] + pause

    return kill


def _report(place: Path) -> dict[str, Any] | None:
    """Return the report of the newest iteration; None if it is not finished."""
    workspace = place / "csv-report-workspace"
    iterations = [path.name for path in workspace.iterdir()] if workspace.exists() else []
    if not iterations:
        return None
    newest = workspace / f"iteration-{max(int(name.removeprefix('iteration-')) for name in iterations)}"
    try:
        report: dict[str, Any] = json.loads((newest / "report.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return report


def test_every_unit_has_one_result_and_only_calls_in_flight_at_a_kill_are_paid_again(
    provider: tuple[_Launcher, Counts], tmp_path: Path
) -> None:
    launcher, counts = provider
    draw = random.Random(SEED)
    killed = again = bound = campaigns = 0
    while killed < KILLS or campaigns < CAMPAIGNS:
        campaigns += 1
        counts.clear()
        place = _place(tmp_path / f"campaign-{campaigns}", EVALS)
        jobs = draw.randint(1, 8)
        options = ("--jobs", str(jobs), "--runs", str(RUNS), "--max-output-tokens", "64")
        kills = 0
        for _ in range(-(-KILLS // CAMPAIGNS)):
            if _report(place) is not None:
                break
            if launcher.run(place, *options, kill=_after_some_calls(counts, draw)) != -signal.SIGKILL:
                break  # it was done before
            kills += 1
        if _report(place) is None:  # a campaign that is complete would begin a new iteration
            assert launcher.run(place, *options) == 0
        report = _report(place)
        assert report is not None
        units = sorted(f"{number}/with_skill/run-{run}" for number in range(EVALS) for run in range(1, RUNS + 1))
        assert (report["complete"], sorted(unit["id"] for unit in report["units"])) == (True, units)
        assert {unit["outcome"] for unit in report["units"]} == {"passed"}
        needed = {(f"unit-{number}", turn): RUNS for number in range(EVALS) for turn in range(CALLS_OF_A_UNIT)}
        assert counts.calls.keys() == needed.keys()
        paid_again = sum(counts.calls[call] - times for call, times in needed.items())
        assert min(counts.calls[call] - times for call, times in needed.items()) >= 0
        assert paid_again <= kills * jobs
        spent = report["spent"]
        assert round((spent["usd"] + spent["in_doubt_usd"]) * 1e9) >= counts.nano_usd
        killed, again, bound = killed + kills, again + paid_again, bound + kills * jobs
        shutil.rmtree(place)
    print(f"{campaigns} campaigns, {killed} kills: {again} calls paid again, bound {bound}")  # noqa: T201 -- the figure


def test_no_cap_is_overrun_and_a_cap_of_many_calls_is_used(provider: tuple[_Launcher, Counts], tmp_path: Path) -> None:
    launcher, counts = provider
    draw = random.Random(SEED)
    shares: list[float] = []
    reached = 0
    for number in range(CAPS):
        counts.clear()
        place = _place(tmp_path / f"cap-{number}", 40)
        cap = draw.uniform(0.024, 0.6) if CAPS > 10 else draw.uniform(0.22, 0.26)
        jobs, most = draw.randint(1, 8), draw.choice([32, 64, 256])
        options = ("--jobs", str(jobs), "--runs", "1", "--max-output-tokens", str(most))
        status = launcher.run(place, *options, "--max-cost-usd", str(cap))
        report = _report(place)
        assert report is not None
        spent = report["spent"]
        assert counts.usd <= cap
        assert spent["usd"] + spent["in_doubt_usd"] <= cap
        assert spent["calls"] == counts.paid
        if status == exit_codes.CAPPED:
            assert report["stopped"] == "cost_cap"
            reached += 1
            if counts.paid and cap / (counts.usd / counts.paid) >= 30:
                shares.append(counts.usd / cap)
        else:
            assert status == 0
        shutil.rmtree(place)
    used = f"{min(shares):.2f} to {max(shares):.2f}"
    print(f"{CAPS} caps, {reached} reached; {len(shares)} of 30 calls or more, used: {used}")  # noqa: T201 -- the figure
    assert all(share >= 0.7 for share in shares)
