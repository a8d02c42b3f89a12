"""When a host shortens a history: which messages carry instructions that still hold, and how to give them back.

It matters only where bodies travel in load results; in the instructions of each call they cannot be lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from prowess.runtime.disclosure import CHARACTERS_PER_TOKEN, content_marker, skill_content

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_DEPTH = 32  # a message of a real host is far flatter


def protected(messages: Sequence[object], names: Sequence[str]) -> tuple[int, ...]:
    """Return the position of the newest message that carries the body of each name, in order, each once."""
    wanted = {content_marker(name) for name in names}
    found: set[int] = set()
    for position in range(len(messages) - 1, -1, -1):
        if not wanted:
            break
        for text in _texts(messages[position], 0):
            if carried := {marker for marker in wanted if marker in text}:
                wanted -= carried
                found.add(position)
    return tuple(sorted(found))


def restored(bodies: Sequence[tuple[str, str]], budget: int | None) -> str:
    """Return the bodies (name, text) as far as the budget in tokens goes, and the names of those left out."""
    left = None if budget is None else budget * CHARACTERS_PER_TOKEN
    parts: list[str] = []
    dropped: list[str] = []
    for name, body in bodies:
        part = skill_content(name, body, directory=None, resources=())
        if left is not None and len(part) > left:
            dropped.append(name)
            continue
        parts.append(part)
        left = None if left is None else left - len(part)
    if dropped:
        names = ", ".join(dropped)
        parts.append(
            f"Still loaded, without room for the instructions: {names}. Unload and load them again to see them.\n"
        )
    return "".join(parts)


def _texts(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth < _MAX_DEPTH and isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item, depth + 1)
    elif depth < _MAX_DEPTH and isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        for item in value:
            yield from _texts(item, depth + 1)
