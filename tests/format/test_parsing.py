from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.diagnostics import FixSafety, Severity
from prowess.format import parse_document, validate_skill
from prowess.format.limits import MAX_DOCUMENT_BYTES, MAX_FRONT_MATTER_BYTES
from prowess.format.profiles import PROFILES

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "---\nname: a\ndescription: d\n---\n"


def rules(source: bytes | str) -> list[str]:
    return [found.rule for found in parse_document(source).diagnostics]


@pytest.mark.proves("format.frontmatter.dashes-in-value", "format.frontmatter.order")
def test_a_fence_inside_a_value_does_not_end_the_front_matter() -> None:
    document = parse_document("---\nname: pdf\ndescription: one --- two\n---\nbody\n---\nmore\n")
    assert document.text_of("description") == "one --- two"
    assert document.body == "body\n---\nmore\n"
    assert document.body_line == 5
    assert document.front_matter == "name: pdf\ndescription: one --- two\n"
    assert document.front_matter_line == 2
    front = "license: |\n  one\n  ---\n  two\ndescription: one ---\ncompatibility: '---'\n"
    block = parse_document(f"---\n{front}---\n---\n\n---\nbody")
    assert (block.front_matter, block.body) == (front, "---\n\n---\nbody")
    assert list(block.mapping().values()) == ["one\n---\ntwo\n", "one ---", "---"]


def test_a_document_knows_its_path_and_digest() -> None:
    source = HEAD.encode()
    document = parse_document(source, path="x/SKILL.md")
    assert document.path == "x/SKILL.md"
    assert document.document_digest == f"sha256:{hashlib.sha256(source).hexdigest()}"
    assert document.directory is None
    assert document.directory_name is None
    assert parse_document(HEAD).document_digest == document.document_digest


def test_fields_keep_order_duplicates_source_and_place() -> None:
    document = parse_document("---\nname: 'a'\nname: b\nmetadata: {k: [v]}\n---\n", path="S")
    assert [field.key for field in document.fields] == ["name", "name", "metadata"]
    first = document.field("name")
    assert first is not None
    assert (first.text, first.source) == ("a", "'a'")
    assert str(first.location) == "S:2:7"
    assert (first.location.end_line, first.location.end_column) == (2, 10)
    assert str(first.key_location) == "S:2:1"
    metadata = document.field("metadata")
    assert metadata is not None
    assert metadata.text is None
    assert document.mapping() == {"name": "a", "metadata": {"k": ["v"]}}
    assert document.text_of("metadata") is None
    assert document.text_of("license") is None


@pytest.mark.proves("format.encoding.bom", "format.parse.positions")
def test_a_byte_order_mark_is_dropped_and_counts_in_the_first_line_only() -> None:
    document = parse_document("\ufeff---\nname: &x a\n---\n")
    bom, anchor = document.diagnostics
    assert (bom.rule, bom.location.line, bom.location.column) == ("encoding.bom", 1, 1)
    (judged,) = validate_skill(parse_document("\ufeff" + HEAD))
    assert (judged.rule, judged.severity) == ("encoding.bom", Severity.INFO)
    assert bom.fix is not None
    assert (anchor.location.line, anchor.location.column) == (2, 7)
    unclosed = parse_document("\ufeff---\n").diagnostics[1]
    assert (unclosed.location.line, unclosed.location.column) == (1, 2)


@pytest.mark.parametrize(
    ("source", "offset", "line", "column"),
    [
        (b"---\r\nname: \xff\r\n---\r\n", 11, 2, 7),
        (b"\xef\xbb\xbf\xff---\n", 3, 1, 2),
        ("---\nname: é".encode() + b"\xe9\n---\n", 12, 2, 8),
    ],
)
@pytest.mark.proves("format.encoding.invalid")
def test_a_bad_byte_is_found_by_offset_line_and_column(source: bytes, offset: int, line: int, column: int) -> None:
    faults = [found for found in validate_skill(parse_document(source)) if found.rule == "encoding.invalid"]
    assert [(one.severity, one.detail) for one in faults] == [(Severity.ERROR, f"byte {offset}")]
    fault = faults[0]
    assert (fault.location.line, fault.location.column) == (line, column)


def test_a_lone_surrogate_in_a_text_is_no_utf_8() -> None:
    assert "encoding.invalid" in rules("---\nname: \ud800\n---\n")


@pytest.mark.proves("format.encoding.nul")
def test_a_nul_is_found_anywhere() -> None:
    assert rules(HEAD + "a\0b") == ["encoding.nul"]
    assert "encoding.nul" in rules("\0")


_FAULTLESS = "---\nname: a\n# c\ndescription: d\nmetadata:\n  k: v\n---\nText.\n\n```\ncode\n```\n"


@pytest.mark.parametrize("offset", range(len(_FAULTLESS) + 1))
@pytest.mark.proves("format.encoding.nul")
def test_a_nul_is_an_error_at_its_place_whichever_part_it_is_in(tmp_path: Path, offset: int) -> None:
    text = f"{_FAULTLESS[:offset]}\0{_FAULTLESS[offset:]}"
    directory = tmp_path / "a"
    directory.mkdir()
    (directory / "SKILL.md").write_bytes(text.encode())
    for profile in PROFILES.keys() - {"skills-ref"}:  # that one has the reference's findings alone
        assert any(found.severity is Severity.ERROR for found in validate_skill(directory, profile=profile))
    [fault] = [found for found in validate_skill(directory) if found.rule == "encoding.nul"]
    before = text[:offset]
    assert fault.severity is Severity.ERROR
    assert fault.location.line == before.count("\n") + 1
    assert fault.location.column == offset - (before.rfind("\n") + 1) + 1
    assert f"byte {offset}" in fault.message


@pytest.mark.proves("format.encoding.nul")
def test_a_nul_that_is_only_named_by_an_escape_is_none_in_the_file() -> None:
    assert "encoding.nul" not in rules('---\nname: a\ndescription: "\\0"\n---\n\\0 &#0;\n')


def test_bytes_far_behind_a_bad_one_are_still_read_quickly() -> None:
    document = parse_document(HEAD.encode() + b"\xff" + b"x" * MAX_FRONT_MATTER_BYTES + b"\xff")
    assert document.body.endswith("x\xff")


@pytest.mark.proves("format.frontmatter.size")
def test_the_size_of_the_front_matter_is_counted_in_bytes() -> None:
    fits = "x: " + "é" * ((MAX_FRONT_MATTER_BYTES - 4) // 2) + "\n"
    assert len(fits.encode()) == MAX_FRONT_MATTER_BYTES
    assert rules(f"---\n{fits}---\n") == []
    assert rules(f"---\n#{fits}---\n") == ["frontmatter.size"]
    assert rules("---\n" + "x: é\n" * 40_000) == ["frontmatter.size", "frontmatter.unclosed"]


def test_a_document_over_the_limit_is_cut_between_characters() -> None:
    document = parse_document(HEAD + "é" * MAX_DOCUMENT_BYTES)
    assert [found.rule for found in document.diagnostics] == ["file.size"]
    assert set(document.body) == {"é"}
    assert rules(HEAD + "x" * MAX_DOCUMENT_BYTES) == ["file.size"]
    assert rules("---\n" + "k: v\n" * (MAX_DOCUMENT_BYTES // 4)) == ["file.size", "frontmatter.size"]


def test_at_most_a_hundred_duplicates_are_reported() -> None:
    document = parse_document("---\n" + "a: b\n" * 500 + f"{'k' * 100}: x\n" * 2 + "---\n")
    assert len(document.diagnostics) == 100
    long = parse_document(f"---\n{'k' * 100}: x\n{'k' * 100}: y\n---\n").diagnostics[0]
    assert "..." in long.message


def test_a_list_inside_metadata_is_searched_for_duplicates() -> None:
    assert rules("---\nmetadata:\n  k:\n  - a: 1\n    a: 2\n---\n") == ["metadata.duplicateKey"]


@pytest.mark.parametrize(
    ("text", "fixed"),
    [("\n \n---\nname: a\n---\n", True), ("<!-- a --> <!-- b -->\n---\nname: a\n---\n", False)],
)
@pytest.mark.proves("format.frontmatter.not-first")
def test_only_blank_lines_can_be_removed_by_a_fix(text: str, fixed: bool) -> None:  # noqa: FBT001 -- a column of the table
    (fault,) = (one for one in validate_skill(parse_document(text)) if one.rule.startswith("frontmatter"))
    assert (fault.rule, fault.severity) == ("frontmatter.notFirst", Severity.ERROR)
    assert (None if fault.fix is None else fault.fix.safety) == (FixSafety.SAFE if fixed else None)


@pytest.mark.parametrize(
    "text",
    [
        "<!-- open\n---\nname: a\n---\n",
        "<!-- a --> x\n---\nname: a\n---\n",
        "\n---\nname: a\n",
        " ---\nname: a\n---\n",
        "\n---\nown: a\n---\n",
        "\n---\n---\n",
        "<!-- a -->\n---\ntitle: a\nNames: b\n---\n",
        "Text.\n\n---\nname: a\n---\n",
    ],
)
@pytest.mark.proves("format.frontmatter.not-first")
def test_anything_else_before_it_is_no_front_matter(text: str) -> None:
    assert rules(text) == ["frontmatter.missing"]


_SPLITTER = re.compile(r"^---\r?\n([\s\S]*?)\r?\n---\r?\n?([\s\S]*)$")
_LINES = st.lists(st.sampled_from(["name: a", "x: y", "", "# c", "  - z", "--- x", "text", "a --- b"]), max_size=6)


@given(_LINES, _LINES, st.sampled_from(["\n", "\r\n"]))
@pytest.mark.proves("format.frontmatter.regex-agreement")
def test_the_splitter_agrees_with_the_customary_expression(front: list[str], body: list[str], end: str) -> None:
    text = end.join(["---", *front, "---", *body])
    match = _SPLITTER.match(text)
    document = parse_document(text)
    # The expression also closes on a line such as `--- x`, and needs a line in between; there it is no oracle.
    if match is None or "--- x" in front + body or not front:
        return
    assert document.front_matter is not None
    assert document.front_matter.rstrip("\n") == match[1].replace("\r\n", "\n").rstrip("\n")
    assert document.body == match[2].replace("\r\n", "\n")
