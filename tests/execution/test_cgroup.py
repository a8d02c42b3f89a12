"""Control groups, in a directory that looks like the kernel's where the real ones cannot be written."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from pathlib import Path

import pytest

from prowess.execution import cgroup
from prowess.execution.bounds import set_bounds
from prowess.execution.cgroup import ControlGroup
from prowess.execution.request import ExecLimits
from tests import forked
from tests.execution.kernel_groups import as_the_kernel


@pytest.fixture(autouse=True)
def as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(cgroup, "_dying", [])
    monkeypatch.setattr(cgroup, "_resting", [])


def _version_1(root: Path) -> Path:
    for controller in ("pids", "memory"):
        (root / controller).mkdir(parents=True)
        (root / controller / "tasks").write_text("")
    return root


def test_in_version_1_a_child_begins_in_the_group_of_the_thread(tmp_path: Path) -> None:
    group = ControlGroup(ExecLimits(processes=5), root=str(_version_1(tmp_path)))
    assert group.enforced == ("processes", "memory")
    [directory] = [path for path in (tmp_path / "pids").iterdir() if path.is_dir()]
    assert (directory / "pids.max").read_text() == "7"
    with group.visited():
        assert (directory / "tasks").read_text() == "0"
    group.add(1)
    assert not (directory / "cgroup.procs").exists()


def test_in_version_2_the_first_process_is_brought_in(tmp_path: Path) -> None:
    (tmp_path / "cgroup.subtree_control").write_text("cpu pids memory\n")
    group = ControlGroup(ExecLimits(memory_bytes=1000), root=str(tmp_path))
    [directory] = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert (directory / "memory.max").read_text() == "1000"
    with group.visited():
        pass
    group.add(42)
    assert (directory / "cgroup.procs").read_text() == "42"
    assert group.enforced == ("processes", "memory")


def test_where_no_hierarchy_is_nothing_is_claimed(tmp_path: Path) -> None:
    group = ControlGroup(ExecLimits(), root=str(tmp_path))
    with group.visited():
        group.add(1)
    group.rest()
    assert group.enforced == ()


def test_a_user_who_is_not_root_gets_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert ControlGroup(ExecLimits(), root=str(_version_1(tmp_path))).enforced == ()


def test_a_bound_that_the_kernel_refuses_is_not_claimed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(fd: int, value: int) -> None:
        raise PermissionError(13, "denied")

    group = ControlGroup(ExecLimits(), root=str(_version_1(tmp_path)))
    monkeypatch.setattr(cgroup, "_write", refuse)
    with group.visited():
        pass
    assert group.enforced == ()
    assert ControlGroup(ExecLimits(), root=str(tmp_path)).enforced == ()


def _directories(root: Path) -> list[Path]:
    return sorted(path for name in ("pids", "memory") for path in (root / name).iterdir() if path.is_dir())


def test_the_next_run_with_the_same_bounds_takes_the_directories_that_rest(tmp_path: Path) -> None:
    root = str(_version_1(tmp_path))
    group = ControlGroup(ExecLimits(), root=root)
    first = _directories(tmp_path)
    for path in first:
        (path / "cgroup.procs").write_text("")
    group.rest()
    assert ControlGroup(ExecLimits(), root=root).enforced == ("processes", "memory")
    assert _directories(tmp_path) == first


def test_two_runs_at_once_have_two_groups(tmp_path: Path) -> None:
    root = str(_version_1(tmp_path))
    groups = [ControlGroup(ExecLimits(), root=root) for _ in range(2)]
    assert len(_directories(tmp_path)) == 4
    for group in groups:
        group.rest()


@pytest.mark.parametrize(
    ("file", "text", "taken"),
    [
        pytest.param("cgroup.procs", "", True, id="nothing is left"),
        pytest.param("cgroup.procs", "4711\n", False, id="a process is left"),
        pytest.param("memory.oom_control", "under_oom 0\noom_kill 1\n", False, id="the kernel killed one"),
        pytest.param("pids.current", "1\n", False, id="the kernel counts one that is gone"),
        pytest.param("cgroup.procs", None, False, id="somebody deleted it"),
    ],
)
def test_a_directory_in_which_anything_is_left_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, text: str | None, *, taken: bool
) -> None:
    monkeypatch.setattr(cgroup, "_numbers", iter((1, 2)))
    (tmp_path / "cgroup.subtree_control").write_text("pids memory\n")
    as_the_kernel(monkeypatch, {"cgroup.procs": "", "pids.current": "0\n", "memory.oom_control": "oom_kill 0\n"})
    first, second = (tmp_path / f"prowess-{os.getpid()}-{cgroup._mark}-{number}" for number in (1, 2))
    ControlGroup(ExecLimits(), root=str(tmp_path)).rest()
    if text is None:
        (first / file).unlink()
    else:
        (first / file).write_text(text)
    ControlGroup(ExecLimits(), root=str(tmp_path))
    assert second.exists() is not taken


def test_a_directory_that_somebody_deleted_keeps_no_run_from_a_group_or_its_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroup, "_numbers", iter((1, 2)))
    (tmp_path / "cgroup.subtree_control").write_text("pids memory\n")
    as_the_kernel(monkeypatch, {"cgroup.procs": "", "pids.current": "0\n", "memory.oom_control": "oom_kill 0\n"})
    second = tmp_path / f"prowess-{os.getpid()}-{cgroup._mark}-2"
    group = ControlGroup(ExecLimits(), root=str(tmp_path))
    gone = os.open(tmp_path, os.O_RDONLY)
    for _, fd, _ in group._directories[0].counts:
        os.dup2(gone, fd)  # reading fails, as the kernel has it for a group that was deleted
    os.close(gone)
    assert not group.out_of_memory()
    group.rest()
    assert ControlGroup(ExecLimits(), root=str(tmp_path)).enforced == ("processes", "memory")
    assert second.exists()


def test_other_bounds_get_a_group_of_their_own(tmp_path: Path) -> None:
    root = str(_version_1(tmp_path))
    ControlGroup(ExecLimits(memory_bytes=1000, processes=None), root=root).rest()
    ControlGroup(ExecLimits(memory_bytes=2000, processes=None), root=root).rest()
    limits = {(path / "memory.limit_in_bytes").read_text() for path in _directories(tmp_path)}
    assert limits == {"1000", "2000"}


def test_what_the_next_run_will_miss_is_made_while_this_one_runs(tmp_path: Path) -> None:
    root = str(_version_1(tmp_path))
    group = ControlGroup(ExecLimits(), root=root)
    assert len(_directories(tmp_path)) == 2
    group.prepare_next()
    assert len(_directories(tmp_path)) == 4
    for path in _directories(tmp_path):
        (path / "cgroup.procs").write_text("")
    ControlGroup(ExecLimits(), root=root).prepare_next()
    assert len(_directories(tmp_path)) == 6


def test_only_so_many_directories_rest(tmp_path: Path) -> None:
    root = str(_version_1(tmp_path))
    groups = [ControlGroup(ExecLimits(), root=root) for _ in range(10)]
    for group in groups:
        group.rest()
    assert (len(cgroup._resting), len(cgroup._dying)) == (16, 4)
    cgroup._bury_at_exit()
    assert cgroup._resting == []


def test_what_a_killed_process_left_is_deleted_and_what_another_uses_is_not(tmp_path: Path) -> None:
    _version_1(tmp_path)
    left, used = tmp_path / "pids" / "prowess-999999999-0", tmp_path / "pids" / f"prowess-{os.getppid()}-0"
    before, ours, young = (
        tmp_path / "pids" / f"prowess-{name}-0"
        for name in (f"{os.getpid()}-00000000", f"{os.getpid()}-{cgroup._mark}", "999999998-00000000")
    )
    for path in (left, used, before, ours, young, tmp_path / "pids" / "of-somebody-else"):
        path.mkdir()
        if path != young:
            os.utime(path, (time.time() - 120,) * 2)
    ControlGroup(ExecLimits(), root=str(tmp_path))
    assert [path.exists() for path in (left, before)] == [False, False]
    assert [path.exists() for path in (used, ours, young)] == [True, True, True]
    assert (tmp_path / "pids" / "of-somebody-else").exists()


def test_after_a_fork_the_directories_are_the_parents(tmp_path: Path) -> None:
    ControlGroup(ExecLimits(), root=str(_version_1(tmp_path))).rest()
    pid = os.fork()
    if pid == 0:
        forked.end(len(cgroup._resting) + len(cgroup._dying))
    assert os.waitpid(pid, 0)[1] == 0
    assert len(cgroup._resting) == 2


def test_a_group_that_is_still_busy_is_deleted_later(tmp_path: Path) -> None:
    ControlGroup(ExecLimits(), root=str(_version_1(tmp_path))).rest()
    directories = _directories(tmp_path)
    cgroup._bury_at_exit()  # the files in this imitation keep the directories from being deleted
    assert all(path.exists() for path in directories)
    for path in directories:
        for file in path.iterdir():
            file.unlink()
    cgroup._bury_at_exit()
    assert not any(path.exists() for path in directories)
    assert cgroup._dying == []


def test_a_user_who_is_not_root_is_bounded_by_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with subprocess.Popen(["sleep", "5"]) as child:
        try:
            held = set_bounds(child.pid, ExecLimits(processes=50, cpu_seconds=3, file_bytes=None))
            with open(f"/proc/{child.pid}/limits", encoding="ascii") as file:
                limits = {line[:25].strip(): line[25:].split()[:2] for line in file}
        finally:
            child.kill()
    assert held == ("cpu_time", "open_files", "core_dumps", "data_size", "processes")
    assert limits["Max processes"] == ["50", "50"]
    assert limits["Max cpu time"] == ["3", "3"]


def test_an_old_kernel_counts_the_whole_user_so_nothing_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr("prowess.execution.bounds._kernel", lambda: (5, 10))
    with subprocess.Popen(["sleep", "5"]) as child:
        try:
            assert "processes" not in set_bounds(child.pid, ExecLimits())
        finally:
            child.kill()


def test_a_directory_of_another_process_with_this_number_is_never_taken_over(tmp_path: Path) -> None:
    (tmp_path / "cgroup.subtree_control").write_text("memory\n")
    for number in range(1000):
        (tmp_path / f"prowess-{os.getpid()}-{number}").mkdir()
    group = ControlGroup(ExecLimits(memory_bytes=1000), root=str(tmp_path))
    assert group.enforced == ("memory",)
    assert [path.parent.name for path in tmp_path.glob("*/memory.max")] == [Path(group._directories[0].path).name]
    assert cgroup._mark in group._directories[0].path


def test_first_runs_that_begin_together_all_have_their_bounds(tmp_path: Path) -> None:
    (tmp_path / "cgroup.subtree_control").write_text("pids memory\n")
    enforced: list[tuple[str, ...]] = []
    together = threading.Barrier(8)

    def begin() -> None:
        together.wait(10)
        enforced.append(ControlGroup(ExecLimits(), root=str(tmp_path)).enforced)

    for _ in range(20):
        cgroup._sweep.cache_clear()
        threads = [threading.Thread(target=begin) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
    assert enforced == [("processes", "memory")] * 160
