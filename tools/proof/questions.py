"""How inputs are written for the program `formal/Oracle.cs`: one line, with tabs between the arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_LAST_OF_ONE_UNIT = 0xFFFF


def escaped(text: str) -> str:
    r"""Write every character that is not printable ASCII, and the backslash, as `\uXXXX`.

    A character of the model is one code unit of its compiler. One beyond U+FFFF is handed over as U+FFFF: no predicate
    tells these apart, and lengths stay code points.
    """
    return "".join(
        char if " " <= char <= "~" and char != "\\" else f"\\u{min(ord(char), _LAST_OF_ONE_UNIT):04x}" for char in text
    )


def items(texts: Iterable[str]) -> str:
    """Write a list; an empty one and a list of one empty text differ."""
    written = [escaped(text) for text in texts]
    return "+" + "\x1f".join(written) if written else ""


def absent_or(value: object) -> str:
    """Write a value that may be absent."""
    return "-" if value is None else f"+{escaped(str(value))}"
