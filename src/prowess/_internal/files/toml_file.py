"""TOML files written by people: read with a size limit, every fault reported with its line.

`tomllib` does not report the line of a key. `TomlLines` walks through a text that `tomllib` has accepted, statement by
statement. To find the end of a statement, it parses only these elements: the four kinds of strings, brackets and
comments.
"""

from __future__ import annotations

import os
import re
import stat

_BLANK = r"(?:[ \t\r\n]|#[^\n]*)*"
_BLOCK = r'(?s)"""(?:\\.|[^\\])*?"{3,5}|' + r"'''.*?'{3,5}"
_IN_LINE = r'"(?:\\.|[^"\\\n])*"|' + r"'[^'\n]*'"
_STRING = f"{_BLOCK}|{_IN_LINE}"
_KEY = r"""[A-Za-z0-9_-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*'"""
_OPEN = ('"""', "'''", '"', "'")  # of a string that does not end
_PART = rf"{_BLOCK}|{_OPEN[0]}|{_OPEN[1]}|{_IN_LINE}|[\"']|#[^\n]*|[.=,\[\]{{}}\n]"
_BETWEEN_KEYS = r"[ \t]*(?:\.[ \t]*)?"

KeyPath = tuple[str | int, ...]


MAX_BYTES = 1024 * 1024
_MOST_KEY_PARTS = 32  # `tomllib` takes time and memory for the square of the parts
_MOST_FAULTS = 20


def read_toml_bytes(path: str, most: int = MAX_BYTES) -> bytes:
    """Return the bytes of a regular file of at most `most` bytes. Raises ValueError, which begins with the path."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)  # a pipe must not block the open
    try:
        with open(os.open(path, flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ValueError(f"{path}: it is not a regular file")
            data = file.read(most + 1)
    except OSError as fault:
        raise ValueError(f"{path}: {fault.strerror or fault}") from None
    if len(data) > most:
        raise ValueError(f"{path}: it is larger than {most} bytes")
    return data


class TomlFile:
    """A TOML file: its `content`, its `path` as given, and the faults that callers find in it.

    `inside` names the table that callers read; the keys that they pass are relative to that table.

    Raises:
        ValueError: the bytes are not TOML; the message begins with the path.
    """

    def __init__(self, path: str, data: bytes, inside: tuple[str, ...] = ()) -> None:
        # Imported here, not at the top: usually there is no such file, and a start without one should not load
        # `tomllib`.
        import tomllib

        self.path, self._inside = path, inside
        self._faults: list[tuple[int, str]] = []  # line and sentence
        self.has_more_faults = False
        try:
            text = data.decode("utf-8")
            _require_short_keys(text)
            self.content: dict[str, object] = tomllib.loads(text)
        except RecursionError:
            raise ValueError(f"{path}: it is nested too deep") from None
        except ValueError as fault:
            raise ValueError(f"{path}: {fault}") from None
        self._lines = TomlLines(text.replace("\r\n", "\n"))  # tomllib reads CRLF as LF

    @property
    def faults(self) -> tuple[str, ...]:
        """One sentence for each fault, in the order of the lines; after 20, one that there are more."""
        more = (f"{self.path}: there are more faults",) if self.has_more_faults else ()
        return (*(sentence for _, sentence in sorted(self._faults)), *more)

    def line(self, *at: str | int) -> int:
        """Return the 1-based line of a key. For an array of tables, `at` also has the index."""
        return self._lines.of(*self._inside, *at)

    def fault(self, what: str, *at: str | int, named: tuple[str, ...] | None = None) -> None:
        """Report a fault at the key `at`. `named` is how the message names the key; defaults to `at`."""
        if len(self._faults) >= _MOST_FAULTS:
            self.has_more_faults = True
            return
        name = ".".join(str(part) for part in (*self._inside, *(named or at)) if not isinstance(part, int))
        line = self.line(*at)
        self._faults.append((line, f"{self.path}:{line}: {f'{name}: ' if name else ''}{what}"))


def _require_short_keys(text: str) -> None:
    """Refuse a text in which a key has too many parts. Raises ValueError. Dots in strings and comments do not count."""
    dots = 0
    for part in re.compile(_PART).finditer(text):
        match part.group()[0]:
            case ".":
                dots += 1
                if dots >= _MOST_KEY_PARTS:
                    line = text.count("\n", 0, part.start()) + 1
                    raise ValueError(f"a key has more than {_MOST_KEY_PARTS} parts (at line {line})")
            case '"' | "'" if part.group() in _OPEN:
                return  # a string that does not end: `tomllib` refuses the text here, and reads no further
            case '"' | "'" | "#":
                pass
            case _:
                dots = 0


class TomlLines:
    """The 1-based line of each table and key. Each element of an array of tables has its own line."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines: dict[KeyPath, int] = {}
        self._arrays: dict[KeyPath, int] = {}
        self._walk()

    def of(self, *path: str | int) -> int:
        """Return the line of `path`. If `path` is inside an inline table, return the line of the enclosing key.

        The line of an array of tables is that of its first table.
        """
        while path and path not in self._lines:
            # An array of tables has no line, but its first table has one.
            path = (*path, 0) if (*path, 0) in self._lines else path[:-1]
        return self._lines.get(path, 1)

    def _walk(self) -> None:
        table: KeyPath = ()
        at = self._after(_BLANK, 0)
        line, counted = 1, 0
        while at < len(self._text):
            line += self._text.count("\n", counted, at)
            counted = at
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
            at = self._after(_BLANK, at)

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
        while match := re.compile(_KEY).match(self._text, at):
            names.append(match.group().strip("\"'"))
            at = self._after(_BETWEEN_KEYS, match.end())
        return tuple(names), at

    def _value_end(self, at: int) -> int:
        depth = 0
        string_at = re.compile(_STRING).match
        while at < len(self._text):
            char = self._text[at]
            if string := string_at(self._text, at):
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

    def _after(self, pattern: str, at: int) -> int:
        match = re.compile(pattern).match(self._text, at)
        return at if match is None else match.end()
