from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files import private_cache
from prowess._internal.files.private_cache import PrivateCache

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PROWESS_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "cache" / "kind"


def test_what_was_written_is_read_by_this_user_alone(folder: Path) -> None:
    PrivateCache("kind").write("a", b"one")
    PrivateCache("kind").write("a", b"two")
    assert PrivateCache("kind").read("a") == b"two"
    assert PrivateCache("kind").read("b") is None
    assert [(folder / name).stat().st_mode & 0o777 for name in ("", "a")] == [0o700, 0o600]
    assert os.listdir(folder) == ["a"]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="modes say nothing here")
def test_a_file_that_others_could_have_written_is_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = PrivateCache("kind")
    cache.write("a", b"x")
    (folder / "a").chmod(0o640)
    assert cache.read("a") is None
    (folder / "a").chmod(0o600)
    folder.chmod(0o777)
    assert cache.read("a") is None
    cache.write("a", b"y")
    folder.chmod(0o700)
    assert cache.read("a") == b"x"
    os.link(folder / "a", folder / "b")
    assert cache.read("a") is None
    (folder / "b").unlink()
    (folder / "b").symlink_to("a")
    assert cache.read("b") is None
    os.mkfifo(folder / "pipe", 0o600)
    assert cache.read("pipe") is None
    (folder / "d").mkdir()
    assert cache.read("d") is None
    assert cache.read("a") == b"x"
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert cache.read("a") is None


def test_the_oldest_files_are_deleted_and_large_ones_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = PrivateCache("kind", most=2)
    for at, name in enumerate("abc"):
        cache.write(name, b"1234")
        os.utime(folder / name, (at, at)) if (folder / name).exists() else None
    assert sorted(os.listdir(folder)) == ["b", "c"]
    monkeypatch.setattr(private_cache, "MAX_BYTES", 3)
    assert cache.read("c") is None
    cache.write("d", b"1234")
    assert sorted(os.listdir(folder)) == ["b", "c"]


def test_a_full_disk_and_a_home_that_cannot_be_written_are_no_faults(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int, data: object) -> int:
        raise OSError(28, "No space left on device")

    cache = PrivateCache("kind")
    cache.write("a", b"old")
    with monkeypatch.context() as patched:
        patched.setattr("prowess._internal.files.atomic_write.write_all", full)
        cache.write("a", b"new")
    assert cache.read("a") == b"old"
    assert os.listdir(folder) == ["a"]
    monkeypatch.setenv("PROWESS_HOME", str(tmp_path / "file"))
    (tmp_path / "file").touch()
    cache = PrivateCache("kind")
    cache.write("a", b"x")
    assert cache.read("a") is None
