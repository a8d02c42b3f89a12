"""Conversion of positions: in Prowess 1-based code points, in the protocol 0-based code units.

In Prowess and in the protocol, a line ends only at LF, CRLF or a lone CR. The protocol counts UTF-16 code units unless
client and server agree on another encoding, so a character beyond the basic plane counts as two.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lsprotocol import types

from prowess.fix.applying import common_length

if TYPE_CHECKING:
    from prowess.diagnostics import Edit, Location

_BREAK = re.compile(r"\r\n|\r|\n")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CODECS = {"utf-8": ("utf-8", 1), "utf-32": ("utf-32-le", 4)}
_UTF_16 = ("utf-16-le", 2)


def without_surrogates(text: str) -> str:
    """Replace lone surrogates, which JSON can carry but UTF-8 cannot, by U+FFFD, which has the same width."""
    return _SURROGATE.sub("\ufffd", text)


class Lines:
    """The lines of one text, and conversion of its positions. `encoding` is the protocol's name of the encoding."""

    def __init__(self, text: str, encoding: str) -> None:
        self._lines = _BREAK.split(text)
        self._codec, self._width = _CODECS.get(encoding, _UTF_16)
        first = _BREAK.search(text)
        self.line_break = "\n" if first is None else first[0]

    def __len__(self) -> int:
        return len(self._lines)

    def line(self, number: int) -> str:
        """Return a line by its 1-based number, without its line break; empty if the text has no such line."""
        return self._lines[number - 1] if 0 < number <= len(self._lines) else ""

    def position(self, line: int, column: int) -> types.Position:
        """Return the protocol's position of a 1-based line and column. A position behind the end becomes the end."""
        if line > len(self._lines):
            line, column = len(self._lines), len(self._lines[-1]) + 1
        before = self._lines[line - 1][: max(column - 1, 0)]
        return types.Position(line=line - 1, character=len(before.encode(self._codec)) // self._width)

    def place(self, position: types.Position) -> tuple[int, int]:
        """Return the 1-based line and column of a position. Inside a character, return the character's start."""
        if position.line >= len(self._lines):
            return len(self._lines), len(self._lines[-1]) + 1
        line, character = max(position.line, 0), max(position.character, 0)
        units = self._lines[line].encode(self._codec)[: character * self._width]
        return line + 1, len(units.decode(self._codec, "ignore")) + 1

    def range_of(self, location: Location) -> types.Range:
        """Return the range of a location; a point is an empty range."""
        start = self.position(location.line, location.column)
        if location.end_line is None or location.end_column is None:
            return types.Range(start=start, end=start)
        return types.Range(start=start, end=self.position(location.end_line, location.end_column))

    def edit(self, edit: Edit) -> types.TextEdit:
        """Return an edit in the protocol's form. Its line breaks become those of the text."""
        return types.TextEdit(
            range=types.Range(
                start=self.position(edit.line, edit.column), end=self.position(edit.end_line, edit.end_column)
            ),
            new_text=edit.text.replace("\n", self.line_break),
        )

    def replacement(self, before: str, after: str) -> types.TextEdit:
        """Return one edit from `before`, the text of these lines, to `after`, without common beginning and end."""
        head = common_length(before, after)
        tail = common_length(before[head:][::-1], after[head:][::-1])
        end = len(before) - tail
        # A position between CR and LF cannot be expressed.
        if head and before[head - 1 : head + 1] == "\r\n":
            head -= 1
        if end and before[end - 1 : end + 1] == "\r\n":
            end, tail = end + 1, tail - 1
        start, stop = self._at(before, head), self._at(before, end)
        return types.TextEdit(range=types.Range(start=start, end=stop), new_text=after[head : len(after) - tail])

    def _at(self, text: str, offset: int) -> types.Position:
        breaks = [found.end() for found in _BREAK.finditer(text, 0, offset)]
        return self.position(len(breaks) + 1, offset - (breaks[-1] if breaks else 0) + 1)
