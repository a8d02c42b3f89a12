from __future__ import annotations

import itertools
import sys

import pytest
import yaml

from prowess._internal.yaml_reader import (
    MAX_FAULTS,
    LibyamlMissingError,
    Mapping,
    Node,
    Scalar,
    Sequence,
    YamlReading,
    read_yaml,
)


def test_scalars_keep_their_text_their_style_and_their_place() -> None:
    reading = read_yaml("a: 1.0\nb: 'x'\nc: |\n  y\n", base=4)
    assert isinstance(reading.root, Mapping)
    values = [value for _, value in reading.root.entries]
    assert values == [
        Scalar(text="1.0", style="", start=7, end=10),
        Scalar(text="x", style="'", start=14, end=17),
        Scalar(text="y\n", style="|", start=21, end=26),
    ]
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
    assert read_yaml("# only a comment\n") == YamlReading(root=None, faults=(), nodes=0)


def test_without_libyaml_reading_is_refused_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml._yaml", None)
    with pytest.raises(LibyamlMissingError, match="install a wheel"):
        read_yaml("a: b")


def test_a_fault_begins_where_the_broken_construct_does() -> None:
    assert read_yaml("a: 'x\nb: c\n").faults[0].context == 3
    assert read_yaml("a: [x\nb: c\n").faults[0].context == 3
    assert read_yaml('a: "\\q"\n').faults[0].context == 3
    assert read_yaml("a: 'x\nb: it's\n").faults[0].context == 3


# An empty block scalar: what opens it, what follows it, and where it stands.
_OPENED = ("|", "|-", "|+", ">", ">-", ">+", "|2", ">1-", "| # why", ">-  ")
_FOLLOWED = ("", "\n", "\n\n", "# c\n", "  # c\n", "    # c\n", "\n# c\n", "\n  # c\n", "  \n", "      \n")
_PLACES = (
    "a: {}{}",  # at the end
    "a: {}{}b: c\n",
    "m:\n  a: {}{}",
    "m:\n  a: {}{}  b: c\n",
    "m:\n  a: {}{}  b: {{c: d}}\ne: f\n",
    "m:\n  a: {}{}    text\n  b: c\n",
    "m:\n  a: {}{}b: c\n",
    "m:\n  n:\n    a: {}{}    b: c\n  o: p\n",
    "hooks:\n  post: {}{}  pre: scripts/guard.sh\n",
    "m:\n  - {}{}  - b\n",
    "- {}{}- b\n",
)


@pytest.mark.parametrize("place", _PLACES)
def test_a_block_scalar_without_lines_is_read_as_pyyaml_reads_it(place: str) -> None:
    """PyYAML's own scanner is the judge: it is written in Python, so it is not the parser under test."""
    read = 0
    for opened, followed in itertools.product(_OPENED, _FOLLOWED):
        text = place.format(f"{opened}\n", followed)
        reading = read_yaml(text)
        try:
            expected = yaml.load(text, yaml.BaseLoader)  # noqa: S506 -- it makes nothing but text
        except yaml.YAMLError:
            assert [fault.construct for fault in reading.faults] == ["syntax"], text
            continue
        read += 1
        assert reading.faults == (), text
        assert reading.root is not None
        assert _as_values(reading.root) == expected, text
    assert read > len(_OPENED) * len(_FOLLOWED) / 2


def _as_values(node: Node) -> object:
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Sequence):
        return [_as_values(item) for item in node.items]
    return {_as_values(key): _as_values(value) for key, value in node.entries}
