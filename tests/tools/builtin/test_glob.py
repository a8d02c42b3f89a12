"""Glob: patterns over paths, newest first, and bounds."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files.workspace_root import Entry, WorkspaceRoot
from prowess.errors import InvalidArgumentsError
from prowess.tools.builtin import file_walk, glob
from prowess.tools.builtin.glob import parse_pattern

if TYPE_CHECKING:
    from tests.tools.builtin.desk import Desk

pytestmark = pytest.mark.anyio


@pytest.fixture
def tree(desk: Desk) -> Desk:
    for age, path in enumerate(
        ["README.md", "src/a.py", "src/deep/b.py", "src/deep/c.ts", ".github/d.yml", ".git/config", "x/.git/HEAD"]
    ):
        desk.put(path, age=age)
    return desk


@pytest.mark.parametrize(
    ("pattern", "files"),
    [
        ("**/*.py", ["src/a.py", "src/deep/b.py"]),
        ("*.py", []),
        ("src/*.py", ["src/a.py"]),
        ("./src//*.py", ["src/a.py"]),
        ("src/**", ["src/a.py", "src/deep/b.py", "src/deep/c.ts"]),
        ("**/deep/*.{ts,py}", ["src/deep/b.py", "src/deep/c.ts"]),
        ("{README,src/{a,z}}.*", ["README.md", "src/a.py"]),
        ("src/[ab].py", ["src/a.py"]),
        ("src/?.py", ["src/a.py"]),
        ("**/.github/*", [".github/d.yml"]),
        ("**/config", []),
        ("/workspace/src/**/*.ts", ["src/deep/c.ts"]),
        ("/workspace/README.md", ["README.md"]),
        ("{a}", []),
    ],
)
async def test_a_pattern_finds_paths(tree: Desk, pattern: str, files: list[str]) -> None:
    result = await tree.good("Glob", pattern=pattern)
    assert result == {"files": files, "count": len(files), "truncated": False}


async def test_the_most_recently_changed_file_stands_first(desk: Desk) -> None:
    for age, name in ((2, "b"), (1, "c"), (3, "a"), (2, "a2")):
        desk.put(name, age=age)
    assert (await desk.good("Glob", pattern="*"))["files"] == ["c", "a2", "b", "a"]


async def test_a_search_may_begin_in_a_directory_of_version_control(tree: Desk) -> None:
    assert (await tree.good("Glob", pattern="*", path=".git"))["files"] == [".git/config"]


async def test_a_place_that_is_none_is_told(tree: Desk) -> None:
    assert (await tree.bad("Glob", pattern="*", path="scr"))[1] == "File not found: scr; did you mean src?"
    assert (await tree.bad("Glob", pattern="*", path="README.md"))[0] == "not_a_file"
    assert (await tree.bad("Glob", pattern="/etc/*"))[0] == "unsafe_path"


@pytest.mark.parametrize("pattern", ["", "/", "../*", "a/../b", "x" * 1001, "{a,b}" * 7, "a\0"])
async def test_what_cannot_be_a_pattern_is_refused(desk: Desk, pattern: str) -> None:
    code, _ = await desk.bad("Glob", pattern=pattern)
    assert code in ("invalid_arguments", "unsafe_path")


async def test_many_files_are_counted_and_the_newest_are_named(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glob, "MAX_FILES", 2)
    for age in range(4):
        desk.put(f"f{age}", age=age)
    assert await desk.good("Glob", pattern="*") == {"files": ["f0", "f1"], "count": 4, "truncated": True}


@pytest.mark.parametrize(("bound", "value"), [("MAX_ENTRIES", 3), ("MAX_SECONDS", -1.0)])
async def test_a_search_of_too_much_ends_and_says_so(
    tree: Desk, monkeypatch: pytest.MonkeyPatch, bound: str, value: float
) -> None:
    monkeypatch.setattr(file_walk, bound, value)
    result = await tree.good("Glob", pattern="**")
    assert result["truncated"] is True
    assert str(result["notice"]).endswith("give a path or a narrower pattern")


async def test_a_deep_tree_ends_the_search_and_not_the_program(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_walk, "MAX_DEPTH", 3)
    desk.put("a/b/c/d.txt")
    desk.put("a/b/e.txt")
    assert (await desk.good("Glob", pattern="**/*.txt"))["files"] == ["a/b/e.txt"]


async def test_a_directory_that_vanishes_is_left_out(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.put("a/b.txt")
    desk.put("c.txt")
    whole = WorkspaceRoot.scan

    def vanish(root: WorkspaceRoot, parts: tuple[str, ...]) -> list[Entry]:
        if parts == ("a",):
            raise FileNotFoundError(2, "gone")
        return whole(root, parts)

    monkeypatch.setattr(WorkspaceRoot, "scan", vanish)
    assert (await desk.good("Glob", pattern="**"))["files"] == ["c.txt"]


@pytest.mark.unmeasured  # coverage makes it several times slower
def test_no_pattern_takes_long() -> None:
    pattern = parse_pattern("/".join(["**", "*a*a*a*a*a*b"] * 20))
    began = time.process_time()
    assert not pattern.matches(tuple(["a" * 60] * 200))
    assert time.process_time() - began < 2


def test_braces_without_a_comma_are_themselves() -> None:
    assert parse_pattern("{a}").matches(("{a}",))
    with pytest.raises(InvalidArgumentsError, match="more than 64"):
        parse_pattern("{a,b}" * 7)
