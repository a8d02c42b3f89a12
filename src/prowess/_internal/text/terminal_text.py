r"""Text that is safe to print: nothing that a file says can move the cursor, colour the screen or hide words.

Control characters (C0 but tab and newline, DEL, C1), bidirectional controls and invisible characters that terminals
act on are shown as `\xNN` or `\uNNNN`. In JSON they are escapes of JSON, so the value stays the same, and a line of it
is one line to every reader. Numbers that JSON cannot write (infinity, not a number) are refused.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from msgspec.structs import asdict

if TYPE_CHECKING:
    from collections.abc import Iterator

UNSAFE = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
_CONTROLS = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
_BYTES = range(0xDC80, 0xDD00)  # PEP 383: byte NN of a name that is no text becomes U+DCNN


def printable(text: str) -> str:
    """Return `text` with every character that a terminal would act on written as an escape."""
    if text.replace("\n", "").isprintable():  # so it is safe; the pattern takes long to compile
        return text
    return re.sub(UNSAFE, _escape, text)


def without_controls(text: str) -> str:
    """Return `text` for a pipe: control characters, those of writing direction too, as escapes, line ends as LF.

    Characters of no width stay, because words and emoji need them.
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return re.sub(_CONTROLS, _escape, text.replace("\r\n", "\n"))


def printable_line(text: str) -> str:
    """Return `text` as one line: as `printable`, and line breaks and tabs are escapes too."""
    if text.isascii() and text.isprintable():
        return text
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def is_unicode(text: str) -> bool:
    """Whether a text can be encoded; a name of a file whose bytes are no UTF-8 holds half surrogates."""
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
    """Return how many columns a terminal gives to `text`."""
    if text.isascii():
        return len(text)
    # Imported here, not at the top: most texts are ASCII.
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(char) else 2 if east_asian_width(char) in {"W", "F"} else 1 for char in text)


def cut(text: str, width: int) -> str:
    """Return `text`, or as much of its beginning as fits into `width` columns with an ellipsis."""
    if columns(text) <= width:
        return text
    while text and columns(text) >= width:
        text = text[:-1]
    return f"{text}…"


def wrapped(text: str, width: int | None, indent: str = "") -> Iterator[str]:
    """Yield `text` in lines of at most `width` columns, all but the first behind `indent`; None does not break it.

    It is broken at blanks; a word is broken only if no line can hold it.
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
    """Return `value` as JSON, on one line unless `indent` is given; it can always be encoded as UTF-8.

    A `Struct` in it becomes an object with its fields.

    Raises:
        ValueError: it holds infinity or not-a-number, or itself.
        TypeError: it holds something that is no JSON.
    """
    separators = _COMPACT if indent is None else None
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators, default=asdict)
    # Outside strings JSON is ASCII without control characters, so every match stands inside one.
    if text.replace("\n", "").isprintable():  # as nearly every text; the pattern takes long to compile
        return text
    return re.sub(UNSAFE, lambda match: json.dumps(match[0])[1:-1] if match[0] != "\x7f" else "\\u007f", text)
