r"""Text that is safe to print: nothing that a file says can move the cursor, colour the screen or hide words.

Control characters (C0 but tab and newline, DEL, C1), bidirectional controls and invisible characters that terminals
act on are shown as `\xNN` or `\uNNNN`.
"""

from __future__ import annotations

import re

UNSAFE = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
_BYTES = range(0xDC80, 0xDD00)  # PEP 383: byte NN of a name that is no text becomes U+DCNN


def printable(text: str) -> str:
    """Return `text` with every character that a terminal would act on written as an escape."""
    if text.replace("\n", "").isprintable():  # so it is safe; the pattern takes long to compile
        return text
    return re.sub(UNSAFE, _escape, text)


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


def counted(number: int, noun: str) -> str:
    """Return `1 skill`, `2 skills`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
