"""A file that is replaced is never half a file."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files.atomic_write import write_all, write_atomically, write_new
from tests.disk_steps import needs_proc, record_steps, steps_around

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("sync", [True, False])
def test_new_bytes_take_the_place_of_old_ones(tmp_path: Path, *, sync: bool) -> None:
    path = tmp_path / "file"
    write_atomically(str(path), b"old", sync=sync)
    write_atomically(str(path), b"new", sync=sync)
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]


@needs_proc
def test_new_bytes_are_on_the_disk_before_they_replace_old_ones_and_their_name_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = record_steps(monkeypatch)
    write_atomically(str(tmp_path / "file"), b"new", sync=False)
    assert [step.split()[0] for step in steps] == ["replace"]
    steps.clear()
    write_atomically(str(tmp_path / "file"), b"new")
    assert steps_around(steps, str(tmp_path / "file")) == (True, True)


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_the_mode_is_the_one_asked_for_whatever_the_umask(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "file"
    before = os.umask(0o077)
    try:
        write_atomically(str(path), b"", mode)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_link_is_replaced_and_its_target_left_alone(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"precious")
    link.symlink_to(target)
    write_atomically(str(link), b"new")
    assert target.read_bytes() == b"precious"
    assert not link.is_symlink()


def test_a_failure_leaves_the_old_bytes_and_no_draft(tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_atomically(str(tmp_path / "place"), b"data")
    assert os.listdir(tmp_path) == ["place"]


def test_a_relative_path_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_atomically("file", b"data")
    assert (tmp_path / "file").read_bytes() == b"data"


def test_a_full_device_is_an_error() -> None:
    descriptor = os.open("/dev/full", os.O_WRONLY)
    try:
        with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
            write_all(descriptor, b"data")
    finally:
        os.close(descriptor)


def test_a_pipe_is_neither_replaced_nor_written_to(tmp_path: Path) -> None:
    """The same check keeps a command of root from replacing `/dev/null` by a file."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileExistsError, match="which is not replaced"):
        write_atomically(str(tmp_path / "pipe"), b"new")
    assert stat.S_ISFIFO((tmp_path / "pipe").lstat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


@needs_proc
def test_the_disk_knows_the_name_of_a_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = record_steps(monkeypatch)
    write_new(str(tmp_path / "key"), b"secret")
    assert [step.split()[1] for step in steps] == [str(tmp_path / "key"), str(tmp_path)]


def test_a_new_file_takes_no_place_of_another_and_a_half_one_does_not_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "key"
    write_new(str(path), b"first")
    with pytest.raises(FileExistsError):
        write_new(str(path), b"second")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"first", 0o600)

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space left"):
        write_new(str(tmp_path / "other"), b"half")
    assert os.listdir(tmp_path) == ["key"]
