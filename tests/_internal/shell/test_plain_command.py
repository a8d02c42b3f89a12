from __future__ import annotations

import re

import pytest

from prowess._internal.shell.plain_command import plain_words
from prowess._internal.shell.words import ShellRefusal


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("git status --short", ("git", "status", "--short")),
        ("grep 'a|b; c' \"x && y\" z\\ z", ("grep", "a|b; c", "x && y", "z z")),
        ("scripts/own.sh 'it'\"'\"'s' ''", ("scripts/own.sh", "it's", "")),
        ("  echo $ 'a $HOME `b`'  # a comment\n", ("echo", "$", "a $HOME `b`")),
        ("awk '{print $1}' a.txt", ("awk", "{print $1}", "a.txt")),
    ],
)
def test_words_are_those_that_a_shell_would_pass(line: str, words: tuple[str, ...]) -> None:
    assert plain_words(line) == words


@pytest.mark.parametrize(
    ("line", "construct"),
    [
        ("a && b", "list"),
        ("a || b", "list"),
        ("a; b", "list"),
        ("a | b", "pipe"),
        ("a |& b", "pipe"),
        ("a &", "background"),
        ("a & b", "background"),
        ("a\nb", "lines"),
        ("a 2> b", "redirection"),
        ("a 2>/dev/null", "redirection"),
        ("a 2>&1", "redirection"),
        ("a > b", "redirection"),
        ("a < b", "redirection"),
        ("a <<< b", "heredoc"),
        ("a <(b)", "process-substitution"),
        ("a $(b)", "substitution"),
        ('a "$(b)"', "substitution"),
        ("a `b`", "substitution"),
        ('a "`b`"', "substitution"),
        ("a $HOME", "substitution"),
        ('a "${HOME}"', "substitution"),
        ("(a)", "subshell"),
        ("a *.md", "pattern"),
        ("cat ~/x", "pattern"),
        ("a {b,c}", "braces"),
        ("A=1 b", "assignment"),
        ("if a", "keyword"),
        ("! a", "keyword"),
        ("exec a", "builtin"),
        ("source a.sh", "builtin"),
        ('a "b', "syntax"),
        ("a 'b", "syntax"),
        ("a \\", "syntax"),
        ("", "empty"),
        (" \n ", "empty"),
        ("# nothing", "empty"),
        ("a\0b", "control"),
        ("a \ue0000\ue001", "control"),
        ("a \ud800", "control"),
        ("a\rb", "control"),
    ],
)
def test_what_only_a_shell_can_do_is_refused_whole(line: str, construct: str) -> None:
    refused = plain_words(line)
    assert isinstance(refused, ShellRefusal)
    assert refused.construct == construct
    assert refused.reason


def test_a_value_stays_within_its_word() -> None:
    values = {"$1": "a; b 'c' $(d) \"", "$2": "x y"}

    def value(match: re.Match[str]) -> str | None:
        return values.get(match[0])

    pattern = re.compile(r"\$[0-9]")
    assert plain_words("run $1 \"<$2>\" '$2' --x=$2", pattern, value) == (
        "run",
        values["$1"],
        "<x y>",
        "x y",
        "--x=x y",
    )
    assert plain_words("$2 a", pattern, value) == ("x y", "a")
    assert isinstance(plain_words("run $3", pattern, value), ShellRefusal)
