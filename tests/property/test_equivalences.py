"""What must not depend on how a file was saved, and what a position must mean."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from prowess.format import SkillDocument, parse_document

_VALUES = st.sampled_from(
    [
        "d",
        "'q'",
        '"a b"',
        ">-\n  one\n  two",
        "|\n  one\n\n  two\n",
        "a: b",
        "[x, y]",
        "{k: v}",
        "\n  a: b\n  c: [d]",
        "'tis",
        "é",
    ]
)
_FRONT = st.lists(st.tuples(st.sampled_from(["name", "description", "metadata", "own"]), _VALUES), max_size=5).map(
    lambda entries: "".join(f"{key}: {value}\n" for key, value in entries)
)
_BODY = st.lists(st.sampled_from(["text", "", "---", "- a", "[x](y.md)"]), max_size=5).map("\n".join)


def facts(document: SkillDocument) -> object:
    return (
        document.mapping(),
        document.body,
        document.body_line,
        [(field.key, field.location, field.key_location) for field in document.fields],
        [(found.rule, found.location, found.message) for found in document.diagnostics],
    )


@given(_FRONT, _BODY, st.sampled_from(["\r\n", "\r"]))
@pytest.mark.proves("format.frontmatter.newlines")
def test_line_breaks_make_no_difference(front: str, body: str, end: str) -> None:
    text = f"---\n{front}---\n{body}"
    document = parse_document(text.replace("\n", end))
    if end == "\r":  # read alike, but other readers do not, which is a finding of its own
        told = tuple(found for found in document.diagnostics if found.rule != "frontmatter.fence")
        assert len(told) < len(document.diagnostics)
        document = structs.replace(document, diagnostics=told)
    assert facts(document) == facts(parse_document(text))
    assert facts(parse_document(text.encode())) == facts(parse_document(text))


@given(_FRONT, _BODY)
def test_a_byte_order_mark_makes_one_note_and_no_difference(front: str, body: str) -> None:
    text = f"---\n{front}---\n{body}"
    plain, marked = parse_document(text), parse_document("\ufeff" + text)
    assert marked.mapping() == plain.mapping()
    assert marked.body == plain.body
    assert [found.rule for found in marked.diagnostics] == [
        "encoding.bom",
        *[found.rule for found in plain.diagnostics],
    ]


@given(st.text(st.sampled_from("ab\x85\u2028\u2029é\U0001f600 "), max_size=12), _FRONT)
@pytest.mark.proves("format.parse.positions")
def test_a_position_holds_what_it_says_whatever_stands_before_it(odd: str, front: str) -> None:
    document = parse_document(f'---\n"{odd}": "{odd}"\n{front}---\n')
    lines = document.text.split("\n")
    for field in document.fields:
        place = field.key_location
        line = lines[place.line - 1]
        assert line[place.column - 1 :].lstrip('"').startswith(field.key)
        assert document.text.startswith(field.source, field.value.start)


@given(_FRONT)
@pytest.mark.proves("format.frontmatter.source-text", "format.frontmatter.block-scalars")
def test_values_are_what_pyyaml_reads_when_it_types_nothing(front: str) -> None:
    document = parse_document(f"---\n{front}---\n")
    if document.diagnostics or not document.fields:
        return
    assert document.mapping() == yaml.load(front, Loader=yaml.CBaseLoader)  # noqa: S506 -- it builds nothing but texts


@given(_FRONT, _FRONT)
@pytest.mark.proves("format.repair.strict-first")
def test_mending_one_value_leaves_its_neighbours_alone(before: str, after: str) -> None:
    broken = parse_document(f"---\n{before}broken: a: b\n{after}---\n")
    whole = parse_document(f'---\n{before}broken: "a: b"\n{after}---\n')
    assert broken.mapping() == whole.mapping()
    assert [found.location.line for found in whole.diagnostics] == [
        found.location.line for found in broken.diagnostics if found.location.line != 2 + before.count("\n")
    ] or not whole.complete
