"""Patterns of command lines: what fits for certain, what may, and stars that cost nothing."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.policy.command_patterns import CommandPattern, judge_command, matches_stars

if TYPE_CHECKING:
    from prowess.policy.fit import Fit


def _fit(line: object, *patterns: str) -> Fit:
    return judge_command(line, [CommandPattern.parse(pattern) for pattern in patterns])


@pytest.mark.parametrize(
    ("source", "words", "open_end"),
    [
        ("git:*", ("git",), True),
        ("git *", ("git",), True),
        ("git status:*", ("git", "status"), True),
        ("git status", ("git", "status"), False),
        (" git\t log  * ", ("git", "log"), True),
        ("git*", ("git*",), False),
        (":*", (), True),
        ("*", (), True),
    ],
)
def test_a_pattern_is_words_and_an_open_end(source: str, words: tuple[str, ...], open_end: bool) -> None:  # noqa: FBT001 -- a column of the table
    pattern = CommandPattern.parse(source)
    assert (pattern.words, pattern.open_end) == (words, open_end)


def test_each_part_needs_a_pattern_and_any_of_them_will_do() -> None:
    assert _fit("git log | head -3", "git:*", "head:*").certain
    fit = _fit("git log | head -3", "git:*")
    assert not fit.certain
    assert fit.reason == "'head -3' fits none of 'git:*'"


def test_a_long_command_is_shortened_in_the_reason() -> None:
    assert len(_fit("rm " + "x" * 5000, "git:*").reason) < 200


@pytest.mark.parametrize(
    ("line", "possible"),
    [
        ("git push", True),
        ("git push origin", True),
        ("git status && git push", True),
        ("/usr/bin/git push", True),
        ("git p*", True),
        ("git *", True),
        ("git $x", True),
        ("git push &", True),
        ("git 'unclosed", True),
        ("git", False),
        ("git status", False),
        ("echo git push", False),
        ("echo *", False),
    ],
)
def test_what_may_be_meant_counts_for_a_rule_that_refuses(line: str, possible: bool) -> None:  # noqa: FBT001 -- a column of the table
    assert _fit(line, "git push:*").possible is possible


def test_without_an_open_end_more_words_cannot_be_meant() -> None:
    assert not _fit("git push origin", "git push").possible
    assert _fit("git push *", "git push x").possible


def test_what_is_no_text_fits_nothing() -> None:
    assert not _fit(["git"], "git:*").possible
    assert _fit(["git"], "*").certain


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("a", "a", True),
        ("a", "ab", False),
        ("*", "", True),
        ("a*b", "ab", True),
        ("a*a", "a", False),
        ("a*b*c", "aXbYc", True),
        ("a*b*c", "aXcYb", False),
        ("*a*", "bab", True),
        ("**", "x", True),
    ],
)
def test_a_star_stands_for_any_characters(pattern: str, text: str, fits: bool) -> None:  # noqa: FBT001 -- a column of the table
    assert matches_stars(pattern, text, slash=True) is fits


def test_in_a_program_a_star_stands_for_no_slash() -> None:
    assert matches_stars("./s/*", "./s/a", slash=False)
    assert not matches_stars("./s/*", "./s/../a", slash=False)
    assert not matches_stars("*", "/bin/a", slash=False)


@given(st.text("ab*", max_size=8), st.text("ab", max_size=10))
def test_stars_agree_with_a_regular_expression(pattern: str, text: str) -> None:
    expression = ".*".join(re.escape(piece) for piece in pattern.split("*"))
    assert matches_stars(pattern, text, slash=True) is bool(re.fullmatch(expression, text))


def test_many_stars_cost_little() -> None:
    begun = time.process_time()
    assert not matches_stars("*a" * 2000 + "b", "a" * 20000, slash=True)
    assert time.process_time() - begun < 1
