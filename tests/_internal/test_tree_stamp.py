from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files import contained, file_mark
from prowess._internal.files.tree_stamp import stamp_tree

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.skipif(not contained.opens_beneath(), reason="no stamps where nothing opens beneath")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(file_mark, "SETTLED_NS", -1)  # as if every file had been left alone for long
    root = tmp_path / "a"
    (root / "deep" / "er").mkdir(parents=True)
    (root / "deep" / "er" / "x").write_text("x")
    (root / "y").write_text("y")
    return root


def rewrite_with_the_old_time(root: Path) -> None:
    before = (root / "y").stat()
    (root / "y").write_text("z")
    os.utime(root / "y", ns=(before.st_atime_ns, before.st_mtime_ns))


def exchange_the_tree(root: Path) -> None:
    root.rename(root.with_name("b"))
    (root / "deep" / "er").mkdir(parents=True)
    (root / "deep" / "er" / "x").write_text("x")
    (root / "y").write_text("y")


def put_a_link_in_its_place(root: Path) -> None:
    (root / "y").unlink()
    (root / "y").symlink_to("deep/er/x")


CHANGES: dict[str, Callable[[Path], object]] = {
    "another text": lambda root: (root / "deep" / "er" / "x").write_text("longer"),
    "the old time": rewrite_with_the_old_time,
    "a new file": lambda root: (root / "deep" / "new").touch(),
    "a file less": lambda root: (root / "deep" / "er" / "x").unlink(),
    "another mode": lambda root: (root / "y").chmod(0o600),
    "another name": lambda root: (root / "y").rename(root / "Y"),
    "a link in its place": put_a_link_in_its_place,
    "another tree": exchange_the_tree,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_stamp_holds_until_anything_in_the_tree_changes(root: Path, change: Callable[[Path], object]) -> None:
    stamp = stamp_tree(str(root), most=100)
    assert stamp is not None
    assert [path for path, _ in stamp.marks] == ["", "y", "deep", "deep/er", "deep/er/x"]
    assert stamp.holds()
    change(root)
    assert not stamp.holds()


def test_a_link_to_the_tree_that_is_turned_ends_its_stamp(root: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(root)
    stamp = stamp_tree(str(link), most=100)
    assert stamp is not None
    assert stamp.holds()
    (tmp_path / "other").mkdir()
    link.unlink()
    link.symlink_to(tmp_path / "other")
    assert not stamp.holds()


def test_a_tree_that_was_just_changed_is_large_or_holds_a_link_has_no_stamp(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stamp_tree(str(root), most=5) is not None
    assert stamp_tree(str(root), most=4) is None
    assert stamp_tree(str(root / "absent"), most=100) is None
    (root / "link").symlink_to("/etc/passwd")
    assert stamp_tree(str(root), most=100) is None
    (root / "link").unlink()
    with socket.socket(socket.AF_UNIX) as special:
        special.bind(os.path.relpath(root / "s"))
        assert stamp_tree(str(root), most=100) is None
    (root / "s").unlink()
    monkeypatch.setattr(file_mark, "SETTLED_NS", 2_000_000_000)
    assert stamp_tree(str(root), most=100) is None
