"""YAML scalars: writing a string on one line, and the types that other readers give to plain scalars."""

from __future__ import annotations

import re
from functools import cache

_PLAIN = r"[\w./(][^\n\t\"'\\\[\]{},&*!|>%@`#]*"
_ESCAPED = '["\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]'
_SHORT = {'"': r"\"", "\\": r"\\", "\t": r"\t", "\n": r"\n", "\x85": "\x85", "\u2028": "\u2028", "\u2029": "\u2029"}


def double_quoted(text: str) -> str:
    """Return `text` in double quotes, with escapes."""
    return f'"{re.sub(_ESCAPED, _escape, text)}"'


def scalar(text: str) -> str:
    """Return `text` plain if that is unambiguous for every reader, otherwise in double quotes."""
    plain = re.fullmatch(_PLAIN, text.replace("*", "").replace(",", "")) and text[:1] not in "*,"
    if plain and not re.search(_ESCAPED, text) and ": " not in text and not text.endswith((":", " ")):
        return text
    return double_quoted(text)


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    return _SHORT.get(char) or f"\\u{ord(char):04x}"


_KINDS = (
    (
        "a number",
        r"[-+]?(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][-+]?\d+)?|0[xX][0-9a-fA-F_]+|0[oO]?[0-7_]+|0[bB][01_]+",
    ),
    ("a number", r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)|[-+]?\d+(?::[0-5]?\d)+(?:\.\d*)?"),
    ("a boolean", r"true|True|TRUE|false|False|FALSE|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|y|Y|n|N"),
    ("nothing", r"|~|null|Null|NULL"),
    ("a date", r"\d{4}-\d\d?-\d\d?(?:(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::?\d\d)?))?)?"),
)  # YAML 1.1, types; YAML 1.2, core schema


@cache
def _typed() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((kind, re.compile(pattern, re.ASCII)) for kind, pattern in _KINDS)


def type_beside_text(text: str) -> str | None:
    """Return the type that some YAML readers give to a plain scalar, such as `a number`; `None` if all read a text.

    Prowess reads every scalar as text. Other readers differ: a reader of YAML 1.1 reads `on` as a boolean and `1_000`
    as a number, a reader of YAML 1.2 reads both as text. The types of both versions count here.
    """
    return next((kind for kind, pattern in _typed() if pattern.fullmatch(text)), None)
