"""A root that can be written to: as a whole, beneath its descriptor, and with what was there taken over."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files.workspace_root import ChangedMeanwhileError, WorkspaceRoot
from prowess.errors import UnsafePathError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Iterator[WorkspaceRoot]:
    with WorkspaceRoot(str(tmp_path)) as opened:
        yield opened


def test_entries_come_with_their_facts(root: WorkspaceRoot, tmp_path: Path) -> None:
    (tmp_path / "b").write_text("12")
    (tmp_path / "a").mkdir()
    (tmp_path / "c").symlink_to("b")
    os.mkfifo(tmp_path / "d")
    found = root.scan(())
    assert [(entry.name, entry.kind) for entry in found] == [
        ("a", "directory"),
        ("b", "file"),
        ("c", "link"),
        ("d", "special"),
    ]
    assert (found[1].size, found[1].mtime_ns) == (2, (tmp_path / "b").stat().st_mtime_ns)


def test_one_entry_is_looked_at_without_following_it(root: WorkspaceRoot, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_text("12")
    (tmp_path / "link").symlink_to("a")
    assert [root.look(parts) is None for parts in (("a", "b"), ("a", "x"), ("x", "b"), ("a", "b", "c"), ())] == [
        *(False, True, True, True, False)
    ]
    with pytest.raises(UnsafePathError, match="'link' is a symbolic link"):
        root.look(("link", "b"))


def test_nothing_is_written_over_what_changed(root: WorkspaceRoot, tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("old")
    with root.open("a") as opened:
        facts = opened.stat
    file.write_text("newer")
    with pytest.raises(ChangedMeanwhileError):
        root.replace("a", b"x", expected=facts)
    file.unlink()
    with pytest.raises(ChangedMeanwhileError):
        root.replace("a", b"x", expected=facts)
    assert os.listdir(tmp_path) == []


def test_the_umask_counts_for_new_files_alone(root: WorkspaceRoot, tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        assert root.replace("new", b"x") is True
        (tmp_path / "old").write_text("x")
        (tmp_path / "old").chmod(0o664)
        assert root.replace("old", b"y") is False
    finally:
        os.umask(before)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("new", "old")] == [0o600, 0o664]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_keeps_its_owner_where_that_is_possible(
    root: WorkspaceRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a"
    file.write_text("old")
    os.chown(file, 1234, 1234)
    root.replace("a", b"new")
    assert (file.stat().st_uid, file.stat().st_gid) == (1234, 1234)

    def refuse(*_: object) -> None:
        raise PermissionError(1, "not permitted")

    monkeypatch.setattr("os.chown", refuse)
    root.replace("a", b"newer")
    assert (file.read_text(), file.stat().st_uid) == ("newer", 0)


def test_the_root_itself_is_no_file(root: WorkspaceRoot) -> None:
    with pytest.raises(IsADirectoryError):
        root.replace(".", b"x")


def test_a_directory_that_another_program_makes_meanwhile_is_used(
    root: WorkspaceRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    making = os.mkdir

    def both(path: str, mode: int, *, dir_fd: int) -> None:
        making(path, mode, dir_fd=dir_fd)
        making(path, mode, dir_fd=dir_fd)

    monkeypatch.setattr("os.mkdir", both)
    root.replace("a/b/c", b"x")
    assert (tmp_path / "a/b/c").read_bytes() == b"x"
