from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from prowess.errors import InvalidArgumentsError
from prowess.format import document_text, parse_document, read_skill, validate_skill

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.sampled_from(
    ["", " ", "---", "\n---\n", "a: b", "- a", "? a", "<<", "*a", "&a b", "!!str a", "1.0", "null", "yes", "~",
     "2026-01-02",
     "# no comment", "a #b", "'", '"', "\\", "\r", "\r\n", "{a}", "[", "|", ">-", "%TAG", "@a", "\ufeff", "k" * 1200]
)  # fmt: skip
_VALUE = st.recursive(_TEXT, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3))
_BODY = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)


@pytest.mark.proves("tooling.authoring.writer")
@given(st.dictionaries(_TEXT, _VALUE, max_size=5), _BODY)
def test_whatever_is_written_is_read_back(fields: dict[str, Any], body: str) -> None:
    try:
        written = document_text(fields, body)
    except InvalidArgumentsError as refusal:
        pytest.fail(f"refused: {refusal}")
    document = parse_document(written.encode())
    assert document.diagnostics == ()
    assert document.mapping() == fields
    assert list(document.mapping()) == list(fields)
    assert document.body == body.replace("\r\n", "\n").replace("\r", "\n")


def test_what_is_written_can_be_read_by_a_person_and_by_other_readers() -> None:
    fields = {
        "name": "pdf",
        "description": "Fills forms: all of them.",
        "metadata": {"version": "1.0", "tags": ["a", ["b", "c"], {"d": "yes", "e": "f"}], "none": {}, "nothing": []},
        "allowed-tools": "Read Bash(git:*)",
    }
    written = document_text(fields, "\n# PDF\n")
    assert written == (
        '---\nname: pdf\ndescription: "Fills forms: all of them."\nmetadata:\n  version: "1.0"\n  tags:\n'
        '    - a\n    - - b\n      - c\n    - d: "yes"\n      e: f\n  none: {}\n  nothing: []\n'
        "allowed-tools: Read Bash(git:*)\n---\n\n# PDF\n"
    )
    assert yaml.safe_load(written.split("---\n")[1]) == fields
    assert document_text({}) == "---\n---\n"


def test_a_skill_can_be_made_of_the_properties_of_another(tmp_path: Any) -> None:  # noqa: ANN401 -- a Path
    source = "---\nname: a\ndescription: >-\n  One: two\n  three.\nmetadata: {x: 1.10, y: 'no'}\n---\nBody\n"
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "SKILL.md").write_text(source)
    skill = read_skill(tmp_path / "a")
    again = document_text(skill.frontmatter.properties(), skill.body)
    (tmp_path / "a" / "SKILL.md").write_text(again)
    assert validate_skill(tmp_path / "a", profile="skillscraft") == []
    assert read_skill(tmp_path / "a").frontmatter.properties() == skill.frontmatter.properties()


def _deep(levels: int) -> dict[str, object]:
    value: object = "x"
    for _ in range(levels):
        value = {"k": value}
    return {"top": value}


@pytest.mark.parametrize(
    ("fields", "body", "says"),
    [
        ({"a": 1}, "", "a value of type int in a cannot be written"),
        ({"a": {"b": [None]}}, "", "a value of type NoneType in a.b[0] cannot be written"),
        ({"a": b"x"}, "", "type bytes"),
        ({"a": {1: "b"}}, "", "the key 1 in a cannot be written"),
        ({2: "b"}, "", "the key 2 at the top"),
        ({"a": "\ud800"}, "", "not UTF-8"),
        ({}, "\ud800", "not UTF-8"),
        ({}, "a\0b", "a NUL character at byte"),
        (_deep(20), "", "nested too deep"),
        (_deep(50_000), "", "nested too deep"),
        ({"a": "x" * 70_000}, "", "frontmatter"),
        ({"a": ["x"] * 10_001}, "", "more than 10000 values"),
        ({}, "x" * 3_000_000, "at most"),
    ],
)
def test_what_no_document_can_hold_is_refused(fields: dict[str, object], body: str, says: str) -> None:
    with pytest.raises(InvalidArgumentsError, match=says.replace("[", r"\[")):
        document_text(fields, body)


def test_what_lies_as_deep_as_is_read_is_written() -> None:
    fields = _deep(19)
    assert parse_document(document_text(fields)).mapping() == fields
