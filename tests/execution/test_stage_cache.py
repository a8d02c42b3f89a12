from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files.file_lock import locked
from prowess._internal.files.tree_digest import read_tree
from prowess.execution import staging
from prowess.execution.staging import note_use, stage

if TYPE_CHECKING:
    from pathlib import Path

DAY = 86_400.0


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A cache whose last sweep was long ago."""
    home = tmp_path / "stages"
    home.mkdir()
    lock = tmp_path / "stages.lock"
    lock.write_text("")
    _age(lock, 2 * DAY)
    return home


def _age(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


def _stage(home: Path, name: str, *, age: float, size: int = 1) -> Path:
    place = home / name
    (place / "scripts").mkdir(parents=True)
    (place / "scripts" / "run.sh").write_bytes(b"x" * size)
    _age(place, age)
    return place


def _left(home: Path) -> list[str]:
    return sorted(os.listdir(home))


def test_what_was_not_used_for_a_month_goes(home: Path) -> None:
    _stage(home, "old", age=31 * DAY)
    _stage(home, "young", age=29 * DAY)
    note_use(str(home), "asked")
    assert _left(home) == ["young"]


def test_the_stage_that_is_asked_for_stays_however_old(home: Path) -> None:
    _stage(home, "asked", age=300 * DAY)
    note_use(str(home), "asked")
    assert _left(home) == ["asked"]
    assert time.time() - (home / "asked").stat().st_mtime < 60


def test_beyond_the_size_the_longest_unused_go_but_none_that_may_be_running(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "MAX_BYTES", 25)
    for name, age in (("running", 1800.0), ("newer", 2 * DAY), ("older", 3 * DAY), ("oldest", 4 * DAY)):
        _stage(home, name, age=age, size=10)
    _stage(home, "also-running", age=1900.0, size=100)
    note_use(str(home), "none")
    assert _left(home) == ["also-running", "running"]


def test_what_killed_processes_left_goes_after_a_day(home: Path) -> None:
    _stage(home, ".new-killed", age=2 * DAY)
    _stage(home, ".new-at-work", age=60.0)
    note_use(str(home), "none")
    assert _left(home) == [".new-at-work"]


def test_a_sweep_comes_once_a_day(home: Path) -> None:
    note_use(str(home), "none")
    _stage(home, "old", age=300 * DAY)
    note_use(str(home), "none")
    assert _left(home) == ["old"]


def test_while_somebody_holds_the_cache_nothing_is_swept(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "_WAIT_SECONDS", 0.01)
    _stage(home, "old", age=300 * DAY)
    with locked(f"{home}.lock"):
        note_use(str(home), "none")
    assert _left(home) == ["old"]


def test_staging_notes_the_use_and_sweeps(tmp_path: Path, home: Path) -> None:
    _stage(home, "old", age=300 * DAY)
    skill = tmp_path / "skill"
    skill.mkdir()
    (skill / "SKILL.md").write_text("x")
    made = stage(str(skill), read_tree(str(skill)), str(tmp_path))
    assert _left(home) == [os.path.basename(made)]
    _age(home / os.path.basename(made), 20 * DAY)
    stage(str(skill), read_tree(str(skill)), str(tmp_path))
    assert time.time() - os.stat(made).st_mtime < 60
