"""A fast path of `read_yaml` for text that has nothing unusual about it: the same nodes at the same places.

Most front matter is a mapping of short keys to texts on one line, block texts, lists of texts and one level of
mappings. Reading lines gives what libyaml gives, in half the time and without loading PyYAML, which costs more than all
the rest of checking one skill. Everything else is handed over. A differential test proves that this module agrees or
hands over.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from prowess._internal.plain_blocks import BLOCKS, read_block
from prowess._internal.yaml_reader import Mapping, Node, Scalar, Sequence

_PRINTABLE = dict.fromkeys((0x0A, *range(0x20, 0x7F)))
_KEY = re.compile(r"( *)([A-Za-z_][A-Za-z0-9_.-]{0,99}):(?: +|$)")
_ITEM = re.compile(r"( *)- +")
_INDICATORS = frozenset("-?:,[]{}#&*!|>'\"%@`~=<")
_BLOCK_STYLE = False  # `flow` of a collection
_MOST_LINES = 2000  # far below the bound on nodes


class Plain(NamedTuple):
    """The root and the count of nodes."""

    root: Mapping
    nodes: int


class _HandOver(Exception):  # noqa: N818 -- a signal inside this module, not an error
    """This text is not plain."""


def read_plain(text: str, base: int) -> Plain | None:
    """Return what `read_yaml` returns for a plain text, or None to hand over."""
    if not text.endswith("\n") or (text.translate(_PRINTABLE) if text.isascii() else not _is_printable(text)):
        return None
    lines = text.split("\n")
    if len(lines) > _MOST_LINES:
        return None
    try:
        return _Lines(lines, base).root()
    except _HandOver:
        return None


def _is_printable(text: str) -> bool:
    return text.replace("\n", "").isprintable()


class _Lines:
    def __init__(self, lines: list[str], base: int) -> None:
        self._lines = lines
        self._starts = []
        for line in lines:
            self._starts.append(base)
            base += len(line) + 1
        self._at = 0
        self._nodes = 0

    def root(self) -> Plain:
        root = self._mapping(0)
        if root is None or self._at != len(self._lines):
            raise _HandOver
        return Plain(root, self._nodes)

    def _mapping(self, indent: int) -> Mapping | None:
        """Read entries of this indentation up to a line that has less; None where there is none."""
        entries: list[tuple[Node, Node]] = []
        lines, count = self._lines, len(self._lines)
        while self._at < count:
            line = lines[self._at]
            if not line or line.lstrip(" ")[:1] == "#":
                self._at += 1
                continue
            found = _KEY.match(line)
            if found is None or len(found[1]) != indent:
                if line[0] == " " and (found is None or len(found[1]) > indent):
                    raise _HandOver
                if not indent:
                    raise _HandOver
                break
            start = self._starts[self._at]
            key = Scalar(found[2], "", start + indent, start + found.end(2))
            self._nodes += 1
            entries.append((key, self._value(line[found.end() :].rstrip(" "), start + found.end(), key.end, indent)))
        if not entries:
            return None
        self._nodes += 1
        return Mapping(tuple(entries), _BLOCK_STYLE, entries[0][0].start, entries[-1][1].end)

    def _value(self, value: str, start: int, key_end: int, indent: int) -> Node:
        self._at += 1
        if value in BLOCKS:
            return self._block(value, start)
        if value:
            return self._scalar(value, start, indent)
        return self._below(key_end, indent)

    def _below(self, key_end: int, indent: int) -> Node:
        """The value of a key with nothing beside it: what is indented more, or a list at its own indentation."""
        line = self._next()
        deeper = len(line) - len(line.lstrip(" "))
        if _ITEM.match(line) and deeper >= indent:
            return self._sequence(deeper)
        if deeper <= indent:
            self._nodes += 1
            return Scalar("", "", key_end + 1, key_end + 1)
        if indent:
            raise _HandOver  # one level is plain
        mapping = self._mapping(deeper)
        if mapping is None:
            raise _HandOver
        return mapping

    def _sequence(self, indent: int) -> Sequence:
        items: list[Node] = []
        begin = 0
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if not line or line.lstrip(" ")[:1] == "#":
                self._at += 1
                continue
            found = _ITEM.match(line)
            if found is None or len(found[1]) != indent:
                if len(line) - len(line.lstrip(" ")) > indent:
                    raise _HandOver
                break
            value = line[found.end() :].rstrip(" ")
            if not value or value in BLOCKS or _KEY.match(value):
                raise _HandOver
            begin = begin if items else self._starts[self._at] + indent
            start = self._starts[self._at] + found.end()
            self._at += 1
            items.append(self._scalar(value, start, indent))
        self._nodes += 1
        return Sequence(tuple(items), _BLOCK_STYLE, begin, items[-1].end)

    def _block(self, value: str, start: int) -> Scalar:
        joint, end = BLOCKS[value]
        begin = self._at
        read = read_block(self._lines, begin, joint, end)
        if read is None:
            raise _HandOver
        text, self._at = read
        last = self._at - 1
        while not self._lines[last]:
            last -= 1
        self._nodes += 1
        return Scalar(text, value[0], start, self._starts[last] + len(self._lines[last].rstrip(" ")))

    def _scalar(self, value: str, start: int, indent: int) -> Scalar:
        first = value[0]
        self._nodes += 1
        if first == '"' or first == "'":  # noqa: PLR1714 -- this is hot
            inner = value[1:-1]
            if len(value) < 2 or value[-1] != first or "\\" in inner:  # noqa: PLR2004 -- two quotes
                raise _HandOver
            if first == "'":
                if "'" in inner.replace("''", ""):
                    raise _HandOver
                inner = inner.replace("''", "'")
            elif '"' in inner:
                raise _HandOver
            self._ends(indent)
            return Scalar(inner, first, start, start + len(value))
        if first in _INDICATORS or ": " in value or " #" in value or value[-1] == ":":
            raise _HandOver
        self._ends(indent)
        return Scalar(value, "", start, start + len(value))

    def _ends(self, indent: int) -> None:
        """Hand over where the next line could go on with this value."""
        line = self._next()
        if line and line[0] == " " and len(line) - len(line.lstrip(" ")) > indent:
            raise _HandOver

    def _next(self) -> str:
        """The next line that is neither empty nor a comment."""
        for at in range(self._at, len(self._lines)):
            line = self._lines[at]
            if line and line.lstrip(" ")[:1] != "#":
                return line
        return ""
