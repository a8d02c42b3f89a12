from __future__ import annotations

import sys

import pytest

from prowess._internal.yaml_reader import (
    MAX_FAULTS,
    LibyamlMissingError,
    Mapping,
    Scalar,
    Sequence,
    read_yaml,
)


def test_scalars_keep_their_text_their_style_and_their_place() -> None:
    reading = read_yaml("a: 1.0\nb: 'x'\nc: |\n  y\n", base=4)
    assert isinstance(reading.root, Mapping)
    values = [value for _, value in reading.root.entries]
    assert values == [Scalar("1.0", "", 7, 10), Scalar("x", "'", 14, 17), Scalar("y\n", "|", 21, 26)]
    assert reading.faults == ()


def test_a_block_collection_ends_where_its_last_child_does() -> None:
    reading = read_yaml("a:\n  - x\n  - y\n\nb: [z]\n")
    assert isinstance(reading.root, Mapping)
    block, flow = (value for _, value in reading.root.entries)
    assert isinstance(block, Sequence)
    assert isinstance(flow, Sequence)
    assert (block.start, block.end, block.flow) == (5, 14, False)
    assert (flow.start, flow.end, flow.flow) == (19, 22, True)


@pytest.mark.parametrize(
    ("text", "construct"),
    [
        ("a: &x b", "anchor"), ("a: &x [b]", "anchor"), ("a: *x", "alias"), ("a: !!str b", "tag"),
        ("a: !!map {}", "tag"),
        ("<<: {}", "merge key"), ("a: b\n--- c\n", "document"), ("%TAG ! x:\n--- c\n", "tag"),
        ("[" * 21 + "]" * 21, "depth"),
        ("[" * 2000, "depth"), ("- x\n" * 10_001, "nodes"), ("a: b\x07", "control character"), ("a: 'b", "syntax"),
    ],
)  # fmt: skip
def test_what_is_not_allowed_has_a_name(text: str, construct: str) -> None:
    assert construct in [fault.construct for fault in read_yaml(text).faults]


def test_a_merge_sign_that_is_no_key_is_a_text() -> None:
    assert read_yaml("a: <<\nb: [<<]\n'<<': c\n").faults == ()
    assert read_yaml("- <<\n").faults == ()


def test_hostile_text_does_not_become_a_million_faults() -> None:
    assert len(read_yaml("".join(f"a{i}: &x y\n" for i in range(1000))).faults) == MAX_FAULTS


def test_line_ends_of_unicode_are_ordinary_characters_and_stay() -> None:
    reading = read_yaml('a: "x\u2028y\x85z\u2029"\nb: \U000f0000\n')
    assert isinstance(reading.root, Mapping)
    assert [value.text for _, value in reading.root.entries if isinstance(value, Scalar)] == [
        "x\u2028y\x85z\u2029",
        "\U000f0000",
    ]


def test_an_escape_cannot_forge_a_hidden_line_end() -> None:
    reading = read_yaml('a: "\\U000F0000\u2028\\U000f0001"')
    assert isinstance(reading.root, Mapping)
    value = reading.root.entries[0][1]
    assert isinstance(value, Scalar)
    assert value.text == "\U000f0000\u2028\U000f0001"


def test_nothing_gives_no_root_and_no_fault() -> None:
    assert read_yaml("# only a comment\n") == (None, (), 0)


def test_without_libyaml_reading_is_refused_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml._yaml", None)
    with pytest.raises(LibyamlMissingError, match="install a wheel"):
        read_yaml("a: b")


def test_a_fault_begins_where_the_broken_construct_does() -> None:
    assert read_yaml("a: 'x\nb: c\n").faults[0].context == 3
    assert read_yaml("a: [x\nb: c\n").faults[0].context == 3
    assert read_yaml('a: "\\q"\n').faults[0].context == 3
    assert read_yaml("a: 'x\nb: it's\n").faults[0].context == 3
