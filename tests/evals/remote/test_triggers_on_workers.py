"""`prowess eval triggers --on`, on a real scheduler with two workers, and on an engine in this process."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from prowess.adapters.dask import DaskBatch
from prowess.cli.dispatch import run
from prowess.errors import InvalidArgumentsError, UnavailableError
from prowess.evals.ledger.caps import Caps
from prowess.evals.remote.trigger_units import run_trigger_unit
from prowess.evals.triggers.trigger_run import TriggerRunOptions, run_triggers
from tests.evals.campaigns.provider import MODEL
from tests.evals.remote.campaigns_on_workers import machines
from tests.evals.remote.here_engine import HereEngine
from tests.evals.triggers.planted import make_triggered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.evals.campaigns.report import Unit
    from prowess.evals.triggers.trigger_runs import TriggerRun
    from prowess.evals.triggers.trigger_set import TriggerQuery
    from tests.evals.campaigns.provider import Answer, Request
    from tests.evals.remote.campaigns_on_workers import Machines

QUERIES = [
    ("sum the rows", True),
    ("sum this column", True),
    ("sing", False),
    ("dance", False),
    ("use the skill sums", True),
]
CALLS = 3 * (2 + 2 + 1 + 1)  # a choice is two calls, and the last request names the skill


def choosing(request: Request) -> Answer:
    task = next(str(message["content"]) for message in request["messages"] if message["role"] == "user")
    asked_before = any(message["role"] == "assistant" for message in request["messages"])
    return "Done." if asked_before or "sum" not in task else [("skills_load", {"names": ["sums"]})]


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    with machines(tmp_path_factory.mktemp("dask")) as running:
        running.rule = choosing
        yield running


@pytest.fixture
def skill(tmp_path: Path) -> str:
    return make_triggered(tmp_path, "sums", "Sums rows of files.", QUERIES)


def test_a_killed_worker_loses_and_doubles_no_run_of_a_request(two: Machines, skill: str) -> None:
    before = len(two.provider.requests)
    options = TriggerRunOptions(paths=(skill,), model=MODEL, all_runs=True)
    victim = two.cluster.workers.pop()
    seen: list[str] = []

    def killing(number: int) -> None:
        if number == 6:
            time.sleep(0.02)
            victim.kill()

    def on_run(unit: Unit, ran: TriggerRun, query: TriggerQuery) -> None:
        seen.append(ran.unit)
        assert ran.unit == unit.id
        assert query.query

    with DaskBatch(two.cluster.address) as engine, two.watched(killing):
        report = run_triggers(options, engine=engine, on_run=on_run).report
    assert victim.wait(10) < 0
    assert report.complete
    assert set(Counter(seen).values()) == {1}
    assert len(seen) == 12
    assert [row.triggers for row in report.skills[0].results] == [3, 3, 0, 0, 0]
    calls = len(two.provider.requests) - before
    assert CALLS <= calls <= CALLS + 1
    assert calls <= report.spent.calls <= CALLS + 1  # one that was booked and never left stays in doubt
    assert report.iteration is not None
    assert len([*Path(report.iteration).rglob("verdicts.json")]) == 12
    assert not (Path(report.iteration) / ".units").exists()


def test_the_command_runs_them_on_workers(two: Machines, skill: str, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["eval", "triggers", skill, "--json", "--on", two.cluster.address]
    assert run([*words, "--model", MODEL, "--max-calls", "5"]) == 5
    report = json.loads(capfd.readouterr().out)
    assert (report["stopped"], report["spent"]["calls"]) == ("call_cap", 5)
    for more, text in {
        ("--host", "match"): "an estimate asks no model",
        ("--replay", report["iteration"]): "a replay asks no model",
        (): "name the model with --model",
    }.items():
        assert run([*words, *more]) == 2
        assert text in capfd.readouterr().err


def test_runs_on_an_engine_have_the_verdicts_of_this_process(
    two: Machines, skill: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in two.provider.environment.items():
        monkeypatch.setenv(name, value)
    engine, before = HereEngine(), len(two.provider.requests)
    options = TriggerRunOptions(paths=(skill,), model=MODEL, caps=Caps(calls=100))
    assert run_triggers(options, engine=engine).report.skills == run_triggers(options).report.skills
    calls = len(two.provider.requests) - before
    with pytest.raises(UnavailableError, match="does not see that its command runs in it"):
        run_trigger_unit(engine.tasks[0])
    with pytest.raises(UnavailableError, match="its Prowess has the version"):
        run_trigger_unit(replace(engine.tasks[0], version="0.0.1"))
    assert len(two.provider.requests) - before == calls

    def change(task: object) -> None:
        next(Path(skill).parent.glob("sums-workspace/iteration-3/skill/*/sums/SKILL.md")).write_text("another\n")

    with pytest.raises(UnavailableError, match=r"the file sums/SKILL.md .it differs on the worker on"):
        run_triggers(options, engine=HereEngine(change))
    with pytest.raises(InvalidArgumentsError, match="name the model"):
        run_triggers(TriggerRunOptions(paths=(skill,)), engine=engine)
