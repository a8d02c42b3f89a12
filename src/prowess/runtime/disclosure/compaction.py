"""Shortening a conversation's history: finds messages with instructions that are in force, and restores lost ones.

Needed only if the bodies of skills are in load results; bodies in the instructions of each call cannot be lost. A body
is recognised by its mark. Marks differ between sessions, and the author of a skill cannot know them in advance. A mark
counts only at the start of a result. So a message in which a skill quotes, reads or prints a mark does not count.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from prowess.runtime.disclosure.model_texts import CHARACTERS_PER_TOKEN, skill_content
from prowess.tools.prompt_escaping import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.runtime.state import ActiveSkill

_MAX_DEPTH = 32  # far above the nesting of real messages
_MARKED = r'<skill_content name="[^"\n]*" mark="([0-9a-f]{16})">\n'
_END = "\n</skill_content>\n"
_OUTPUT = ("stdout", "stderr", "output")  # keys of text printed by a script or written by a sub-agent


def mark_of(session_id: str, skill: ActiveSkill) -> str:
    """Return the mark of a skill's body in one session. Another session or another body gives another mark."""
    facts = f"{session_id}\0{skill.location}\0{skill.document_digest}"
    return hashlib.sha256(facts.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def protected(messages: Sequence[object], marks: Sequence[str]) -> tuple[int, ...]:
    """Return the positions of the newest messages that carry the bodies with these marks, sorted, each once."""
    wanted = set(marks)
    found: set[int] = set()
    for position in range(len(messages) - 1, -1, -1):
        if not wanted:
            break
        if carried := wanted & set(_marks(messages[position], 0)):
            wanted -= carried
            found.add(position)
    return tuple(sorted(found))


def restored(session_id: str, bodies: Sequence[tuple[ActiveSkill, str]], budget: int | None) -> str:
    """Return the bodies that fit into `budget` tokens, and a line that names the others. None means no limit."""
    left = None if budget is None else budget * CHARACTERS_PER_TOKEN
    parts: list[str] = []
    dropped: list[str] = []
    for skill, body in bodies:
        part = skill_content(skill.name, body, directory=None, resources=(), mark=mark_of(session_id, skill))
        if left is not None and len(part) > left:
            dropped.append(skill.name)
            continue
        parts.append(part)
        left = None if left is None else left - len(part)
    if dropped:
        names = ", ".join(map(escaped, dropped))
        parts.append(
            f"Still loaded, without room for the instructions: {names}. Unload and load them again to see them.\n"
        )
    return "".join(parts)


def _marks(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield from _leading(value)
        if depth < _MAX_DEPTH and value.startswith("{") and "skill_content" in value:
            yield from _marks(_json(value), depth + 1)
    elif depth < _MAX_DEPTH and isinstance(value, Mapping):
        # this is a result of skills.read, whose `text` is the content of a file and never a body
        is_file = "digest" in value
        for key, item in value.items():
            if key not in _OUTPUT and not (is_file and key == "text"):
                yield from _marks(item, depth + 1)
    elif depth < _MAX_DEPTH and isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        for item in value:
            yield from _marks(item, depth + 1)


def _leading(text: str) -> Iterator[str]:
    """Return the marks of the bodies that a text starts with. A body cannot contain its own closing tag."""
    position = 0
    while (found := re.compile(_MARKED).match(text, position)) is not None:
        yield found[1]
        end = text.find(_END, found.end() - 1)
        if end < 0:
            break
        position = end + len(_END)
        position += text.startswith("\n", position)


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
