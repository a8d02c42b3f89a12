"""The reader of code blocks, so that no example is silently left out."""

from __future__ import annotations

import pytest

from tests.docs_src.blocks import Block, output_matches, runnable_blocks, steps


def test_python_and_prowess_blocks_are_run_and_others_are_not() -> None:
    page = "\n".join(
        [
            *("```python", "x = 1", "```"),
            *("```console", "$ prowess list", "a", "```"),
            *("```console", "$ make demo", "```"),
            *("```text", "$ prowess list", "```"),
        ]
    )
    assert [(block.language, block.line) for block in runnable_blocks(page)] == [("python", 2), ("console", 5)]


def test_a_comment_with_a_reason_leaves_the_next_block_out_and_only_that() -> None:
    page = "<!-- not run: needs a model -->\n\n```python\n1 / 0\n```\n\n```python\nx = 1\n```\n"
    assert [block.code for block in runnable_blocks(page)] == ["x = 1"]


def test_a_comment_without_a_reason_leaves_nothing_out() -> None:
    assert len(list(runnable_blocks("<!-- not run: -->\n```python\nx = 1\n```\n"))) == 1


def test_programs_that_a_block_needs_are_read() -> None:
    (block,) = runnable_blocks("<!-- needs: bwrap git -->\n```console\n$ prowess run\n```\n")
    assert block.needs == ("bwrap", "git")


def test_a_longer_fence_may_hold_a_shorter_one() -> None:
    assert list(runnable_blocks("````markdown\n```python\n1 / 0\n```\n````\n")) == []


def test_a_console_block_is_split_into_commands_and_their_output() -> None:
    block = Block(language="console", code="$ prowess list \\\n>   --json\n{}\n\n$ prowess why x\nx\n", line=10)
    assert [(step.command, step.output, step.line) for step in steps(block)] == [
        ("prowess list \\\n  --json", ("{}",), 10),
        ("prowess why x", ("x",), 14),
    ]


def test_an_empty_line_of_a_command_may_stand_without_a_blank() -> None:
    block = Block(language="console", code="$ cat <<'END'\n> a\n>\n> b\n> END\na", line=1)
    assert [step.command for step in steps(block)] == ["cat <<'END'\na\n\nb\nEND"]


@pytest.mark.parametrize(
    ("expected", "actual", "matches"),
    [
        (("a", "b"), "a\nb\n", True),
        (("a",), "a\nb\n", False),
        (("a",), "a \n\n", True),
        (("a…c",), "abbbc\n", True),
        (("a…c",), "ab\nbc\n", False),
        (("…", "z"), "a\nb\nz\n", True),
        (("…", "z"), "z\n", True),
        (("a", "…"), "a\n", True),
        (("a.c",), "abc\n", False),
        ((), "", True),
        ((), "a\n", False),
    ],
)
def test_output_is_compared_line_by_line_with_wildcards(
    expected: tuple[str, ...], actual: str, *, matches: bool
) -> None:
    assert output_matches(expected, actual) is matches
