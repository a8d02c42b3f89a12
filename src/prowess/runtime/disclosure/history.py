"""A history without the instructions of skills that no longer hold, for hosts that want to save tokens.

A session never changes a message. This makes new ones, in which each `<skill_content>` of a skill that is not active is
one line. Bodies cannot forge these tags, so the end that is found is the end that was written. A tool result that is
JSON inside a text is understood as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from prowess.tools.prompt_escaping import escaped

if TYPE_CHECKING:
    from collections.abc import Collection

_MAX_DEPTH = 32  # a message of a real host is far flatter
# In JSON inside a text the quotes are escaped, and `<` is where it comes from us.
_OPEN = r"(?:<|\\u003c)"
_CONTENT = rf'(?s){_OPEN}skill_content name=(\\?")([^"\\\n]*)\1(?: mark=\\?"[0-9a-f]*\\?")?>.*?{_OPEN}/skill_content>'


def without(messages: Sequence[object], active: Collection[str]) -> list[object]:
    """Return the messages with the contents of all skills but the `active` ones dropped."""
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
