"""A unit on a worker: with the files of the command, as long as the command runs, and once."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from msgspec.structs import replace

from prowess._internal.files.file_lock import locked
from prowess.errors import InvalidArgumentsError, UnavailableError
from prowess.evals.ablation.by_evals import ablate_by_evals
from prowess.evals.campaigns.iterations import Iteration
from prowess.evals.campaigns.options import EvalRunOptions
from prowess.evals.campaigns.running import run_evals
from prowess.evals.iterations.fence import Fence, alone_in, unit_lock
from prowess.evals.iterations.folders import new_iteration
from prowess.evals.remote.campaign_units import forget_locks, within_campaign
from prowess.evals.remote.eval_units import EvalUnit, run_eval_unit
from tests.evals.campaigns.provider import MODEL, ScriptedProvider, obedient
from tests.evals.campaigns.skills import PHRASE, an_eval, skill_at
from tests.evals.remote.here_engine import HereEngine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.evals.campaigns.report import UnitResult
    from prowess.evals.remote.engine import CancellableEngine

TWO_DECIMALS = {"text": "two decimals", "type": "contains_phrase", "phrase": "12.50"}


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedProvider]:
    with ScriptedProvider(obedient) as serving:
        for name, value in serving.environment.items():
            monkeypatch.setenv(name, value)
        yield serving


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    return skill_at(tmp_path, an_eval(1, TWO_DECIMALS, files=["data.csv"]), an_eval(2, TWO_DECIMALS))


def run_on(engine: CancellableEngine | None, skill: Path, **options: Any) -> tuple[UnitResult, ...]:  # noqa: ANN401 -- each test names its options
    (skill / "data.csv").write_text("1\n")
    report = run_evals(EvalRunOptions(path=str(skill), model=MODEL, runs=1, **options), engine=engine).report
    return tuple(replace(unit, seconds=0.0) for unit in report.units)


def test_units_on_an_engine_have_the_results_of_this_process(provider: ScriptedProvider, skill: Path) -> None:
    engine = HereEngine()
    assert run_on(engine, skill) == run_on(None, skill)
    assert len(engine.tasks) == 4
    assert {task.plan.prompt for task in engine.tasks} == {"Sum it up"}
    assert {plan.prompt for task in engine.tasks for plan in task.prepared.evals} == {""}  # only its own is sent
    assert len(provider.requests) == 12


def test_a_worker_begins_nothing_if_no_command_runs_in_the_folder(provider: ScriptedProvider, skill: Path) -> None:
    engine = HereEngine()
    run_on(engine, skill)
    calls = len(provider.requests)
    task: EvalUnit = engine.tasks[0]
    with pytest.raises(UnavailableError, match=r"the folder .*iteration-1 \(the worker on .* does not see that i"):
        run_eval_unit(task)
    elsewhere = Iteration(path=task.prepared.iteration.path + "0", flat=True)
    fence = Fence(iteration=elsewhere.path, mark=task.fence.mark)
    with pytest.raises(UnavailableError, match="share it with each worker"):
        run_eval_unit(replace(task, fence=fence, prepared=replace(task.prepared, iteration=elsewhere)))
    with pytest.raises(UnavailableError, match="its Prowess has the version"):
        run_eval_unit(replace(task, version="0.0.1"))
    assert len(provider.requests) == calls


@pytest.mark.parametrize("changed", ["snapshot", "file of the eval", "program"])
def test_a_worker_that_sees_other_files_ends_the_campaign(
    provider: ScriptedProvider, skill: Path, changed: str
) -> None:
    def change(task: EvalUnit) -> None:
        own = Path(task.prepared.skills["with_skill"][0]) / "SKILL.md"
        (own if changed == "snapshot" else skill / name).write_text("another\n")

    name = {"snapshot": "with_skill/sums/SKILL.md", "program": "check.py"}.get(changed, "data.csv")
    if changed == "program":
        skill_at(skill.parent, an_eval(1, {"text": "checked", "type": "program", "path": "check.py"}))
        (skill / "check.py").write_text("print('no')\n")
    with pytest.raises(UnavailableError, match=f"the file {name} .it differs on the worker on .* share the folders"):
        run_on(HereEngine(change), skill)
    assert provider.requests == []


def test_a_unit_that_another_worker_still_runs_is_waited_for_and_not_run_again(
    provider: ScriptedProvider, skill: Path
) -> None:
    engine = HereEngine()
    run_on(engine, skill)
    calls = len(provider.requests)
    task: EvalUnit = engine.tasks[0]
    folder = task.prepared.iteration.path
    order: list[str] = []

    def other() -> None:
        async def run() -> None:
            order.append("other begins")
            begun.set()
            await anyio.sleep(1.2)
            order.append("other ends")

        anyio.run(within_campaign, fence, task.unit.id, run)

    begun = threading.Event()
    with alone_in(folder) as fence:
        task = replace(task, fence=fence)
        worker = threading.Thread(target=other)
        worker.start()
        assert begun.wait(10)
        result = run_eval_unit(task)
        order.append("second ends")
        worker.join()
    assert order == ["other begins", "other ends", "second ends"]
    assert result == task.prepared.iteration.kept(task.unit, task.plan.directory)
    assert len(provider.requests) == calls


def test_work_ends_with_the_command_that_began_it(tmp_path: Path) -> None:
    folder = new_iteration(str(tmp_path))
    ended: list[float] = []

    async def endless() -> None:
        try:
            await anyio.sleep(60)
        finally:
            ended.append(time.monotonic())

    with ExitStack() as held:
        fence = held.enter_context(alone_in(folder))
        assert fence.holds()
        threading.Timer(0.5, held.close).start()
        begun = time.monotonic()
        with pytest.raises(UnavailableError, match="does not see that its command runs in it"):
            anyio.run(within_campaign, fence, "1", endless)
    assert not fence.holds()
    assert 0.4 < ended[0] - begun < 30
    forget_locks(folder)
    assert not (Path(folder) / ".units").exists()


@pytest.mark.parametrize("unit", ["1/with_skill/run-1", "../../up", "\ud800", "x" * 5000])
def test_a_unit_of_any_id_has_a_lock_in_the_folder(tmp_path: Path, unit: str) -> None:
    folder = new_iteration(str(tmp_path))

    async def work() -> list[str]:
        return [path.name for path in (Path(folder) / ".units").iterdir()]

    with alone_in(folder) as fence:
        (name,) = anyio.run(within_campaign, fence, unit, work)
    assert len(name) == 32


def test_what_the_work_raises_is_raised_as_it_is(tmp_path: Path) -> None:
    folder = new_iteration(str(tmp_path))

    async def wrong() -> None:
        raise ValueError("wrong")

    with alone_in(folder) as fence, pytest.raises(ValueError, match="wrong"):
        anyio.run(within_campaign, fence, "1", wrong)
    assert not replace(fence, iteration=str(tmp_path / "nowhere")).holds()


def test_an_ablation_on_an_engine_finds_what_this_process_finds(provider: ScriptedProvider, tmp_path: Path) -> None:
    body = f"{PHRASE}\n\nPeople like to read sums in the morning, before they have had their coffee."
    skill = str(skill_at(tmp_path, an_eval(1, TWO_DECIMALS), body=body))
    engine = HereEngine()
    options = EvalRunOptions(path=skill, model=MODEL, runs=4)
    alone = ablate_by_evals(options, "sentence").report
    there = ablate_by_evals(options, "sentence", engine=engine).report
    assert there.units == alone.units
    assert [unit.verdict for unit in there.units] == ["needed", "no_effect"]
    assert there.spent == alone.spent
    assert len(provider.requests) == 2 * there.spent.calls
    assert len({task.prepared.skills[task.unit.configuration] for task in engine.tasks}) == 3
    with pytest.raises(InvalidArgumentsError, match="name the model"):
        ablate_by_evals(EvalRunOptions(path=skill), "sentence", engine=engine)


def test_the_next_command_waits_for_workers_of_the_last_which_end_at_once(tmp_path: Path) -> None:
    folder = new_iteration(str(tmp_path))
    begun, order = threading.Event(), []

    async def endless() -> None:
        begun.set()
        try:
            await anyio.sleep(60)
        finally:
            order.append("worker ends")

    def worker(fence: Fence) -> None:
        with pytest.raises(UnavailableError, match="does not see that its command runs"):
            anyio.run(within_campaign, fence, "1", endless)

    with alone_in(folder) as last:
        running = threading.Thread(target=worker, args=(last,))
        running.start()
        assert begun.wait(10)
    with alone_in(folder) as fence:  # before the worker looks again
        order.append("command begins")
        assert fence.holds()
        assert not last.holds()
        with pytest.raises(UnavailableError):
            anyio.run(within_campaign, last, "2", endless)
    running.join()
    assert order == ["worker ends", "command begins"]


def test_a_worker_that_is_stopped_is_not_waited_for_without_end(tmp_path: Path) -> None:
    folder = new_iteration(str(tmp_path))
    path = unit_lock(folder, "1")
    Path(path).parent.mkdir()
    told = pytest.raises(InvalidArgumentsError, match=r"still runs a unit in .*; end the worker")
    with locked(path), told, alone_in(folder, longest_wait=0.3):
        pass


def test_a_folder_that_this_user_may_not_write_is_not_held_for_it(tmp_path: Path) -> None:
    fence = Fence(iteration=str(tmp_path), mark="0" * 32)
    (tmp_path / "elsewhere").touch()
    (tmp_path / ".lock").symlink_to(tmp_path / "elsewhere")  # any error of the system will do, also for root
    assert not fence.holds()
    told = pytest.raises(InvalidArgumentsError, match=r"\.lock cannot be written .*name another folder with --out")
    with told, alone_in(str(tmp_path)):
        pass
