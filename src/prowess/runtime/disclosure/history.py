"""Removes the instructions of inactive skills from a conversation's history, for hosts that want to save tokens.

A session never changes a message. This function makes new messages in which each `<skill_content>` of an inactive skill
is replaced by one line. A body cannot forge these tags, so the closing tag found is the real one. JSON inside the text
of a tool result is handled too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from prowess.tools.prompt_escaping import escaped

if TYPE_CHECKING:
    from collections.abc import Collection

_MAX_DEPTH = 32  # far above the nesting of real messages
# In JSON inside a text, the quotes are escaped, and our own `<` is written as `\u003c`.
_OPEN = r"(?:<|\\u003c)"
_CONTENT = rf'(?s){_OPEN}skill_content name=(\\?")([^"\\\n]*)\1(?: mark=\\?"[0-9a-f]*\\?")?>.*?{_OPEN}/skill_content>'


def without(messages: Sequence[object], active: Collection[str]) -> list[object]:
    """Return new messages in which only the contents of the skills named in `active` are kept."""
    kept = {escaped(name) for name in active}

    def line(match: re.Match[str]) -> str:
        name = match[2]
        return match[0] if name in kept else f"[The instructions of skill {name} are left out: it is no longer loaded.]"

    return [_changed(message, line, 0) for message in messages]


def _changed(value: object, line: object, depth: int) -> object:
    if isinstance(value, str):
        return re.sub(_CONTENT, line, value) if "skill_content" in value else value  # type: ignore[call-overload]  # a function of one match
    if depth >= _MAX_DEPTH:
        return value
    if isinstance(value, Mapping):
        return {key: _changed(item, line, depth + 1) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [_changed(item, line, depth + 1) for item in value]
    return value
