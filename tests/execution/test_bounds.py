"""A bound that ended a run is named."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest

from prowess.execution import cgroup
from prowess.execution.bounds import killed_by
from prowess.execution.cgroup import ControlGroup
from prowess.execution.request import MEBIBYTE, ExecLimits
from tests.execution.kernel_groups import as_the_kernel

if TYPE_CHECKING:
    from pathlib import Path

LIMITS = ExecLimits(cpu_seconds=3)


@pytest.mark.parametrize(
    ("status", "out_of_memory", "said"),
    [
        (137, True, "the memory limit is 512 MiB"),
        (0, True, "the memory limit is 512 MiB"),
        (153, False, "the largest file it may write is 32 MiB"),
        (152, False, "its limit is 3 s of processor time"),
    ],
)
def test_the_bound_is_named(status: int, out_of_memory: bool, said: str) -> None:  # noqa: FBT001 -- parametrised
    (notice,) = killed_by(status, LIMITS, out_of_memory=out_of_memory)
    assert notice.code == "killed"
    assert said in notice.message


@pytest.mark.parametrize("status", [0, 1, 137, 143])
def test_nothing_is_guessed(status: int) -> None:
    assert killed_by(status, LIMITS, out_of_memory=False) == ()


def test_a_bound_that_was_lifted_is_not_blamed() -> None:
    lifted = ExecLimits(memory_bytes=None, file_bytes=None, cpu_seconds=None)
    assert killed_by(153, lifted, out_of_memory=True) == killed_by(152, lifted, out_of_memory=False) == ()


@pytest.mark.parametrize(
    ("file", "text", "killed"),
    [
        ("memory.events", "low 0\noom 1\noom_kill 2\n", True),
        ("memory.events", "oom 5\noom_kill 0\n", False),
        ("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n", True),
        ("memory.failcnt", "3\n", True),
        ("memory.failcnt", "0\n", False),
        ("other", "", False),
    ],
)
def test_the_kernel_is_asked_in_each_of_its_versions(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    file: str,
    text: str,
    killed: bool,  # noqa: FBT001 -- parametrised
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(cgroup, "_dying", [])
    monkeypatch.setattr(cgroup, "_numbers", iter((1,)))
    (tmp_path / "cgroup.subtree_control").write_text("memory\n")
    as_the_kernel(monkeypatch, {file: re.sub(r"\d+", "0", text)})
    directory = tmp_path / f"prowess-{os.getpid()}-{cgroup._mark}-1"
    group = ControlGroup(ExecLimits(memory_bytes=MEBIBYTE, processes=None), root=str(tmp_path))
    assert not group.out_of_memory()
    (directory / file).write_text(text)
    assert group.out_of_memory() is killed
