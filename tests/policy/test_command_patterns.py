"""Patterns of command lines: what fits for certain, what may, and stars that cost nothing."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.policy.patterns import CommandPattern, judge_command, matches_stars

if TYPE_CHECKING:
    from prowess.policy.decision import Fit


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


@pytest.mark.proves("governance.policy.commands-started")
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


@pytest.mark.proves("governance.policy.commands-started")
@pytest.mark.parametrize(
    "line",
    [
        "env -S 'A=1 git push'",
        "git -ccore.pager='git push' log",
        "git -c CORE.pager='git push' log",
        "git -C . push",
        "git -C /elsewhere -c user.name=x push origin main",
        "git --no-pager push",
        "git --git-dir=.git push --force",
        "/usr/bin/git -C . push",
        "env git push",
        "env -i A=1 git -C . push",
        "/usr/bin/env git push",
        "command git push",
        "exec git push",
        "eval 'git push'",
        "nohup git push &",
        "nohup git push",
        "timeout 5 git push",
        "timeout -k 1 5 nice -n 5 git push",
        "sudo -u x git push",
        "stdbuf -o0 git push",
        "setsid git push",
        "xargs git push",
        "echo push | xargs git",
        "echo origin | xargs -n1 git push",
        "xargs -I{} git {} origin",
        "find . -name x -exec git push ;",
        "find . -maxdepth 0 -exec git push {} +",
        "bash -c 'git push'",
        "bash -lc 'cd x && git push'",
        "bash -e -o pipefail -c 'git status; git push'",
        "bash --norc -c 'git push'",
        "sh -c 'env git -C . push'",
        "sh -c \"sh -c 'git push'\"",
        "bash -c 'if true; then git push; fi'",
        "bash -c $X",
        "echo 'git push' | bash",
        "echo 'git push' | sh -s",
        "bash /dev/stdin",
        "busybox sh -c 'git push'",
        "flock /tmp/lock -c 'git push'",
        "watch 'git push'",
        "env -S 'git push'",
        "env -S'git push'",
        "python3 -c 'import os; os.system(\"git push\")'",
        "perl -e 'exec qw(git push)'",
        "node --eval 'require(`child_process`).execSync(`git push`)'",
        "awk 'BEGIN { system(\"git push\") }'",
        "git status | env git push",
    ],
)
def test_a_program_that_starts_the_refused_one_is_found(line: str) -> None:
    assert _fit(line, "git push:*").possible


@pytest.mark.parametrize(
    "line",
    [
        "git commit -m push",
        "git diff",
        "git diff --stat origin/main",
        "git merge main",
        "git difftool --help",
        "git -c user.name=x commit -m a",
        "git commit -c HEAD",
        "git rebase main",
        "env CFLAGS='-O2 -g' make",
        "python3 -V",
        "node -v",
        "python3 --version",
        "python3 -m pytest -q",
        "sudo -u x git status",
        "npm run build",
        "watch -n1 ls",
        "git log --oneline origin",
        "git stash list",
        "env git status",
        "env A=push git status",
        "bash -c 'git status'",
        "bash build.sh push",
        "bash --version",
        "sh -c 'echo git push'",
        "echo 'git push'",
        "python3 -c 'print(1)'",
        "python3 tool.py git push",
        "xargs -n1 rm",
        "grep -r 'git push' .",
        "timeout 5 git status",
        "busybox ls",
    ],
)
def test_what_starts_something_else_is_not_taken_for_the_refused_program(line: str) -> None:
    assert not _fit(line, "git push:*").possible


@pytest.mark.parametrize(
    ("line", "possible"),
    [
        ("rm -r -f x", True),
        ("rm -fr x", True),
        ("rm -rfv x", True),
        ("rm -v -rf x", True),
        ("rm -r x", False),
        ("rm x", False),
        ("find . -exec rm -rf {} +", True),
    ],
)
def test_letters_of_options_may_be_given_apart(line: str, possible: bool) -> None:  # noqa: FBT001 -- a column of the table
    assert _fit(line, "rm -rf:*").possible is possible


@pytest.mark.unmeasured  # coverage makes it several times slower
@pytest.mark.parametrize(
    "line", ["env " * 4000 + "ls", "env " + "a " * 4000, "xargs " * 300 + "ls", "sh -c 'sh -c ls' " * 50]
)
def test_programs_that_start_programs_are_followed_to_a_bound(line: str) -> None:
    begun = time.process_time()
    assert _fit(line, "git push:*").possible is (not line.startswith("sh"))
    assert time.process_time() - begun < 5  # the square of the words would be minutes


def test_a_call_without_a_command_line_may_mean_any() -> None:
    fit = _fit(["git"], "git:*")
    assert not fit.certain
    assert fit.possible
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


@pytest.mark.unmeasured  # coverage makes it several times slower
def test_many_stars_cost_little() -> None:
    begun = time.process_time()
    assert not matches_stars("*a" * 2000 + "b", "a" * 20000, slash=True)
    assert time.process_time() - begun < 1
