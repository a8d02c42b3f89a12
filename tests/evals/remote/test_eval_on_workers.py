"""`prowess eval run --on`, on a real scheduler with two workers and a provider that counts.

`PROWESS_DASK_KILLS=20` kills a worker in the middle of as many campaigns. `PROWESS_DASK_CAPS=20` draws as many caps.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from prowess.adapters.dask import DaskBatch
from prowess.cli.dispatch import run
from prowess.evals.campaigns.options import EvalRunOptions
from prowess.evals.campaigns.running import run_evals
from prowess.evals.ledger.caps import Caps
from prowess.evals.ledger.prices import Price
from tests.evals.campaigns.provider import MODEL, USAGE
from tests.evals.campaigns.skills import an_eval, skill_at
from tests.evals.remote.campaigns_on_workers import CALLS, TWO_DECIMALS, UNITS, machines, run_on, skill_with_evals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.evals.campaigns.report import UnitResult
    from tests.evals.remote.campaigns_on_workers import Machines

KILLS = int(os.environ.get("PROWESS_DASK_KILLS", "1"))
CAPS = int(os.environ.get("PROWESS_DASK_CAPS", "1"))
SEED = int(os.environ.get("PROWESS_DASK_SEED", "1"))
PRICE = Price.parse("1/2")


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    with machines(tmp_path_factory.mktemp("dask")) as running:
        yield running


def paid(two: Machines, before: int = 0) -> int:
    return len(two.provider.requests) - before


@pytest.mark.parametrize("kill", range(KILLS))
def test_a_killed_worker_loses_and_doubles_no_unit_and_at_most_one_call_is_paid_twice(
    two: Machines, tmp_path: Path, kill: int
) -> None:
    drawn = random.Random(SEED * 1000 + kill)
    skill, before = skill_with_evals(tmp_path), paid(two)
    at, wait = drawn.randint(3, CALLS - 6), drawn.uniform(0, 0.1)
    victim = two.cluster.workers.pop(drawn.randrange(2))

    def killing(number: int) -> None:
        if number == at:
            time.sleep(wait)
            victim.kill()

    seen: list[UnitResult] = []
    with DaskBatch(two.cluster.address) as engine, two.watched(killing):
        assert engine.at_once == 2
        report = run_on(engine, skill, seen.append, price=PRICE).report
    two.cluster.start_workers(1)
    assert victim.wait(10) == -signal.SIGKILL
    assert report.complete
    assert Counter(result.id for result in seen) == Counter({unit.id: 1 for unit in report.units})
    assert len(report.units) == UNITS
    assert {unit.id: unit.outcome for unit in report.units} == {
        unit.id: "passed" if unit.configuration == "with_skill" else "failed" for unit in report.units
    }
    calls = paid(two, before)
    print(f"kill {kill}: at call {at}, {calls - CALLS} calls paid twice")  # noqa: T201 -- the figures of a full run
    assert CALLS <= calls <= CALLS + 1
    assert calls <= report.spent.calls <= CALLS + 1  # one that was booked and never left stays in doubt
    assert report.spent.input_tokens == 100 * CALLS
    for unit in report.units:
        kept = json.loads((Path(report.iteration) / str(unit.directory) / "unit.json").read_text())
        assert (kept["id"], kept["outcome"]) == (unit.id, unit.outcome)
    assert not (Path(report.iteration) / ".units").exists()


@pytest.mark.parametrize("draw", range(CAPS))
def test_a_cap_on_cost_holds_over_all_workers(
    two: Machines, tmp_path: Path, draw: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(USAGE, "prompt_tokens", 9000)  # close to what is reserved: 10 549 to 15 966
    drawn = random.Random(SEED * 1000 + draw)
    usd, bill, most_reserved = drawn.uniform(0.04, 0.18), 0.00902, 0.0162
    skill, before = skill_with_evals(tmp_path), paid(two)
    given: dict[str, Any] = {"price": PRICE, "max_output_tokens": 20}
    with DaskBatch(two.cluster.address) as engine:
        capped = run_on(engine, skill, caps=Caps(usd=usd), **given).report
        billed = bill * paid(two, before)
        print(f"cap {draw}: {usd:.3f} dollars, {billed / usd:.0%} of it billed")  # noqa: T201 -- the figures of a full run
        assert capped.stopped == "cost_cap"
        assert capped.spent.usd == pytest.approx(billed)
        assert capped.spent.in_doubt_usd == 0
        assert usd - most_reserved < billed <= usd
        resumed = run_on(engine, skill, resume=True, **given).report
    assert resumed.complete
    assert resumed.spent.calls == paid(two, before) == CALLS


def test_a_call_waits_for_what_another_worker_has_reserved(two: Machines, tmp_path: Path) -> None:
    skill, before = skill_with_evals(tmp_path), paid(two)
    room_for_one = Caps(usd=0.02)  # all calls together cost 0.0029, and 0.0106 to 0.0160 are reserved for each
    with DaskBatch(two.cluster.address) as engine:
        report = run_on(engine, skill, caps=room_for_one, price=PRICE, max_output_tokens=20).report
        assert (report.complete, paid(two, before)) == (True, CALLS)
        few = run_on(engine, skill, caps=Caps(calls=5)).report
    assert (few.stopped, few.spent.calls, paid(two, before)) == ("call_cap", 5, CALLS + 5)


def test_a_signal_ends_the_campaign_on_the_workers_too_and_it_can_be_resumed(two: Machines, tmp_path: Path) -> None:
    skill, before = skill_with_evals(tmp_path), paid(two)
    words = ["eval", "run", str(skill), "--model", MODEL, "--runs", "2", "--json"]
    on = ["--on", two.cluster.address]
    process = subprocess.Popen([sys.executable, "-m", "prowess", *words, *on], stdout=subprocess.PIPE, text=True)

    def stopping(number: int) -> None:
        if number == 5:
            process.send_signal(signal.SIGINT)

    with two.watched(stopping):
        out, _ = process.communicate(timeout=120)
    assert process.returncode == 128 + signal.SIGINT
    report = json.loads(out)
    assert (report["stopped"], report["complete"]) == ("signal", False)
    time.sleep(2.5)  # the workers look once a second
    now = paid(two, before)
    assert now < CALLS
    time.sleep(1)
    assert paid(two, before) == now
    with DaskBatch(two.cluster.address) as engine:
        resumed = run_on(engine, skill, resume=True).report
    assert resumed.complete
    assert paid(two, before) <= CALLS + 2  # one call in flight on each worker


def test_other_hosts_run_on_workers_that_have_them(two: Machines, tmp_path: Path) -> None:
    used = {"text": "used", "type": "tool_used", "tool": "Skill"}
    skill = str(skill_at(tmp_path, an_eval(1, TWO_DECIMALS, used)))
    options = EvalRunOptions(path=skill, host="claude", baseline="none", runs=2, price=PRICE, caps=Caps(calls=20))
    with DaskBatch(two.cluster.address) as engine:
        report = run_evals(options, engine=engine).report
    assert [(unit.outcome, unit.activated) for unit in report.units] == [("passed", True)] * 2
    assert report.spent.calls == 4


def test_no_more_units_are_begun_after_the_decision(two: Machines, tmp_path: Path) -> None:
    skill = skill_with_evals(tmp_path)
    with DaskBatch(two.cluster.address) as engine:
        report = run_on(engine, skill, until_decided=True, detect=0.9, runs=6).report
    assert report.summary.decision == "better"
    assert any(unit.outcome == "not_run" for unit in report.units)


def test_the_command_prints_one_sentence_about_what_workers_cannot_do(
    two: Machines, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    skill = str(skill_with_evals(tmp_path))
    cases = {
        ("--on", "127.0.0.1:1"): (2, "--on must be tcp://HOST:PORT"),
        ("--on", "tcp://127.0.0.1:1", "--replay", "nowhere"): (2, "a replay asks no model"),
        ("--on", two.cluster.address): (2, "name the model with --model"),
        ("--on", two.cluster.address, "--model", "nobody:x"): (2, "nobody"),
        ("--on", two.cluster.address, "--host", "nobody"): (2, "nobody"),
    }
    for words, (code, text) in cases.items():
        assert run(["eval", "run", skill, *words]) == code
        error = capfd.readouterr().err
        assert text in error
        assert "Traceback" not in error
    assert not (tmp_path / "sums-workspace" / "iteration-3").exists()
