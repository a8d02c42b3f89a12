"""Nothing that a file says reaches the terminal as a command."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess._internal.text.terminal_text import json_parts, json_text, printable, printable_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("a\rb", "a\\x0db"),
        ("\x9b2J", "\\x9b2J"),
        ("abc\u202edcba", "abc\\u202edcba"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\ufeffbom", "\\ufeffbom"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("lone \ud800", "lone \\ud800"),
        ("a byte \udcff", "a byte \\xff"),
        ("日本語 ünïcode 🙂", "日本語 ünïcode 🙂"),
    ],
)
def test_what_a_terminal_would_act_on_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_a_line_stays_one_line() -> None:
    assert printable_line("a\nb\tc\x07") == "a\\nb\\tc\\x07"


@given(st.text())
def test_no_control_character_but_tab_and_line_feed_passes(text: str) -> None:
    assert {char for char in printable(text) if unicodedata.category(char) == "Cc"} <= {"\t", "\n"}


@given(st.text())
def test_making_a_text_printable_twice_changes_nothing_more(text: str) -> None:
    assert printable(printable(text)) == printable(text)
    assert printable_line(printable_line(text)) == printable_line(text)


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"none": [], "empty": {}},
        {"one": [{"a": 1, "b": [], "c": ["x\ny", {"d": None}]}], "two": ["\x1b\x7f\u202e", "ü\udcff"], 'th"ree': 3},
    ],
)
def test_a_document_in_parts_has_the_text_of_the_whole(members: dict[str, object]) -> None:
    lazy = {
        name: (one for one in value) if isinstance(value, list) else value  # a generator, item by item
        for name, value in members.items()
    }
    assert "".join(json_parts(lazy)) == json_text(members, indent=2)
