"""Control groups, in a directory that looks like the kernel's where the real ones cannot be written."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from prowess.execution import cgroup
from prowess.execution.bounds import set_bounds
from prowess.execution.cgroup import ControlGroup
from prowess.execution.request import ExecLimits

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(cgroup, "_dying", [])


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
    group.remove()
    assert group.enforced == ()


def test_a_user_who_is_not_root_gets_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert ControlGroup(ExecLimits(), root=str(_version_1(tmp_path))).enforced == ()


def test_a_bound_that_the_kernel_refuses_is_not_claimed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str, value: int) -> None:
        raise PermissionError(13, "denied")

    group = ControlGroup(ExecLimits(), root=str(_version_1(tmp_path)))
    monkeypatch.setattr(cgroup, "_write", refuse)
    with group.visited():
        pass
    assert group.enforced == ()
    assert ControlGroup(ExecLimits(), root=str(tmp_path)).enforced == ()


def test_a_group_that_is_still_busy_is_deleted_later(tmp_path: Path) -> None:
    group = ControlGroup(ExecLimits(), root=str(_version_1(tmp_path)))
    directories = [path for name in ("pids", "memory") for path in (tmp_path / name).iterdir() if path.is_dir()]
    group.remove()  # the files in this imitation keep the directories from being deleted
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
