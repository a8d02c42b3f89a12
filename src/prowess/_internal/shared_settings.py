"""Whether a `pyproject.toml` could hold `[tool.prowess]`, told from its bytes: most do not, and no TOML reader loads.

Read line by line: a table is named in its header, or by a key at the beginning of a line. What only looks like one, as
in a text of several lines, counts too; the reader of TOML decides then.
"""

from __future__ import annotations

import re

_NAME = b"prowess"
_TOOL = rb"""["']?tool["']?[ \t]*"""
_TABLE = (
    rb"^(?:\xef\xbb\xbf)?[ \t]*\[{0,2}[ \t]*(?:"
    + _TOOL
    + rb"""(?:\]|=|\.[ \t]*(?:["']?prowess|"[^"\n]*\\[uU]))|"[^"\n]*\\[uU])"""  # a key may be written in escapes
)


def may_set(data: bytes) -> bool:
    """Whether these bytes of a `pyproject.toml` may set anything."""
    return (_NAME in data or b"\\" in data) and re.search(_TABLE, data, re.MULTILINE) is not None
