"""The tree digest names bytes: the vectors hold for every implementation, the rest for this one."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from prowess._internal.files import contained, file_mark, tree_digest
from prowess._internal.files.tree_digest import FileRecord, TreeManifest, read_stamped_tree, read_tree
from prowess.errors import LimitExceededError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_VECTORS = json.loads((Path(__file__).parents[1] / "conformance" / "digest.json").read_text(encoding="utf-8"))["cases"]


@pytest.fixture(params=[True, False], ids=["by descriptor", "by name"], autouse=True)
def beneath(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Every promise is tried the way of this system and the way of one that opens nothing beneath a directory."""
    if not request.param:
        monkeypatch.setattr(contained, "_OPENS_BENEATH", False)
    return bool(request.param)


def _build(root: Path, tree: Mapping[str, Mapping[str, Any]]) -> None:
    for path, entry in tree.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        match entry:
            case {"text": str(text)}:
                target.write_bytes(text.encode())
            case {"base64": str(text)}:
                target.write_bytes(base64.b64decode(text))
            case {"directory": True}:
                target.mkdir()
            case {"link": str(to)}:
                target.symlink_to(to)
            case {"hardlink": str(to)}:
                target.hardlink_to(root / to)
            case {"fifo": True}:
                os.mkfifo(target)
        if entry.get("executable"):
            target.chmod(0o755)


@pytest.mark.parametrize("case", _VECTORS, ids=lambda case: case["id"])
def test_every_vector_holds(tmp_path: Path, case: dict[str, Any]) -> None:
    _build(tmp_path, case["tree"])
    manifest = read_tree(str(tmp_path))
    assert manifest.digest == case["digest"]
    assert manifest.content_digest == case["content_digest"]
    assert list(manifest.obstacles) == case["obstacles"]


def test_the_root_may_be_a_link_and_its_name_does_not_count(tmp_path: Path) -> None:
    _build(tmp_path / "a", {"x": {"text": "1"}})
    (tmp_path / "b").symlink_to("a")
    assert read_tree(str(tmp_path / "b")) == read_tree(str(tmp_path / "a"))


def test_a_record_is_found_by_its_path(tmp_path: Path) -> None:
    _build(tmp_path, {"a/x": {"text": "1"}})
    manifest = read_tree(str(tmp_path))
    assert manifest.find("a/x") == FileRecord(
        path="a/x", executable=False, size=1, sha256=hashlib.sha256(b"1").hexdigest()
    )
    assert manifest.find("x") is None


def test_a_name_that_is_not_utf8_is_an_obstacle(tmp_path: Path) -> None:
    _build(tmp_path, {"a": {"text": "1"}})
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))).write_text("x")
    manifest = read_tree(str(tmp_path))
    assert [os.fsencode(path) for path in manifest.obstacles] == [b"\xff"]
    assert manifest.digest is None


def test_a_file_at_rest_is_hashed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _build(tmp_path, {"a": {"text": "1"}})
    monkeypatch.setattr(file_mark, "SETTLED_NS", -1)  # as if the file had been left alone for long
    first = read_tree(str(tmp_path))
    monkeypatch.setattr(hashlib, "sha256", None)  # hashing again would fail
    assert read_tree(str(tmp_path)).files == first.files


def test_a_fresh_file_is_hashed_again_because_its_time_stamp_may_hide_an_edit(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("1")
    before = file.stat()
    assert time.time_ns() - before.st_ctime_ns < 2_000_000_000
    first = read_tree(str(tmp_path))
    file.write_text("2")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert read_tree(str(tmp_path)).digest != first.digest


def test_an_edit_that_keeps_size_and_mtime_is_seen_by_the_ctime(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_mark, "SETTLED_NS", -1)
    file = tmp_path / "a"
    file.write_text("1")
    before = file.stat()
    first = read_tree(str(tmp_path))
    time.sleep(0.02)  # longer than a tick of the file system's clock
    file.write_text("2")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert read_tree(str(tmp_path)).digest != first.digest


def test_the_cache_of_hashes_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_mark, "SETTLED_NS", -1)
    monkeypatch.setattr(tree_digest, "_CACHE_ENTRIES", 2)
    monkeypatch.setattr(tree_digest, "_cache", {})
    _build(tmp_path, {name: {"text": name} for name in "abcde"})
    read_tree(str(tmp_path))
    assert 0 < len(tree_digest._cache) <= 2


@pytest.mark.parametrize(
    ("bound", "tree"),
    [
        ("MAX_FILES", {"a": {"text": ""}, "b": {"text": ""}}),
        ("MAX_BYTES", {"a": {"text": "four"}}),
        ("MAX_DEPTH", {"a/b/c": {"text": ""}}),
        ("MAX_ENTRIES", {"a": {"link": "x"}, "b": {"link": "x"}}),
        ("MAX_ENTRIES", {"a/b": {"text": ""}}),
    ],
)
def test_a_tree_over_a_bound_is_refused_with_the_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str, tree: dict[str, dict[str, str]]
) -> None:
    monkeypatch.setattr(tree_digest, bound, 1)
    _build(tmp_path, tree)
    with pytest.raises(LimitExceededError) as refused:
        read_tree(str(tmp_path))
    assert refused.value.limit == 1


@pytest.mark.parametrize("beneath", [True], indirect=True)  # it stands between a name and its descriptor
def test_what_cannot_be_read_is_an_obstacle_and_what_vanishes_is_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _build(
        tmp_path,
        {
            "locked/x": {"text": "1"},
            "secret": {"text": "2"},
            "gone": {"text": "3"},
            "gone-dir/x": {"text": "4"},
            "a": {"text": "5"},
        },
    )
    honest = os.open
    faults = {
        "locked": PermissionError,
        "secret": PermissionError,
        "gone": FileNotFoundError,
        "gone-dir": FileNotFoundError,
    }

    def opening(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if path in faults:  # the tests may run as root, whom no mode stops
            raise faults[path]
        return honest(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", opening)
    manifest = read_tree(str(tmp_path))
    assert manifest.obstacles == ("locked", "secret")
    assert [file.path for file in manifest.files] == ["a"]


def test_an_absent_root_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_tree(str(tmp_path / "none"))


def test_a_manifest_without_files_still_has_a_digest() -> None:
    assert TreeManifest(files=()).digest == f"sha256:{hashlib.sha256(b'').hexdigest()}"


# ── a stamp: what stat says about a tree at rest ─────────────────────────────────────────────────────────


def _replace_by_one_of_the_same_size(root: Path) -> None:
    other = root.parent / "other"
    other.write_text("1")
    other.replace(root / "d" / "a")


def _write_and_put_times_back(root: Path) -> None:
    file = root / "d" / "a"
    before = file.stat()
    file.write_text("2")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


_CHANGES = {
    "a file is written": lambda root: (root / "d" / "a").write_text("2"),
    "a file is written and its times put back": _write_and_put_times_back,
    "another file takes the place": _replace_by_one_of_the_same_size,
    "a file comes": lambda root: (root / "d" / "c").write_text(""),
    "a file goes": lambda root: (root / "d" / "b").unlink(),
    "a directory comes": lambda root: (root / "e").mkdir(),
    "a file may be executed": lambda root: (root / "d" / "a").chmod(0o755),
    "a file has a second name": lambda root: (root.parent / "second").hardlink_to(root / "d" / "a"),
    "a directory becomes a link": lambda root: (
        (root / "d").rename(root.parent / "d"),
        (root / "d").symlink_to(root.parent / "d"),
    ),
    "the tree goes": lambda root: root.rename(root.parent / "gone"),
}


@pytest.mark.parametrize("change", _CHANGES.values(), ids=list(_CHANGES))
def test_a_stamp_holds_until_anything_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object], *, beneath: bool
) -> None:
    root = tmp_path / "tree"
    _build(root, {"d/a": {"text": "1"}, "d/b": {"text": "1"}})
    monkeypatch.setattr(file_mark, "SETTLED_NS", -1)
    reading = read_stamped_tree(str(root))
    stamp = reading.stamp
    assert reading.manifest == read_tree(str(root))
    if not beneath:
        assert stamp is None  # there a directory may not tell that an entry came or went
        return
    assert stamp is not None
    assert stamp.holds()
    time.sleep(0.02)  # the coarsest clock of a kernel in use ticks every 10 ms
    change(root)
    assert not stamp.holds()


def test_a_tree_that_is_fresh_or_undigestible_has_no_stamp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _build(tmp_path / "fresh", {"a": {"text": "1"}})
    assert read_stamped_tree(str(tmp_path / "fresh")).stamp is None
    monkeypatch.setattr(file_mark, "SETTLED_NS", -1)
    _build(tmp_path / "odd", {"a": {"text": "1"}, "b": {"link": "a"}})
    assert read_stamped_tree(str(tmp_path / "odd")).stamp is None


def test_files_are_kept_as_they_were_hashed_if_they_are_small_enough(tmp_path: Path) -> None:
    _build(tmp_path, {"a": {"text": "one"}, "b": {"text": "larger"}, "d/a": {"text": "two"}})
    for _ in range(2):  # also when the hash is known
        reading = read_stamped_tree(str(tmp_path), keep=("a", "b", "c"), most=3)
        assert {path: kept.data for path, kept in reading.kept.items()} == {"a": b"one"}
        assert reading.kept["a"].mark == file_mark.mark_of((tmp_path / "a").stat())
        assert reading.manifest == read_tree(str(tmp_path))
