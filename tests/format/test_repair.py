from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess._internal.yaml_reader import Mapping, Sequence, read_yaml
from prowess.diagnostics import Severity
from prowess.fix import apply_fixes
from prowess.format import parse_document, read_skill, validate_skill

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_a_repair_changes_only_the_failing_value_and_says_so() -> None:
    document = parse_document("---\nname: a\ndescription: Use: b\nlicense: 'MIT'\n---\n")
    fault = document.diagnostics[0]
    assert fault.fix is not None
    assert [edit.text for edit in fault.fix.edits] == ['"Use: b"']
    assert [field.repaired for field in document.fields] == [False, True, False]
    description = document.field("description")
    assert description is not None
    assert description.source == "Use: b"
    assert (description.location.line, description.location.column, description.location.end_column) == (3, 14, 20)


def test_positions_after_a_repair_are_those_of_the_file() -> None:
    document = parse_document("---\ndescription: a: b\n  c: d\nmetadata:\n\tk: [v]\n\tl: {m: n}\n---\n")
    metadata = document.field("metadata")
    assert metadata is not None
    assert metadata.source == "k: [v]\n\tl: {m: n}"
    assert metadata.location.line == 5
    assert metadata.location.column == 2
    assert document.mapping() == {"description": "a: b c: d", "metadata": {"k": ["v"], "l": {"m": "n"}}}


def test_the_items_of_a_list_are_quoted_each_and_keep_their_places() -> None:
    document = parse_document("---\nname: a\nmetadata:\n  k: [@b, c, @d e]  # f\n  l: [g]\n---\n")
    (fault,) = document.diagnostics
    assert fault.fix is not None
    assert [edit.text for edit in fault.fix.edits] == ['["@b", c, "@d e"]']
    metadata = document.field("metadata")
    assert metadata is not None
    assert isinstance(metadata.value, Mapping)
    (_, known), (_, other) = metadata.value.entries
    assert isinstance(known, Sequence)
    assert [document.text[item.start : item.end] for item in (known, *known.items, other)] == [
        "[@b, c, @d e]", "@b", "c", "@d e", "[g]",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("front", "value"),
    [
        ("x:\n  k: a: b\n  l: c\n", {"k": "a: b", "l": "c"}),
        ("x:\n  - a: b: c\n  - d\n", [{"a": "b: c"}, "d"]),
        ("x:\n  - @a\n", ["@a"]),
        ("x: [@a, b c ,`d, %] # e\n", ["@a", "b c", "`d", "%"]),
        ("x:\n  k: [a, @b: c]\n", {"k": ["a", "@b: c"]}),
        ("x: [@a, [b]]\n", "[@a, [b]]"),
        ("x:\n  k: a: b\n    c\n\n  l: d\n", {"k": "a: b c", "l": "d"}),
        ("x: a: b\n\n  c\n", "a: b\nc"),
        ("x: 'a\n", "'a"),
        ("x: a\tb: c\n", "a\tb: c"),
        ("x: a: b # c\n", "a: b"),
        ("x: a: b # c\n  d: e # f\n", "a: b d: e"),
    ],
)
def test_the_failing_value_is_found_where_it_stands(front: str, value: object) -> None:
    document = parse_document(f"---\n{front}---\n")
    assert document.mapping() == {"x": value}
    assert all(found.fix is not None for found in document.diagnostics)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (r'"\d # e"', r"\d # e"),
        (r'"\d # e" # f', r"\d # e"),
        ("'a # b", "'a # b"),
        ('"a # b', '"a # b'),
        (r'"C:\dir \"x\""', r'C:\dir "x"'),
        (r'"\xZZ \"y\" # z"', r'\xZZ "y" # z'),
    ],
)
@pytest.mark.proves("client.parse.repair")
def test_what_stands_in_quotes_is_kept_as_it_was_meant(written: str, value: str) -> None:
    """No `#` in it begins a comment, and `\\"` is a quote where a backslash elsewhere broke the value."""
    document = parse_document(f"---\nname: a\ndescription: {written}\nlicense: MIT\n---\n")
    assert document.mapping() == {"name": "a", "description": value, "license": "MIT"}
    [found] = document.diagnostics
    assert found.fix is not None


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Checks bills. Triggers: VAT, tax", "Checks bills. Triggers: VAT, tax"),
        ("Use when: a\n  and: b", "Use when: a and: b"),
        ("@mentions are read", "@mentions are read"),
        ("`code` first", "`code` first"),
        ("% of totals", "% of totals"),
        (r'"Opens C:\dir"', r"Opens C:\dir"),
        ("Use for: é, \u2713, 日本", "Use for: é, \u2713, 日本"),
        ("Use: a  # not this", "Use: a"),
        ("'It's: here'", "'It's: here'"),
    ],
)
@pytest.mark.proves("client.parse.repair")
def test_a_skill_with_a_mended_description_loads_with_its_full_text_and_a_fix_that_changes_nothing_else(
    tmp_path: Path, written: str, meant: str
) -> None:
    directory = tmp_path / "a"
    directory.mkdir()
    head, tail = "---\nname: a  # c\n", "\nlicense: 'MIT'\nmetadata: {k: 1.0}\n---\nBody: kept\n"
    text = f"{head}description: {written}{tail}"
    (directory / "SKILL.md").write_text(text, encoding="utf-8")

    skill = read_skill(directory, profile="lenient")
    assert (skill.description, skill.body) == (meant, "Body: kept\n")
    [found] = validate_skill(directory, profile="lenient")
    assert (found.rule, found.severity) == ("frontmatter.syntax", Severity.WARNING)
    assert found.fix is not None
    after = apply_fixes(text, [found.fix]).text
    assert after.startswith(f"{head}description: ")
    assert after.endswith(tail)
    others = parse_document(after)
    assert others.diagnostics == ()
    assert others.mapping() == {"name": "a", "description": meant, "license": "MIT", "metadata": {"k": "1.0"}}
    [strict] = validate_skill(directory)
    assert strict.severity is Severity.ERROR


@pytest.mark.parametrize(
    "front",
    [
        "x: a\nwords\n", "words: [\n  a\nb\n", "x:\n  words\n  k: v\n", "'q': a: b\n", "x: |\n  a\n b\n",
        "name:\n# c\n: x\n",
        "  - a\n b: c: d\n", "x: >-\n   a\n  b\n",
    ],
)  # fmt: skip
def test_what_cannot_be_mended_is_one_fault_without_fields(front: str) -> None:
    document = parse_document(f"---\n{front}---\n")
    if document.complete:
        assert all(found.fix is not None for found in document.diagnostics)
    else:
        assert document.fields == ()
        assert [found.rule for found in document.diagnostics if found.fix is None] == ["frontmatter.syntax"]


def test_a_hazard_behind_a_repair_is_still_found() -> None:
    document = parse_document("---\ndescription: a: b\nlicense: &x MIT\n---\n")
    assert [(found.detail, found.location.line) for found in document.diagnostics] == [("syntax", 2), ("anchor", 3)]


def test_a_large_broken_text_is_reported_and_not_mended() -> None:
    many = "---\n" + "".join(f"k{number}: a: b\n" for number in range(200)) + "---\n"
    document = parse_document(many)
    assert not document.complete
    assert 1 < len(document.diagnostics) < 100
    tabs = "---\nx:\n" + "".join(f"\tk{number}: a\n" for number in range(200)) + "---\n"
    assert not parse_document(tabs).complete
    nodes = "---\n" + "".join(f"k{number}: v\n" for number in range(2500)) + "x: a: b\n---\n"
    assert [found.fix for found in parse_document(nodes).diagnostics] == [None]


_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff\ufffe\uffff"), max_size=30)


@given(_TEXT, _TEXT)
@pytest.mark.proves("format.repair.strict-first")
def test_a_mended_description_is_what_stood_there_and_nothing_else_changes(before: str, after: str) -> None:
    value = f"{before}: {after}".strip()
    document = parse_document(f"---\nname: a\ndescription: {value}\nlicense: MIT\n---\n")
    mended = [found for found in document.diagnostics if found.fix is not None]
    if not document.complete or not mended or value[0] in "\"'":
        return
    assert document.text_of("name") == "a"
    assert document.text_of("license") == "MIT"
    text = document.text_of("description")
    assert text is not None
    assert value.startswith(text.rstrip())


@pytest.mark.unmeasured  # coverage makes it several times slower
def test_a_text_that_becomes_thousands_of_nodes_is_not_moved_back() -> None:
    """The repair of one value can turn the rest of the text into keys; compared with one reading of the same keys."""
    keys = '"\\U000F0000": x\n' * 4000
    broken = f"---\nname: a\nmetadata: {keys}---\n".encode()
    plain = f"name: a\nmetadata: x\n{keys}"

    def seconds(work: Callable[[], object]) -> float:
        began = time.process_time()
        work()
        return time.process_time() - began

    once = min(seconds(lambda: read_yaml(plain, base=0)) for _ in range(5))
    assert min(seconds(lambda: parse_document(broken)) for _ in range(5)) < 3 * once
    [found] = [found for found in parse_document(broken).diagnostics if found.rule == "frontmatter.syntax"]
    assert found.location.line == 3
