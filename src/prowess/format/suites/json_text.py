"""JSON with the place of each value: the offset in the text of the value at a path of members and indices."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from prowess.format.suites.suite import RepeatedKey, UnreadableTextError

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DEPTH = 60
_BLANK = re.compile(r"[ \t\r\n]*")
_DECODE = json.JSONDecoder(strict=False).raw_decode


class JsonText(Struct, frozen=True, kw_only=True):
    """A text of JSON and its value. The last of `repeated` keys counts."""

    text: str
    value: Any
    repeated: tuple[RepeatedKey, ...] = ()

    @classmethod
    def parse(cls, text: str) -> JsonText:
        """Parse a text; a byte-order mark at its start is not part of the offsets.

        Raises:
            UnreadableTextError: the text is not JSON, or nested too deeply.
        """
        text = text.removeprefix("\ufeff")
        found: list[bool] = []

        def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            value = dict(pairs)
            if len(value) < len(pairs):
                found.append(True)
            return value

        too_deep = "cannot be read: it is nested too deeply, or has a number that is too long"
        try:
            value = json.loads(text, strict=False, object_pairs_hook=members)
        except json.JSONDecodeError as fault:
            raise UnreadableTextError(f"is not JSON: {fault.msg}", fault.pos) from None
        except (RecursionError, ValueError):  # a number with too many digits raises ValueError
            raise UnreadableTextError(too_deep, 0) from None
        if _is_deep(value):
            raise UnreadableTextError(too_deep, 0)
        return cls(text=text, value=value, repeated=tuple(_repeated(text, _after(text, 0))) if found else ())

    def offset(self, *path: str | int) -> int:
        """Return the offset of the value at this path, or of the innermost value on the way that exists."""
        at = _after(self.text, 0)
        for part in path:
            places = _places(self.text, at)
            if part not in places:
                break
            at = places[part]
        return at


def _is_deep(value: object) -> bool:
    """Whether a value has more than `MAX_DEPTH` levels; looked at level by level, without recursion."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            item
            for one in level
            if isinstance(one, dict | list)
            for item in (one.values() if isinstance(one, dict) else one)
        ]
    return bool(level)


def _places(text: str, start: int) -> dict[str | int, int]:
    """Return the offsets of the members or items of the value at `start`; empty if the value is neither."""
    if text[start] == "{":
        return _members(text, start)
    return dict(enumerate(_items(text, start))) if text[start] == "[" else {}


def _members(text: str, start: int) -> dict[str | int, int]:
    return {key: at for key, _, at in _pairs(text, start)}


def _pairs(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """Yield the members of the object at `start`: key, offset of the key, offset of the value."""
    at = _after(text, start + 1)
    while text[at] != "}":
        key, after = _DECODE(text, at)
        value = _after(text, _after(text, after) + 1)
        yield key, at, value
        at = _next(text, _DECODE(text, value)[1])


def _repeated(text: str, start: int) -> Iterator[RepeatedKey]:
    if text[start] == "[":
        for at in _items(text, start):
            yield from _repeated(text, at)
    elif text[start] == "{":
        seen: set[str] = set()
        for key, at, value in _pairs(text, start):
            if key in seen:
                yield RepeatedKey(key=key, offset=at)
            seen.add(key)
            yield from _repeated(text, value)


def _items(text: str, start: int) -> list[int]:
    found = []
    at = _after(text, start + 1)
    while text[at] != "]":
        found.append(at)
        at = _next(text, _DECODE(text, at)[1])
    return found


def _next(text: str, at: int) -> int:
    """Return the offset of the next item, or of the closing bracket."""
    at = _after(text, at)
    return _after(text, at + 1) if text[at] == "," else at


def _after(text: str, at: int) -> int:
    return _BLANK.match(text, at).end()  # type: ignore[union-attr]  # no blank at all matches as well
