"""Repair invalid YAML as an author would: quote the failing value, indent with spaces instead of tabs.

Only text that libyaml refuses is changed, and in that text only the failing value. Each repair keeps the number of
lines, so later positions stay right. YAML that is valid but not allowed (an alias, a tag) is never repaired.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.yaml_reader import Mapping, Scalar, Sequence, read_yaml
from prowess.diagnostics import Fix, FixSafety
from prowess.format.source.scalars import double_quoted

if TYPE_CHECKING:
    from prowess._internal.yaml_reader import Node, YamlFault, YamlReading
    from prowess.format.source.source_text import SourceText

# Limits over all attempts, so that a large broken text stays cheap. Real texts need one or two repairs.
_MAX_REPAIRS = 64
_MAX_CHARACTERS = 256 * 1024
_MAX_NODES = 4000
_MAX_LINES = 10_000  # nearly all lines of a longer front matter are empty, as it has at most 64 KiB

_TEXT_FIELDS = frozenset({"name", "description", "license", "compatibility", "allowed-tools"})
_KEY = re.compile(r"[^\W\d][\w.-]*[ \t]*:(?:[ \t]+|$)")
_ITEM = re.compile(r"(?:-[ \t]+)+")
_BLOCK_HEADER = re.compile(r"[|>][-+0-9]{0,2}[ \t]*(?:#.*)?$")
_COMMENT = re.compile(r"[ \t]#")
_COMMENTED = re.compile(r'("(?:[^"\\]|\\.)*")[ \t]+#')  # a double-quoted value followed by a comment
_LIST = re.compile(r"""\[[^\[\]{}"'\\#]+\]""")
_PARTS = re.compile(r"[^\[\], \t][^\],]*[^\], \t]|.")  # an item without the spaces around it, or one character
_NEEDING_QUOTES = frozenset("@`%")


class Repair(Struct, frozen=True, kw_only=True):
    """One repaired value: `text` replaces the original text from `start` to `end`."""

    fault: YamlFault
    start: int
    end: int
    text: str
    title: str

    def fix(self, origin: SourceText) -> Fix:
        """Return the repair as an edit that an author can apply."""
        edit = origin.edit(self.start, self.end, self.text)
        return Fix(safety=FixSafety.SAFE, title=self.title, edits=(edit,))


class Broken(Struct, frozen=True, kw_only=True):
    """A fault that could not be repaired, and the place of its value in the original text."""

    fault: YamlFault
    start: int
    end: int


class Mended(Struct, frozen=True, kw_only=True):
    """The result of `mend`: the last reading in offsets of the original text, the repairs, and the remaining fault."""

    reading: YamlReading
    repairs: tuple[Repair, ...]
    broken: Broken | None


class _Value(Struct, frozen=True, kw_only=True):
    """A value on the lines `first` to `last`, starting at `column` of the first line."""

    first: int
    column: int
    last: int


def mend(text: str, base: int, reading: YamlReading) -> Mended:
    """Repair `text` until it can be read or cannot be repaired.

    `reading` is the result of reading `text`, which failed. Offsets count from `base`.
    """
    if text.count("\n") > _MAX_LINES and (fault := _syntax(reading)) is not None:
        return Mended(reading=reading, repairs=(), broken=Broken(fault=fault, start=fault.context, end=fault.offset))
    work = _Work(text, base)
    characters, nodes = 0, reading.nodes
    while (fault := _syntax(reading)) is not None:
        characters += len(text)
        if characters > _MAX_CHARACTERS or not work.mend(fault):
            return Mended(reading=reading, repairs=tuple(work.repairs), broken=work.broken(fault))
        failed, reading = reading, read_yaml(work.text(), base=base)
        nodes += reading.nodes
        if nodes > _MAX_NODES:  # even if it can be read now: mapping so many nodes back takes too long
            return Mended(reading=failed, repairs=tuple(work.repairs[:-1]), broken=work.broken(fault))
    return Mended(reading=work.in_original(reading), repairs=tuple(work.repairs), broken=None)


def _syntax(reading: YamlReading) -> YamlFault | None:
    return next((fault for fault in reading.faults if fault.construct == "syntax"), None)


class _Work:
    """The text under repair as lines, and the original lines."""

    def __init__(self, text: str, base: int) -> None:
        self._base = base
        self._original = text.split("\n")
        self._lines = list(self._original)
        self._starts = _starts(self._original)
        self._starts_now = self._starts
        self._touched: set[int] = set()
        self._wider: dict[int, int] = {}  # line -> number of characters added to its indentation
        self._inserted: dict[int, list[int]] = {}  # line -> columns of the quotes inserted around items of its list
        self._quoted_ends: dict[int, int] = {}  # start -> end of a quoted value, in the original text
        self.repairs: list[Repair] = []

    def text(self) -> str:
        self._starts_now = _starts(self._lines)
        return "\n".join(self._lines)

    def mend(self, fault: YamlFault) -> bool:
        """Repair the value at `fault`; return False if that is not possible."""
        if len(self.repairs) >= _MAX_REPAIRS or "<document start>" in fault.problem:
            return False
        line, column = self._position(fault.offset)
        if self._lines[line][:column].strip(" \t") == "" and "\t" in _indent(self._lines[line]):
            return self._untabify(fault, line)
        value = self._find_value(fault)
        if value is None or not self._touched.isdisjoint(range(value.first, value.last + 1)):
            return False
        return self._quote(fault, value)

    def broken(self, fault: YamlFault) -> Broken:
        value = self._find_value(fault)
        if value is None:
            line, column = self._position(fault.context)
            value = _Value(first=line, column=column, last=line)
        start = self._mapped(value.first, value.column)
        end = self._offset(value.last, len(self._original[value.last]))
        return Broken(fault=self._in_original(fault), start=start, end=end)

    def in_original(self, reading: YamlReading) -> YamlReading:
        """Return `reading` with offsets in the original text."""
        faults = tuple(self._in_original(fault) for fault in reading.faults)
        return replace(reading, root=None if reading.root is None else self._moved(reading.root), faults=faults)

    def _moved(self, node: Node) -> Node:
        """Return `node` with offsets in the original text. A node within one unchanged line is only shifted."""
        base, starts, starts_now, quoted = self._base, self._starts, self._starts_now, self._quoted_ends
        ends_now = [*starts_now[1:], len(self._lines[-1]) + starts_now[-1] + 1]
        changed = {line for line, text in enumerate(self._lines) if text is not self._original[line]}

        def moved(node: Node) -> Node:
            start, end = node.start - base, node.end - base
            line = bisect_right(starts_now, start) - 1
            if end < ends_now[line] and line not in changed:
                shift = base + starts[line] - starts_now[line]
                start, end = start + shift, end + shift
            else:
                start = self._mapped(line, start - starts_now[line])
                end = self._mapped(*self._position(node.end))
            if isinstance(node, Scalar):
                return Scalar(text=node.text, style=node.style, start=start, end=quoted.get(start, end))
            if isinstance(node, Sequence):
                return Sequence(items=tuple(map(moved, node.items)), flow=node.flow, start=start, end=end)
            entries = tuple([(moved(key), moved(value)) for key, value in node.entries])
            return Mapping(entries=entries, flow=node.flow, start=start, end=end)

        return moved(node)

    def _untabify(self, fault: YamlFault, first: int) -> bool:
        last = first
        while last < len(self._lines) and _is_inside(self._lines[last]):
            last += 1
        for line in range(first, last):
            indent = _indent(self._lines[line])
            if "\t" in indent and len(self.repairs) < _MAX_REPAIRS:
                start = self._offset(line, 0)
                blanks = indent.replace("\t", "  ")
                self._wider[line] = len(blanks) - len(indent)
                self._lines[line] = blanks + self._lines[line][len(indent) :]
                here = replace(fault, offset=start + indent.index("\t"), context=start)
                self.repairs.append(
                    Repair(fault=here, start=start, end=start + len(indent), text=blanks, title="indent with spaces")
                )
        return True

    def _quote(self, fault: YamlFault, value: _Value) -> bool:
        lines = self._lines[value.first : value.last + 1]
        head, lines[0] = lines[0][: value.column], lines[0][value.column :]
        if _BLOCK_HEADER.match(lines[0]):
            return False
        if lines[0][:1] not in "\"'":
            lines = [line[: found.start()] if (found := _COMMENT.search(line)) else line for line in lines]
        elif len(lines) == 1 and (commented := _COMMENTED.match(lines[0])) is not None:
            lines = [commented[1]]
        if (items := _quoted_items(lines, fault)) is None:
            quoted, title = double_quoted(_unescaped(_folded(lines), fault)), "put it in double quotes"
        else:
            quoted, title = items[0], "put the items that need it in double quotes"
        original = self._in_original(fault)
        start = self._mapped(value.first, value.column)
        kept = ""
        if value.first == value.last:
            written = lines[0].rstrip(" \t")
            kept = self._lines[value.first][value.column + len(written) :]
            end = start + len(written)
        else:
            end = self._offset(value.last, len(self._original[value.last].rstrip(" \t")))
        self._lines[value.first] = head + quoted + kept
        for line in range(value.first + 1, value.last + 1):
            self._lines[line] = ""
        if items is not None:
            self._inserted[value.first] = [value.column + column for column in items[1]]
        self._quoted_ends[start] = end
        self._touched.update(range(value.first, value.last + 1))
        self.repairs.append(Repair(fault=original, start=start, end=end, text=quoted, title=title))
        return True

    def _find_value(self, fault: YamlFault) -> _Value | None:
        failing, _ = self._position(fault.context)
        top = failing
        while top >= 0 and (_is_inside(self._lines[top]) or self._lines[top].startswith("#")):
            top -= 1
        key = _KEY.match(self._lines[top]) if top >= 0 else None
        if key is None:
            return None
        last = top + 1
        while last < len(self._lines) and _is_inside(self._lines[last]):
            last += 1
        last = self._last_written(top, last - 1)
        if _has_value(self._lines[top][key.end() :]):
            return _Value(first=top, column=key.end(), last=last)
        if key[0].rstrip(" \t:") in _TEXT_FIELDS:
            first = next((line for line in range(top + 1, last + 1) if _has_value(self._lines[line].strip())), None)
            return None if first is None else _Value(first=first, column=len(_indent(self._lines[first])), last=last)
        return self._find_nested(top, failing, last)

    def _find_nested(self, top: int, failing: int, last: int) -> _Value | None:
        for line in range(failing, top, -1):
            text = self._lines[line]
            indent = len(_indent(text))
            column = indent
            if (item := _ITEM.match(text, column)) is not None:
                column = item.end()
            if (key := _KEY.match(text, column)) is not None:
                column = key.end()
            if column > indent and _has_value(text[column:]):
                end = line + 1
                while end <= last and (not self._lines[end].strip() or len(_indent(self._lines[end])) > indent):
                    end += 1
                return _Value(first=line, column=column, last=self._last_written(line, end - 1))
        return None

    def _last_written(self, first: int, last: int) -> int:
        while last > first and not _has_value(self._lines[last].strip()):
            last -= 1
        return last

    def _in_original(self, fault: YamlFault) -> YamlFault:
        offset, context = (self._mapped(*self._position(place)) for place in (fault.offset, fault.context))
        return replace(fault, offset=offset, context=context)

    def _position(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts_now, offset - self._base) - 1
        return line, offset - self._base - self._starts_now[line]

    def _mapped(self, line: int, column: int) -> int:
        """Convert a place in the text under repair to an offset in the original text."""
        inserted = bisect_left(self._inserted.get(line, ()), column)
        return self._offset(line, max(column - self._wider.get(line, 0) - inserted, 0))

    def _offset(self, line: int, column: int) -> int:
        return self._base + self._starts[line] + min(column, len(self._original[line]))


def _starts(lines: list[str]) -> list[int]:
    """Return the offset of each line."""
    return list(accumulate((len(line) + 1 for line in lines[:-1]), initial=0))


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _is_inside(line: str) -> bool:
    """Whether the line can belong to the entry above it."""
    return not line or line[0] in " \t"


def _has_value(text: str) -> bool:
    return bool(text) and not text.startswith("#")


def _quoted_items(lines: list[str], fault: YamlFault) -> tuple[str, list[int]] | None:
    """Quote the items of a plain list in brackets that start with a reserved character.

    Returns the list and the columns of the inserted quotes; `None` if the value is not such a list.
    """
    text = lines[0].rstrip(" \t")
    if len(lines) > 1 or "cannot start any token" not in fault.problem or _LIST.fullmatch(text) is None:
        return None
    quoted, columns = "", []
    for part in _PARTS.findall(text):
        if part[0] in _NEEDING_QUOTES:
            columns += [len(quoted), len(quoted) + len(part) + 1]
            quoted += f'"{part}"'
        else:
            quoted += part
    return quoted, columns


def _folded(lines: list[str]) -> str:
    """Join lines as YAML folds a plain scalar: a line break becomes a space, each empty line a line break."""
    text = lines[0].strip(" \t")
    empty = 0
    for line in lines[1:]:
        part = line.strip(" \t")
        if not part:
            empty += 1
            continue
        text += ("\n" * empty or " ") + part
        empty = 0
    return text


def _unescaped(text: str, fault: YamlFault) -> str:
    """Remove the quotes of a value whose only fault is a backslash, because the backslash was meant literally."""
    quoted = text.startswith('"') and text.endswith('"') and len(text) > 1
    if quoted and ("escape" in fault.problem or "hexdecimal" in fault.problem):
        return text[1:-1].replace('\\"', '"')
    return text
