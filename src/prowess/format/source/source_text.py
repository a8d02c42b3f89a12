"""The text of one file, and what its offsets are called in reports: lines and columns."""

from __future__ import annotations

from msgspec import Struct

from prowess.diagnostics import Edit, Location


class SourceText(Struct, frozen=True, kw_only=True):
    """The text of one file: line breaks are LF, a leading byte-order mark is cut off and remembered in `bom`."""

    path: str | None
    text: str
    bom: bool = False

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column, 1-based, as the file lies on disk."""
        line_start = self.text.rfind("\n", 0, offset) + 1
        line = self.text.count("\n", 0, line_start) + 1
        return line, offset - line_start + 1 + (self.bom and line == 1)

    def location(self, start: int, end: int | None = None) -> Location:
        """Return the place from `start` up to `end`, a point where `end` is None."""
        line, column = self.position(start)
        if end is None or end <= start:
            return Location(path=self.path, line=line, column=column)
        end_line, end_column = self.position(end)
        return Location(path=self.path, line=line, column=column, end_line=end_line, end_column=end_column)

    def edit(self, start: int, end: int, text: str) -> Edit:
        """Return the edit that replaces the text from `start` to `end`."""
        line, column = self.position(start)
        end_line, end_column = self.position(end)
        return Edit(line=line, column=column, end_line=end_line, end_column=end_column, text=text)
