"""Where the keys of a TOML document stand, which `tomllib` does not tell.

The text must be valid TOML: `tomllib` has read it before. This only walks over it, statement by statement, far enough
to know where one ends: strings of the four kinds, brackets and comments.
"""

from __future__ import annotations

import re

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|' + r"'''.*?'{3,5}|" + r'"(?:\\.|[^"\\\n])*"|' + r"'[^'\n]*'",
    re.DOTALL,
)
_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*'""")
_BETWEEN_KEYS = re.compile(r"[ \t]*(?:\.[ \t]*)?")

KeyPath = tuple[str | int, ...]


class TomlLines:
    """The 1-based line of each table and key; of an array of tables each element has its own."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines: dict[KeyPath, int] = {}
        self._arrays: dict[KeyPath, int] = {}
        self._walk()

    def of(self, *path: str | int) -> int:
        """Return the line of `path`, or of what encloses it where it stands in an inline table."""
        while path and path not in self._lines:
            path = path[:-1]
        return self._lines.get(path, 1)

    def _walk(self) -> None:
        table: KeyPath = ()
        at = self._skip(0)
        while at < len(self._text):
            line = self._text.count("\n", 0, at) + 1
            if self._text[at] == "[":
                is_array = self._text.startswith("[[", at)
                names, at = self._keys(at + 1 + is_array)
                table = self._header(names, is_array=is_array)
                self._lines.setdefault(table, line)
                at = self._text.index("]", at) + 1 + is_array
            else:
                names, at = self._keys(at)
                self._lines.setdefault(table + names, line)
                at = self._value_end(at)
            at = self._skip(at)

    def _header(self, names: tuple[str, ...], *, is_array: bool) -> KeyPath:
        path: KeyPath = ()
        for place, name in enumerate(names):
            path += (name,)
            if is_array and place == len(names) - 1:
                self._arrays[path] = self._arrays.get(path, -1) + 1
            if path in self._arrays:
                path += (self._arrays[path],)
        return path

    def _keys(self, at: int) -> tuple[tuple[str, ...], int]:
        names = []
        at = self._after(_BETWEEN_KEYS, at)
        while match := _KEY.match(self._text, at):
            names.append(match.group().strip("\"'"))
            at = self._after(_BETWEEN_KEYS, match.end())
        return tuple(names), at

    def _value_end(self, at: int) -> int:
        depth = 0
        while at < len(self._text):
            char = self._text[at]
            if string := _STRING.match(self._text, at):
                at = string.end()
                continue
            if char == "#":
                at = self._text.find("\n", at)
                at = len(self._text) if at < 0 else at
                continue
            if char == "\n" and depth == 0:
                return at
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(char, 0)
            at += 1
        return at

    def _skip(self, at: int) -> int:
        return self._after(_BLANK, at)

    def _after(self, pattern: re.Pattern[str], at: int) -> int:
        match = pattern.match(self._text, at)
        return at if match is None else match.end()
