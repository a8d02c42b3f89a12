"""`DaskBatch` and `prowess check --on`, on a real scheduler with two workers.

`PROWESS_DASK_KILLS=20` repeats the kill, and `PROWESS_DASK_SKILLS=DIR` compares the check of a folder of skills with
the local one.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from prowess._internal.batch import BatchUnit
from prowess.adapters.dask import DaskBatch
from prowess.cli.dispatch import run
from prowess.errors import UnavailableError
from tests.adapters import dask_cluster
from tests.adapters.dask_cluster import Cluster, cluster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KILLS = int(os.environ.get("PROWESS_DASK_KILLS", "1"))
SKILLS = os.environ.get("PROWESS_DASK_SKILLS")
UNITS = 60


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("dask")) as running:
        yield running


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    for at in range(20):
        folder = tmp_path / "skills" / f"s{at:02}"
        folder.mkdir(parents=True)
        comment = "<!-- prowess: ignore reference -->\n" * (at % 5 == 0)
        text = f"---\nname: s{at:02}\ndescription: Sorts {at}.\n---\n{comment}[a](missing-{at}.md)\n"
        (folder / "SKILL.md").write_text(text)
    return tmp_path / "skills"


@pytest.mark.parametrize("kill", range(KILLS))
def test_a_killed_worker_loses_and_doubles_no_result(tmp_path: Path, kill: int) -> None:
    file = tmp_path / "begun"
    units = [BatchUnit(id=f"unit-{at}", task=(str(file), at)) for at in range(UNITS)]
    results: list[tuple[str, int]] = []
    with cluster(tmp_path) as running, DaskBatch(running.address) as engine:
        for result in engine.run(dask_cluster.noted, units):
            results.append((result.id, result.value))
            if len(results) == UNITS // 4 + kill % 20:
                running.workers[kill % 2].kill()
    assert sorted(results) == sorted((f"unit-{at}", at * at) for at in range(UNITS))
    begun = Counter(map(int, file.read_text().split()))
    assert set(begun) == set(range(UNITS))


def test_a_scheduler_that_ends_is_an_error_at_once(tmp_path: Path) -> None:
    units = [BatchUnit(id=f"unit-{at}", task=(str(tmp_path / "begun"), at)) for at in range(500)]
    with cluster(tmp_path, workers=1) as running, DaskBatch(running.address) as engine:
        results = engine.run(dask_cluster.noted, units)
        next(results)
        running.scheduler.kill()
        with pytest.raises(UnavailableError, match="look at the logs of the scheduler"):
            list(results)


def test_a_second_batch_takes_no_result_of_the_first(two: Cluster, tmp_path: Path) -> None:
    file = tmp_path / "begun"
    units = [BatchUnit(id="same", task=(str(file), 7))]
    with DaskBatch(two.address) as engine:
        for _ in range(2):
            assert [result.value for result in engine.run(dask_cluster.noted, units)] == [49]
    assert file.read_text() == "7\n7\n"


def test_what_the_work_raises_is_raised_here(two: Cluster) -> None:
    with DaskBatch(two.address) as engine:
        with pytest.raises(UnavailableError, match="the third"):
            list(engine.run(dask_cluster.refused, [BatchUnit(id="a", task=3)]))
        with pytest.raises(UnavailableError, match="RuntimeError: four at the unit b"):
            list(engine.run(dask_cluster.refused, [BatchUnit(id="b", task=4)]))
        with pytest.raises(ValueError, match="the same id"):
            list(engine.run(dask_cluster.refused, [BatchUnit(id="b", task=1)] * 2))


def test_workers_find_the_same_as_this_process(two: Cluster, skills: Path, capfd: pytest.CaptureFixture[str]) -> None:
    command = ["check", str(skills), "--no-cache", "--severity", "reference.missing=warning"]
    for form in ("text", "json"):
        code = run([*command, "--format", form])
        alone = capfd.readouterr()
        assert run([*command, "--format", form, "--on", two.address]) == code
        assert capfd.readouterr() == alone
        assert "are ignored" in alone.err


def test_settings_that_workers_cannot_read_hold_there(
    two: Cluster, skills: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (skills / "prowess.toml").write_text('select = ["reference"]\n[[paths]]\nmatch = "s03"\nignore = ["reference"]\n')
    monkeypatch.chdir(skills)
    command = ["check", ".", "--no-cache", "--suppressions", "on", "--json"]
    run(command)
    alone = capfd.readouterr()
    run([*command, "--on", two.address])
    assert capfd.readouterr() == alone


def test_a_worker_that_sees_another_file_is_refused(
    two: Cluster, skills: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prowess.cli.check_units._digest", lambda directory: f"another file in {directory}")
    assert run(["check", str(skills), "--on", two.address]) == 4
    error = capfd.readouterr().err
    assert "it differs on the worker on " in error
    assert "share the folder" in error


def test_a_scheduler_out_of_reach_is_one_sentence(skills: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UnavailableError, match=r"tcp://127\.0\.0\.1:1 .*start it with `dask scheduler`"):
        DaskBatch("tcp://127.0.0.1:1", seconds_to_connect=0.3)
    for wrong in ("127.0.0.1:8786", "tcp://a", "tcp://a:b", "tcp://user@a:1", "inproc://a"):
        assert run(["check", str(skills), "--on", wrong]) == 2
        assert "--on must be tcp://HOST:PORT" in capfd.readouterr().err


@pytest.mark.parametrize("other", [["-j", "2"], ["--fix"], ["--diff"], ["-"]])
def test_what_workers_cannot_do_is_a_usage_error(other: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["check", *other, "--on", "tcp://127.0.0.1:1"]) == 2
    assert "--on" in capfd.readouterr().err


def test_without_a_worker_nothing_is_waited_for(tmp_path: Path) -> None:
    with cluster(tmp_path, workers=0) as running, pytest.raises(UnavailableError, match="it has no worker"):
        DaskBatch(running.address, seconds_to_connect=1)


@pytest.mark.skipif(SKILLS is None, reason="PROWESS_DASK_SKILLS names no folder of skills")
def test_a_large_folder_gives_the_same_bytes_in_less_time(
    two: Cluster, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    command = ["check", str(SKILLS), "--no-cache", "--json"]
    run(command)
    alone = capfd.readouterr()
    seconds: dict[str, list[float]] = {"one": [], "two": []}
    with cluster(tmp_path, workers=1) as one:
        for at in range(6):
            for name, address in (("one", one.address), ("two", two.address)):
                begun = time.monotonic()
                run([*command, "--on", address])
                seconds[name] += [time.monotonic() - begun] if at else []  # the first run imports
                assert capfd.readouterr() == alone
    assert sorted(seconds["one"])[2] >= 1.6 * sorted(seconds["two"])[2], seconds
