r"""JSON that is safe to print and to split into lines: what a terminal or a line reader acts on stands as an escape.

A JSON string may hold any of these characters as `\uXXXX`, so the value stays the same whoever reads it. Numbers that
JSON cannot write (infinity, not a number) are refused and never spelled as words of another language.
"""

from __future__ import annotations

import json
import re

from msgspec.structs import asdict

from prowess._internal.text.terminal_text import UNSAFE

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
