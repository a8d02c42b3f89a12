"""Grep: what is found and how it is shown, and that no pattern makes anybody wait."""

from __future__ import annotations

import io
import json
import os
import re
import sys
import time
from typing import TYPE_CHECKING

import anyio
import pytest

from prowess._internal.files.workspace_root import WorkspaceRoot
from prowess.errors import ExecTimeoutError, LimitExceededError
from prowess.tools import ToolCall, ToolExecutor
from prowess.tools.builtin import grep, grep_worker
from prowess.tools.builtin.grep import Grep
from prowess.tools.builtin.pattern_process import PatternProcess
from prowess.tools.builtin.workspace import Workspace

if TYPE_CHECKING:
    from tests.tools.builtin.desk import Desk

pytestmark = pytest.mark.anyio


@pytest.fixture
def tree(desk: Desk) -> Desk:
    desk.put("a.py", "import os\n\ndef find():\n    return os.name\n\nlast = 1\n", age=2)
    desk.put("src/b.ts", "const OS = 1;\nfind()\n", age=1)
    desk.put(".hidden/c.txt", "find me\r\nnothing\r\n", age=3)
    desk.put(".git/d.txt", "find me not\n")
    desk.put("e.bin", b"find\x00")
    desk.put("f.txt", b"f\xff find\n", age=4)
    return desk


async def test_files_with_matches_are_named_newest_first(tree: Desk) -> None:
    assert await tree.good("Grep", pattern="find") == {
        "files": ["src/b.ts", "a.py", ".hidden/c.txt", "f.txt"],
        "count": 4,
        "truncated": False,
    }


@pytest.mark.parametrize(
    ("arguments", "content"),
    [
        ({"pattern": "find", "glob": "*.t*"}, ["src/b.ts:2:find()", ".hidden/c.txt:1:find me", "f.txt:1:f\ufffd find"]),
        ({"pattern": "find", "path": "a.py", "-n": False}, ["a.py:def find():"]),
        ({"pattern": "^find.*$", "path": ".hidden"}, [".hidden/c.txt:1:find me"]),
        ({"pattern": "os", "-i": True, "path": "src"}, ["src/b.ts:1:const OS = 1;"]),
        ({"pattern": "find", "path": "a.py", "-A": 1}, ["a.py:3:def find():", "a.py-4-    return os.name"]),
        ({"pattern": "find", "path": "a.py", "-B": 2}, ["a.py-1-import os", "a.py-2-", "a.py:3:def find():"]),
        (
            {"pattern": "import|last", "path": "a.py", "-C": 1},
            ["a.py:1:import os", "a.py-2-", "--", "a.py-5-", "a.py:6:last = 1"],
        ),
        ({"pattern": "find", "head_limit": 1}, ["src/b.ts:2:find()"]),
        ({"pattern": r"def.*?name", "multiline": True}, ["a.py:3:def find():", "a.py:4:    return os.name"]),
        ({"pattern": "find", "glob": "*.py"}, ["a.py:3:def find():"]),
        ({"pattern": "find", "glob": "src/**/*.{ts,tsx}"}, ["src/b.ts:2:find()"]),
        ({"pattern": "find", "glob": "!*.{py,txt}"}, ["src/b.ts:2:find()"]),
        ({"pattern": "find", "path": "src", "glob": "b.ts"}, ["src/b.ts:2:find()"]),
        ({"pattern": "find", "path": "a.py", "glob": "*.py"}, ["a.py:3:def find():"]),
        ({"pattern": "^$", "path": "a.py"}, ["a.py:2:", "a.py:5:"]),
        ({"pattern": "nowhere"}, []),
    ],
)  # fmt: skip
async def test_content_is_shown_line_by_line(tree: Desk, arguments: dict[str, object], content: list[str]) -> None:
    result = await tree.good("Grep", output_mode="content", **arguments)
    assert str(result["content"]).splitlines() == content
    assert (result["lines"], result["truncated"]) == (len(content), "head_limit" in arguments)


async def test_matching_lines_are_counted(tree: Desk) -> None:
    result = await tree.good("Grep", pattern="os|find", output_mode="count")
    assert result["counts"] == {"src/b.ts": 1, "a.py": 3, ".hidden/c.txt": 1, "f.txt": 1}
    assert (result["total"], result["truncated"]) == (6, False)
    result = await tree.good("Grep", pattern="os|find", output_mode="count", head_limit=1)
    assert (result["counts"], result["truncated"]) == ({"src/b.ts": 1}, True)
    result = await tree.good("Grep", pattern="find", head_limit=3)
    assert (result["count"], result["truncated"]) == (3, True)


async def test_long_lines_and_long_answers_are_cut(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.put("a.txt", "x" * 600 + "\n" + "x\n" * 10)
    result = await desk.good("Grep", pattern="x", output_mode="content", head_limit=1)
    assert str(result["content"]).endswith("x ... (600 characters)\n")
    monkeypatch.setattr(grep, "MAX_CHARACTERS", 560)
    result = await desk.good("Grep", pattern="x", output_mode="content")
    assert (result["truncated"], len(str(result["content"])) <= 561) == (True, True)


async def test_what_was_not_searched_is_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grep, "MAX_FILE_BYTES", 10)
    desk.put("a.txt", "needle" * 10)
    desk.put("b.txt", "needle")
    result = await desk.good("Grep", pattern="needle")
    assert (result["files"], result["notices"]) == (["b.txt"], ["1 files over 10 bytes were not searched"])

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "no")

    monkeypatch.setattr(WorkspaceRoot, "open", refuse)
    result = await desk.good("Grep", pattern="needle")
    assert (result["files"], "1 files could not be read" in str(result["notices"])) == ([], True)
    monkeypatch.setattr("prowess.tools.builtin.file_walk.MAX_ENTRIES", 0)
    assert "the search stopped after 0 entries" in str((await desk.good("Grep", pattern="needle"))["notices"])


@pytest.mark.parametrize("pattern", ["(", "a{2}{3}", "[z-a]", r"(?P<a>b)(?P<a>c)", "(?<=a*)b", "*"])
async def test_what_is_no_regular_expression_is_refused(desk: Desk, pattern: str) -> None:
    code, sentence = await desk.bad("Grep", pattern=pattern)
    assert code == "invalid_arguments"
    assert sentence.startswith("pattern is not a Python regular expression: ")


async def test_a_place_that_is_none_is_told(tree: Desk) -> None:
    assert (await tree.bad("Grep", pattern="a", path="scr"))[1] == "File not found: scr; did you mean src?"


@pytest.mark.proves("runtime.toolargs.errors")
async def test_a_pattern_that_would_take_for_ever_is_ended(desk: Desk) -> None:
    desk.put("a.txt", "a" * 60 + "b")
    executor = ToolExecutor([Grep(Workspace(desk.root), seconds=0.3)])
    began = time.monotonic()
    result = await executor.call(ToolCall(id="1", name="Grep", arguments={"pattern": "(a+)+$"}))
    assert time.monotonic() - began < 20
    assert (
        result.error == "Timeout exceeded: the search was ended after 0.3 s; use a simpler pattern or a narrower path"
    )
    assert result.error_detail is not None
    assert result.error_detail["code"] == "timeout"


async def test_a_cancelled_search_keeps_nobody_waiting(desk: Desk) -> None:
    desk.put("a.txt", "a" * 60 + "b")
    executor = ToolExecutor([Grep(Workspace(desk.root), seconds=0.8)])
    with anyio.fail_after(0.6), anyio.move_on_after(0.1) as scope:
        await executor.call(ToolCall(id="1", name="Grep", arguments={"pattern": "(a+)+$"}))
    assert scope.cancelled_caught


def test_a_pattern_that_needs_too_much_memory_is_told() -> None:
    with PatternProcess("a", ignore_case=False, multiline=False, seconds=5) as process:
        process._process.kill()  # as the kernel does it
        process._process.wait()
        with pytest.raises(LimitExceededError, match="memory for the pattern"):
            process.search(b"a")


def test_a_pattern_that_is_not_ready_in_time_is_ended() -> None:
    with pytest.raises(ExecTimeoutError, match="was ended after 0 s"):
        PatternProcess("a", ignore_case=False, multiline=False, seconds=0)


def test_the_process_ends_with_its_user() -> None:
    process = PatternProcess("a", ignore_case=False, multiline=False, seconds=5)
    process.close()
    assert process._process.returncode is not None
    with pytest.raises(ProcessLookupError):
        os.kill(process._process.pid, 0)


@pytest.mark.parametrize(
    ("pattern", "text", "multiline", "expected"),
    [
        ("b", "a\nb\nb", False, [(1, 1), (2, 2)]),
        ("$", "a\n", False, [(0, 0)]),
        ("a$", "a\r\n", False, [(0, 0)]),
        ("x*", "", False, [(0, 0)]),
        ("b.c", "a\nb\nc\nb\nc\n", True, [(1, 2), (3, 4)]),
        ("b\n", "a\nb\nc", True, [(1, 1)]),
        ("^c", "a\nb\nc", True, [(2, 2)]),
    ],
)
def test_matches_are_lines(pattern: str, text: str, multiline: bool, expected: list[tuple[int, int]]) -> None:  # noqa: FBT001 -- a column of the table
    compiled = grep_worker.compiled(pattern, ignore_case=False, multiline=multiline)
    assert grep_worker.spans(compiled, text, multiline=multiline) == expected


def test_matches_of_one_text_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grep_worker, "MAX_MATCHES", 2)
    for multiline in (False, True):
        assert grep_worker.spans(re.compile("a"), "a\na\na\n", multiline=multiline) == [(0, 0), (1, 1)]


def _served(monkeypatch: pytest.MonkeyPatch, asked: dict[str, object], *texts: bytes) -> list[object]:
    bounds: list[tuple[int, int]] = []
    monkeypatch.setattr(grep_worker, "limit", lambda *given: bounds.append(given))
    source = json.dumps(
        {"cpu_seconds": 1, "memory_bytes": 2, "ignore_case": True, "multiline": False, **asked}
    ).encode()
    source += b"\n" + b"".join(len(text).to_bytes(4, "big") + text for text in texts)
    target = io.BytesIO()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(source)))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(target))
    grep_worker.serve()
    assert bounds == [(1, 2)]
    return [json.loads(line) for line in target.getvalue().splitlines()]


def test_the_worker_answers_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _served(monkeypatch, {"pattern": "A"}, b"a\nb", b"b", b"\xff a") == [{}, [[0, 0]], [], [[0, 0]]]
    [answer] = _served(monkeypatch, {"pattern": "("})
    assert "error" in str(answer)
