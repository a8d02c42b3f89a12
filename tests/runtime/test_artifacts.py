"""What killed processes left goes by its age; what a session still uses stays."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from prowess._internal.uuid7 import uuid7
from prowess.errors import ResourceNotFoundError, SessionNotFoundError
from prowess.runtime.scripts import ORPHANED_SECONDS, Artifacts

if TYPE_CHECKING:
    from pathlib import Path

RUN = uuid7()


def _left(root: Path, session: str, age: float) -> Path:
    run = root / session / RUN
    run.mkdir(parents=True)
    (run / "a.txt").write_text("a")
    then = time.time() - age
    os.utime(root / session, (then, then))
    return root / session


def test_a_run_sweeps_what_nobody_used_for_long(tmp_path: Path) -> None:
    orphan = _left(tmp_path, "orphan", ORPHANED_SECONDS + 60)
    idle = _left(tmp_path, "idle", ORPHANED_SECONDS - 60)
    Artifacts(str(tmp_path), "mine").new_run()
    assert not orphan.exists()
    assert (idle / RUN / "a.txt").exists()


def test_what_is_not_a_run_of_ours_is_never_swept(tmp_path: Path) -> None:
    old = _left(tmp_path, "photographs", ORPHANED_SECONDS * 2)
    (old / "summer.jpg").write_text("mine")
    then = time.time() - ORPHANED_SECONDS * 2
    os.utime(old, (then, then))
    Artifacts(str(tmp_path), "mine").new_run()
    assert (old / "summer.jpg").exists()


def test_a_session_never_sweeps_its_own(tmp_path: Path) -> None:
    own = _left(tmp_path, "mine", ORPHANED_SECONDS * 2)
    Artifacts(str(tmp_path), "mine").new_run()
    assert (own / RUN / "a.txt").exists()


def test_what_is_read_is_in_use(tmp_path: Path) -> None:
    held = _left(tmp_path, "held", ORPHANED_SECONDS + 60)
    with pytest.raises(ResourceNotFoundError):
        Artifacts(str(tmp_path), "held").read("none.txt")
    Artifacts(str(tmp_path), "mine").new_run()
    assert (held / RUN / "a.txt").exists()


def test_a_link_among_them_is_removed_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    kept = _left(tmp_path / "elsewhere", "s", ORPHANED_SECONDS * 2)
    (tmp_path / "root" / "link").symlink_to(kept)
    Artifacts(str(tmp_path / "root"), "mine").new_run()
    assert (kept / RUN / "a.txt").exists()


def test_a_run_that_begins_while_the_session_is_closed_leaves_no_directory(tmp_path: Path) -> None:
    artifacts = Artifacts(str(tmp_path), "one")
    artifacts.new_run()
    artifacts.close()
    artifacts.remove(["one"])
    with pytest.raises(SessionNotFoundError):
        artifacts.new_run()
    assert list(tmp_path.iterdir()) == []
