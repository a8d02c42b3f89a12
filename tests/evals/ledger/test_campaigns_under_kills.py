"""Money, counted at the provider: campaigns that are killed at random moments, and caps drawn at random."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.evals.ledger.counting_provider import CALLS_OF_A_UNIT, PRICE, Counts, counting_provider

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("pydantic_ai.models.openai", reason="OpenAI's client is not installed")
pytestmark = pytest.mark.unmeasured  # the code runs in processes that are killed

CAMPAIGNS = int(os.environ.get("PROWESS_LEDGER_CAMPAIGNS", "1"))
KILLS = int(os.environ.get("PROWESS_LEDGER_KILLS", "3"))  # of all campaigns together
CAPS = int(os.environ.get("PROWESS_LEDGER_CAPS", "1"))
SEED = int(os.environ.get("PROWESS_LEDGER_SEED", "1"))
UNITS = 12 if KILLS < 50 else 40
ROOT = Path(__file__).parents[3]


class _Launcher:
    """Runs campaigns in children of one process; each can be killed."""

    def __init__(self, url: str) -> None:
        self._url = url
        command = [sys.executable, "-m", "tests.evals.ledger.campaign_process"]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        assert self._line() == "ready"

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def run(self, order: dict[str, Any], *, kill_after: float | None = None) -> int:
        """Run one campaign and return its exit status; kill it after so many seconds if it still runs."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"url": self._url, "price": PRICE, **order}) + "\n")
        self._process.stdin.flush()
        child = int(self._line())
        if kill_after is not None:
            time.sleep(kill_after)
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


def _results(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "results.jsonl").read_text(encoding="utf-8").splitlines()]


def test_every_unit_has_one_result_and_only_calls_in_flight_at_a_kill_are_paid_again(
    provider: tuple[_Launcher, Counts], tmp_path: Path
) -> None:
    launcher, counts = provider
    draw = random.Random(SEED)
    killed = again = bound = campaigns = 0
    while killed < KILLS or campaigns < CAMPAIGNS:
        campaigns += 1
        counts.clear()
        out = tmp_path / f"campaign-{campaigns}"
        out.mkdir()
        jobs = draw.randint(1, 8)
        order = {"out": str(out), "units": UNITS, "jobs": jobs, "most": 64}
        kills = 0
        for _ in range(-(-KILLS // CAMPAIGNS)):
            if launcher.run(order, kill_after=draw.uniform(0.02, 1.0)) != -signal.SIGKILL:
                break  # it was done before
            kills += 1
        assert launcher.run(order) == 0
        results = _results(out)
        units = [f"unit-{number}" for number in range(UNITS)]
        assert sorted(result["unit"] for result in results) == sorted(units)
        assert {result["text"] for result in results} == {f"Done with {unit}." for unit in units}
        assert counts.calls.keys() == {(unit, turn) for unit in units for turn in range(CALLS_OF_A_UNIT)}
        assert counts.again <= kills * jobs
        usd, in_doubt, stopped = json.loads((out / "spent.json").read_text(encoding="utf-8"))
        assert (round((usd + in_doubt) * 1e9) >= counts.nano_usd, stopped) == (True, None)
        killed, again, bound = killed + kills, again + counts.again, bound + kills * jobs
    print(f"{campaigns} campaigns, {killed} kills: {again} calls paid again, bound {bound}")  # noqa: T201 -- the figure


def test_no_cap_is_overrun_and_a_cap_of_many_calls_is_used(provider: tuple[_Launcher, Counts], tmp_path: Path) -> None:
    launcher, counts = provider
    draw = random.Random(SEED)
    shares: list[float] = []
    reached = 0
    for number in range(CAPS):
        counts.clear()
        out = tmp_path / f"cap-{number}"
        out.mkdir()
        cap = draw.uniform(0.006, 0.12) if CAPS > 10 else draw.uniform(0.05, 0.07)
        order = {
            "out": str(out),
            "units": 60,
            "jobs": draw.randint(1, 8),
            "most": draw.choice([32, 64, 256]),
            "usd": cap,
        }
        assert launcher.run(order) == 0
        usd, in_doubt, stopped = json.loads((out / "spent.json").read_text(encoding="utf-8"))
        assert counts.usd <= cap
        assert usd + in_doubt <= cap
        if stopped is not None:
            reached += 1
            if counts.paid and cap / (counts.usd / counts.paid) >= 30:
                shares.append(counts.usd / cap)
    used = f"{min(shares):.2f} to {max(shares):.2f}"
    print(f"{CAPS} caps, {reached} reached; of caps of 30 calls or more, used: {used}")  # noqa: T201 -- the figure
    assert all(share >= 0.7 for share in shares)
