from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

import pytest

from prowess.execution import artifacts
from prowess.execution.artifacts import collect, media_type
from prowess.execution.request import ExecLimits

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.execution.result import Artifact, ExecNotice


def _collect(out: Path, home: Path, limits: ExecLimits | None = None) -> tuple[list[Artifact], list[ExecNotice]]:
    fd = os.open(out, os.O_RDONLY | os.O_DIRECTORY)
    try:
        found, notices = collect(fd, str(home), limits or ExecLimits())
    finally:
        os.close(fd)
    return list(found), list(notices)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


def test_an_artifact_is_named_measured_and_hashed(out: Path, tmp_path: Path) -> None:
    (out / "a" / "b").mkdir(parents=True)
    (out / "a" / "b" / "c.json").write_bytes(b"{}")
    (out / "a" / "b" / "c.json").chmod(0o4755)
    [artifact], notices = _collect(out, tmp_path / "home")
    assert artifact.as_dict() == {
        "name": "a/b/c.json",
        "size": 2,
        "digest": f"sha256:{hashlib.sha256(b'{}').hexdigest()}",
        "media_type": "application/json",
        "path": str(tmp_path / "home" / "a" / "b" / "c.json"),
    }
    assert notices == []
    assert os.stat(artifact.path).st_mode & 0o7777 == 0o600


def test_nothing_left_makes_no_directory(out: Path, tmp_path: Path) -> None:
    assert _collect(out, tmp_path / "home") == ([], [])
    assert not (tmp_path / "home").exists()


def test_more_files_than_allowed_are_left_behind(out: Path, tmp_path: Path) -> None:
    for number in range(5):
        (out / f"{number}").write_text("x")
    found, notices = _collect(out, tmp_path / "home", ExecLimits(out_files=3))
    assert [artifact.name for artifact in found] == ["0", "1", "2"]
    assert [notice.message for notice in notices] == ["2 files were left behind: there are more than 3 files"]


def test_more_bytes_than_allowed_are_left_behind(out: Path, tmp_path: Path) -> None:
    (out / "a").write_bytes(b"x" * 60)
    (out / "b").write_bytes(b"x" * 60)
    (out / "c").write_bytes(b"x" * 40)
    found, notices = _collect(out, tmp_path / "home", ExecLimits(out_bytes=100))
    assert [artifact.name for artifact in found] == ["a", "c"]
    assert "larger than 100 bytes" in notices[0].message


def test_names_that_cannot_be_shown_are_left_behind(out: Path, tmp_path: Path) -> None:
    (out / "a\x1b[2Jb").write_text("x")
    (out / "line\nbreak").write_text("x")
    with open(os.fsencode(out) + b"/\xff", "w", encoding="ascii"):
        pass
    found, notices = _collect(out, tmp_path / "home")
    assert found == []
    assert len(notices) == 3
    assert all(notice.message.isprintable() for notice in notices)


def test_deep_directories_and_long_lists_are_bounded(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (out / "/".join("d" * 12)).mkdir(parents=True)
    _, notices = _collect(out, tmp_path / "home")
    assert "too deep" in notices[0].message
    monkeypatch.setattr(artifacts, "MAX_ENTRIES", 30)
    for number in range(40):
        os.mkfifo(out / f"{number}")
    _, notices = _collect(out, tmp_path / "home")
    assert len(notices) == artifacts.MAX_NOTICES + 1
    assert "more files were left behind" in notices[-1].message


def test_what_cannot_be_read_is_left_behind(out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (out / "closed").mkdir()
    (out / "file").write_text("x")
    (out / "sealed").write_text("x")
    real_open, real_stat = os.open, os.stat

    def denied(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if path in {"closed", "file"}:
            raise PermissionError(13, "denied")
        return real_open(path, flags, mode, dir_fd=dir_fd)

    def unseen(path: str, *, dir_fd: int | None = None, follow_symlinks: bool = True) -> os.stat_result:
        if path == "sealed":
            raise PermissionError(13, "denied")
        return real_stat(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)

    # Root reads everything, so the refusal is played.
    monkeypatch.setattr(os, "open", denied)
    monkeypatch.setattr(os, "stat", unseen)
    found, notices = _collect(out, tmp_path / "home")
    monkeypatch.undo()
    assert found == []
    assert len(notices) == 3


def test_a_file_that_is_in_the_way_is_not_overwritten(out: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "a").write_text("mine")
    (out / "a").write_text("theirs")
    with pytest.raises(FileExistsError):
        _collect(out, tmp_path / "home")


def test_media_types_come_from_a_table() -> None:
    assert media_type("a/B.PNG") == "image/png"
    assert media_type("a.unknown") == "application/octet-stream"
    assert media_type("Makefile") == "application/octet-stream"
