from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.format import parse_document
from prowess.format.source.scalars import double_quoted, scalar

_TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(_TEXT, st.sampled_from([double_quoted, scalar]))
def test_what_is_written_is_read_back(text: str, write: object) -> None:
    assert callable(write)
    document = parse_document(f"---\nname: {write(text)}\n---\n")
    assert document.text_of("name") == text
    assert document.diagnostics == ()


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a", "a"), ("Read Bash(git:*)", "Read Bash(git:*)"), ("a: b", '"a: b"'), ("a:", '"a:"'), ("*", '"*"'),
        ("", '""'),
        ("a #b", '"a #b"'), ("'x'", "\"'x'\""), ("a ", '"a "'), ("-x", '"-x"'), ("é", "é"), ("a\nb", '"a\\nb"'),
    ],
)  # fmt: skip
def test_a_text_is_quoted_only_where_it_must_be(text: str, written: str) -> None:
    assert scalar(text) == written
