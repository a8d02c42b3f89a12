r"""Text that is safe to print: text from files cannot move the cursor, colour the screen or hide words.

Control characters (C0 except tab and newline, DEL, C1), bidirectional controls and invisible characters that affect
terminals are shown as `\xNN` or `\uNNNN`. In JSON they are written as JSON escapes, so the value does not change, and
every reader sees a line of JSON as one line. Numbers that JSON cannot represent (infinity, not a number) are refused.
"""

from __future__ import annotations

import json
import re
from types import GeneratorType
from typing import TYPE_CHECKING

from msgspec.structs import asdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

UNSAFE = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
_CONTROLS = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
_BYTES = range(0xDC80, 0xDD00)  # PEP 383: byte NN of a name that is not valid text becomes U+DCNN


def printable(text: str) -> str:
    """Return `text` with every character that affects a terminal written as an escape."""
    if text.replace("\n", "").isprintable():  # the text is safe already; compiling the pattern takes long
        return text
    return re.sub(UNSAFE, _escape, text)


def without_controls(text: str) -> str:
    """Return `text` for a pipe, control characters escaped, line ends as LF. Zero-width characters are kept."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return re.sub(_CONTROLS, _escape, text.replace("\r\n", "\n"))


def printable_line(text: str) -> str:
    """Return `text` as one line: as `printable`, but line breaks and tabs are escapes too."""
    if text.isascii() and text.isprintable():
        return text
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def is_unicode(text: str) -> bool:
    """Return whether a text can be encoded. A file name whose bytes are not UTF-8 has lone surrogates and cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _escape(match: re.Match[str]) -> str:
    point = ord(match.group())
    if point in _BYTES:
        point &= 0xFF
    if point < 1 << 8:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 1 << 16 else f"\\U{point:08x}"


def columns(text: str) -> int:
    """Return the width of `text` in terminal columns."""
    if text.isascii():
        return len(text)
    return sum(map(_width_of, text))


def _width_of(char: str) -> int:
    from unicodedata import combining, east_asian_width  # Imported here, not at the top: most texts are ASCII.

    if char.isascii():
        return 1
    return 0 if combining(char) else 2 if east_asian_width(char) in {"W", "F"} else 1


def fitting(text: str, width: int) -> str:
    """Return the longest beginning of `text` that has at most `width` columns."""
    if text.isascii():
        return text[:width]
    taken = 0
    for number, char in enumerate(text):
        taken += _width_of(char)
        if taken > width:
            return text[:number]
    return text


def cut(text: str, width: int) -> str:
    """Return `text`, shortened with an ellipsis if it is wider than `width` columns."""
    if columns(text) <= width:
        return text
    return f"{fitting(text, width - 1)}…"


def wrapped(text: str, width: int | None, indent: str = "") -> Iterator[str]:
    """Yield `text` in lines of at most `width` columns. If `width` is None, the text is not broken.

    Lines after the first begin with `indent`. The text is broken at blanks; a word is broken only if it is longer than
    a line.
    """
    line, room = "", width
    if room is None or columns(text) <= room:
        yield text
        return
    for word in re.findall(r" *[^ ]+", text):
        begins = bool(line.strip()) and columns(line) + columns(word) > room
        if begins:
            yield line
            line = indent
        for char in word.lstrip(" ") if begins else word:
            if columns(line) + columns(char) > room:
                yield line
                line = indent
            line += char
    yield line


def counted(number: int, noun: str) -> str:
    """Return `1 skill`, `2 skills`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


_COMPACT = (",", ":")


def json_text(value: object, *, indent: int | None = None) -> str:
    """Return `value` as JSON, on one line unless `indent` is given. The text can always be encoded as UTF-8.

    A `Struct` becomes an object with its fields.

    Raises:
        ValueError: the value contains infinity, not-a-number, or itself.
        TypeError: the value contains a type that JSON does not have.
    """
    separators = _COMPACT if indent is None else None
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators, default=asdict)
    # Outside strings, JSON is ASCII without control characters, so every match is inside a string.
    if text.replace("\n", "").isprintable():  # true for nearly every text; compiling the pattern takes long
        return text
    return re.sub(UNSAFE, lambda match: json.dumps(match[0])[1:-1] if match[0] != "\x7f" else "\\u007f", text)


def json_parts(members: Mapping[str, object]) -> Iterator[str]:
    """Yield the text of `json_text(members, indent=2)` in parts.

    A member that is a generator is written as the list of what it yields, one item at a time, so that a long list is
    never in memory as a whole. Raises the errors of `json_text` at the faulty part.
    """
    opening = "{"
    for name, value in members.items():
        yield f"{opening}\n  {json_text(name)}: "
        opening = ","
        if isinstance(value, GeneratorType):
            yield from _list_parts(value)
        else:
            yield _indented(value, "\n  ")
    yield "{}" if opening == "{" else "\n}"


def _list_parts(items: Iterator[object]) -> Iterator[str]:
    opening = "["
    for item in items:
        yield f"{opening}\n    "
        yield _indented(item, "\n    ")
        opening = ","
    yield "[]" if opening == "[" else "\n  ]"


def _indented(value: object, line_break: str) -> str:
    return json_text(value, indent=2).replace("\n", line_break)  # a line break inside a string is an escape
