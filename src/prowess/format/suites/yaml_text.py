"""YAML as JSON data with the place of each value, and JSON data written as YAML.

Plain scalars are typed by the core schema of YAML 1.2: `true`, `null`, `12`, `1.5`; `yes` and `on` are texts. Anchors,
tags and further documents are refused, as everywhere in Prowess.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from prowess._internal.yaml_reader import Mapping as YamlMapping
from prowess._internal.yaml_reader import Scalar, Sequence, read_yaml
from prowess.format.document import plain, repeated_keys
from prowess.format.parsing import describe
from prowess.format.source.source_text import SourceText
from prowess.format.suites.suite import RepeatedKey, UnreadableTextError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess._internal.yaml_reader import Node

_WORDS: dict[str, bool | None] = {"null": None, "Null": None, "NULL": None, "~": None, "": None}
_WORDS |= {word: word[0] in "tT" for word in ("true", "True", "TRUE", "false", "False", "FALSE")}
_INTEGER = r"[-+]?[0-9]{1,400}"
_FLOAT = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
_SAFE_KEY = r"[A-Za-z_][A-Za-z0-9_-]*"
_SAFE_LINE = r"[A-Za-z][A-Za-z0-9 ,;()/._-]*(?<! )"
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_LONGEST_LINE = 100
_OTHER_WORDS = frozenset({"yes", "no", "on", "off", "y", "n"})  # booleans in YAML 1.1


class YamlText(Struct, frozen=True, kw_only=True):
    """A text of YAML, its value, and its nodes. The first of `repeated` keys counts."""

    text: str
    value: Any
    root: Any
    repeated: tuple[RepeatedKey, ...] = ()

    @classmethod
    def parse(cls, text: str) -> YamlText:
        """Parse a text; an empty one is null.

        Raises:
            UnreadableTextError: the text is not YAML, or has an anchor, a tag or a second document.
        """
        text = text.removeprefix("\ufeff")
        reading = read_yaml(text)
        if reading.faults:
            fault = reading.faults[0]
            raise UnreadableTextError(f"cannot be read as YAML: {describe(fault, text)}", fault.offset)
        if reading.root is None:
            return cls(text=text, value=None, root=None)
        source = SourceText(path=None, text=text)
        again = tuple(RepeatedKey(key=name, offset=key.start) for name, key in repeated_keys(reading.root, source))
        return cls(text=text, value=plain(reading.root, source, typed), root=reading.root, repeated=again)

    def offset(self, *path: str | int) -> int:
        """Return the offset of the value at this path, or of the innermost value on the way that exists."""
        node: Node | None = self.root
        for part in path:
            inner = _inner(node, part)
            if inner is None:
                break
            node = inner
        return 0 if node is None else node.start


def _inner(node: Node | None, part: str | int) -> Node | None:
    if isinstance(node, Sequence) and isinstance(part, int):
        return node.items[part] if part < len(node.items) else None
    if isinstance(node, YamlMapping):
        return next((value for key, value in node.entries if isinstance(key, Scalar) and key.text == part), None)
    return None


def typed(scalar: Scalar) -> object:
    """Return the value of a scalar; a quoted one is a text."""
    text = scalar.text
    if scalar.style:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if re.fullmatch(_INTEGER, text):
        return int(text)
    if re.fullmatch(_FLOAT, text):
        number = float(text)
        return number if abs(number) != float("inf") else text
    return text


def yaml_of(value: object) -> str:
    """Write JSON data as YAML in block style. `YamlText.parse` gives the same data."""
    return "\n".join(_lines(value, 0)) + "\n"


def _lines(value: object, depth: int) -> Iterator[str]:
    pad = "  " * depth
    if isinstance(value, dict) and value:
        for key, item in value.items():
            name = key if re.fullmatch(_SAFE_KEY, key) and not _is_word(key) else _quoted(key)
            yield from _entry(f"{pad}{name}:", item, depth)
    elif isinstance(value, list) and value:
        for item in value:
            if isinstance(item, dict) and item:
                first, *others = _lines(item, depth + 1)
                yield f"{pad}- {first.lstrip(' ')}"
                yield from others
            else:
                yield from _entry(f"{pad}-", item, depth)
    else:
        yield pad + _scalar(value)


def _entry(lead: str, item: object, depth: int) -> Iterator[str]:
    if isinstance(item, dict | list) and item:
        yield lead
        yield from _lines(item, depth + 1)
    elif isinstance(item, str) and _fits_block(item):
        yield f"{lead} {'|' if item.endswith(chr(10)) else '|-'}"
        for line in item.removesuffix("\n").split("\n"):
            yield f"{'  ' * (depth + 1)}{line}" if line else ""
    else:
        yield f"{lead} {_scalar(item)}"


def _fits_block(text: str) -> bool:
    """Whether a text of several lines can be written as it is: no blank at a place that YAML reads differently."""
    lines = text.removesuffix("\n").split("\n")
    if len(lines) == 1 or not lines[0] or not lines[-1]:
        return False
    return lines[0][0] != " " and all(line.isprintable() and line == line.rstrip() for line in lines)


def _scalar(value: object) -> str:
    if isinstance(value, str):
        fits = len(value) <= _LONGEST_LINE and re.fullmatch(_SAFE_LINE, value) and not _is_word(value)
        return value if fits else _quoted(value)
    return json.dumps(value)


def _is_word(text: str) -> bool:
    return text in _WORDS or text.lower() in _OTHER_WORDS


def _quoted(text: str) -> str:
    """Return the text in double quotes: JSON's notation, with the characters escaped that YAML does not print."""
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))
