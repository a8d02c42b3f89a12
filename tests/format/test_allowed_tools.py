from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.format import ToolToken, parse_allowed_tools


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Bash(git:*) Bash(jq:*) Read", [("Bash", "git:*"), ("Bash", "jq:*"), ("Read", None)]),
        ("Bash(git:*) Read Write", [("Bash", "git:*"), ("Read", None), ("Write", None)]),
        ("Bash(python:*) Read", [("Bash", "python:*"), ("Read", None)]),
        ("Bash Read", [("Bash", None), ("Read", None)]),
        ("Bash(git add *)", [("Bash", "git add *")]),
        ("Bash(a, b),Read", [("Bash", "a, b"), ("Read", None)]),
        ("Bash(f(x))", [("Bash", "f(x)")]),
        ("  ", []),
        ("", []),
        ("mcp__a__b\n*", [("mcp__a__b", None), ("*", None)]),
    ],
)
@pytest.mark.proves(
    "format.allowed-tools.example-git",
    "format.allowed-tools.example-write",
    "format.allowed-tools.example-plain",
    "format.allowed-tools.parentheses",
    "format.allowed-tools.tokens",
)
def test_a_text_is_a_row_of_tokens(text: str, tokens: list[tuple[str, str | None]]) -> None:
    tools = parse_allowed_tools(text)
    assert tools.fault is None
    assert [(token.name, token.pattern) for token in tools.tokens] == tokens


@pytest.mark.parametrize(
    ("text", "offset", "says"),
    [
        ("Bash (x)", 5, "there is a space before this parenthesis"),
        ("(x)", 0, "a tool name is missing"),
        ("Bash()", 4, "write Bash for the whole tool"),
        ("Bash( )", 4, "empty"),
        ("Bash(x", 4, "never closed"),
        ("Bash(x))", 7, "separate tokens by a space"),
        ("Read)", 4, "was never opened"),
        ("Bash(x)y", 7, "separate tokens by a space"),
        ("a,,b", 2, "missing before this comma"),
        (",a", 0, "missing before this comma"),
    ],
)
@pytest.mark.proves("format.allowed-tools.syntax")
def test_what_does_not_fit_permits_nothing_and_is_found_at_its_place(text: str, offset: int, says: str) -> None:
    tools = parse_allowed_tools(text)
    assert tools.tokens == ()
    assert tools.fault is not None
    assert tools.fault.offset == offset
    assert says in tools.fault.message


def test_commas_are_noticed() -> None:
    assert parse_allowed_tools("Read, Grep,").commas
    assert not parse_allowed_tools("Bash(a,b) Read").commas


@pytest.mark.unmeasured
@given(st.lists(st.from_regex(r"[A-Za-z]{1,5}(\([a-z :*]*[a-z*][a-z :*]*\))?", fullmatch=True), max_size=5))
def test_writing_the_tokens_gives_the_text_back(tokens: list[str]) -> None:
    tools = parse_allowed_tools(" ".join(tokens))
    assert [str(token) for token in tools.tokens] == tokens


def test_a_bare_name_differs_from_a_pattern() -> None:
    assert ToolToken(name="Bash") != ToolToken(name="Bash", pattern="*")
