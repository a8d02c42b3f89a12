from __future__ import annotations

import random

import pytest
from lsprotocol import types

from prowess.diagnostics import Edit, Location
from prowess.lsp.positions import Lines, without_surrogates

ALPHABET = "a\u00e9\u4e2d\U0001f600 \u2028\x0b\x85\n\r"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_every_place_of_a_text_comes_back_from_the_protocol(encoding: str) -> None:
    drawn = random.Random(7)
    for _ in range(200):
        text = "".join(drawn.choices(ALPHABET, k=30))
        lines = Lines(text, encoding)
        for number in range(1, len(lines) + 1):
            for column in range(1, len(lines.line(number)) + 2):
                assert lines.place(lines.position(number, column)) == (number, column)


def test_only_the_line_ends_of_the_protocol_end_a_line() -> None:
    lines = Lines("a\u2028b\x0cc\r\nd\re\n", "utf-16")
    assert [lines.line(at) for at in range(6)] == ["", "a\u2028b\x0cc", "d", "e", "", ""]
    assert lines.line_break == "\r\n"


def test_a_place_behind_the_end_or_inside_a_character_is_the_nearest_one() -> None:
    lines = Lines("a\U0001f600\nb", "utf-16")
    assert lines.place(types.Position(line=0, character=2)) == (1, 2)  # between the halves of a pair
    assert lines.place(types.Position(line=0, character=99)) == (1, 3)
    assert lines.place(types.Position(line=9, character=0)) == (2, 2)
    assert lines.position(9, 1) == types.Position(line=1, character=1)
    point = types.Position(line=0, character=3)
    assert lines.range_of(Location(line=1, column=3)) == types.Range(start=point, end=point)


def test_an_edit_takes_the_line_breaks_of_the_text() -> None:
    edit = Edit(line=1, column=2, end_line=2, end_column=1, text="x\ny\n")
    assert Lines("a\r\nb", "utf-16").edit(edit).new_text == "x\r\ny\r\n"


def test_a_replacement_changes_one_text_into_the_other_and_touches_no_more_than_it_must() -> None:
    drawn = random.Random(3)
    for _ in range(500):
        before = "".join(drawn.choices(ALPHABET, k=12))
        start, end = sorted(drawn.choices(range(13), k=2))
        after = before[:start] + "".join(drawn.choices(ALPHABET, k=3)) + before[end:]
        lines = Lines(before, "utf-16")
        edit = lines.replacement(before, after)
        first, last = (_offset(before, lines.place(at)) for at in (edit.range.start, edit.range.end))
        assert before[:first] + edit.new_text + before[last:] == after
        assert last - first <= end - start + 2
    assert Lines("abc", "utf-16").replacement("abc", "abXc").new_text == "X"


def test_half_a_character_becomes_a_character_of_the_same_width() -> None:
    assert without_surrogates("a\ud800b\U0001f600") == "a\ufffdb\U0001f600"


def _offset(text: str, place: tuple[int, int]) -> int:
    starts, at = [0], 0
    while at < len(text):
        at += 2 if text[at : at + 2] == "\r\n" else 1
        if text[at - 1] in "\r\n":
            starts.append(at)
    return starts[place[0] - 1] + place[1] - 1
