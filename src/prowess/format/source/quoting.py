"""Write a text as a YAML scalar on one line."""

from __future__ import annotations

import re

_PLAIN = re.compile(r"[\w./(][^\n\t\"'\\\[\]{},&*!|>%@`#]*")
_ESCAPED = re.compile('["\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]')
_SHORT = {'"': r"\"", "\\": r"\\", "\t": r"\t", "\n": r"\n", "\x85": "\x85", "\u2028": "\u2028", "\u2029": "\u2029"}


def double_quoted(text: str) -> str:
    """Return `text` in double quotes, whatever it holds."""
    return f'"{_ESCAPED.sub(_escape, text)}"'


def scalar(text: str) -> str:
    """Return `text` plain where no reader can mistake it, else in double quotes."""
    plain = _PLAIN.fullmatch(text.replace("*", "").replace(",", "")) and text[:1] not in "*,"
    if plain and not _ESCAPED.search(text) and ": " not in text and not text.endswith((":", " ")):
        return text
    return double_quoted(text)


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    return _SHORT.get(char) or f"\\u{ord(char):04x}"
