"""The difference between two JSON values, as JSON: the changes that turn the first into the second.

    changes = difference({"id": 1, "files": []}, {"id": 1, "note": "x"})
    changes == {"set": [[["note"], "x"]], "unset": [["files"]]}
    apply(changes, {"id": 1, "files": []}) == {"id": 1, "note": "x"}

Objects are compared by member, and lists of equal length by item; any other difference replaces the value. The order
of an object's members is kept too. `apply(difference(a, b), a)` is `b` for all JSON values (tested with random ones).
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

JsonPath = tuple[str | int, ...]


class ChangesDoNotFitError(Exception):
    """The value has no such place; it is not the one that the changes were made for."""


def difference(before: object, after: object) -> dict[str, Any]:
    """Return the changes, with the keys `set`, `unset` and `order`; empty if the values are equal in order too."""
    found: dict[str, Any] = {}
    for kind, path, value in _steps(before, after, ()):
        found.setdefault(kind, []).append([*path] if kind == "unset" else [[*path], value])
    return found


def apply(changes: Mapping[str, Any], value: object) -> Any:  # noqa: ANN401 -- JSON
    """Return a changed copy of the value.

    Raises:
        ChangesDoNotFitError: the value lacks a place that is changed, or the changes are not of this form.
    """
    whole = [copy.deepcopy(value)]
    try:
        for path in changes.get("unset", ()):
            del _holder(whole, path)[path[-1]]
        for path, new in changes.get("set", ()):
            _holder(whole, path)[path[-1] if path else 0] = copy.deepcopy(new)
        for path, keys in changes.get("order", ()):
            target = _at(whole, path)
            ordered = {key: target[key] for key in keys}
            ordered.update({key: item for key, item in target.items() if key not in ordered})
            target.clear()
            target.update(ordered)
    except (LookupError, TypeError, ValueError, AttributeError) as fault:
        raise ChangesDoNotFitError from fault
    return whole[0]


def changed_paths(changes: Mapping[str, Any]) -> Iterator[tuple[JsonPath, object]]:
    """Yield each place that `set` changes, and its new value."""
    for path, value in changes.get("set", ()):
        yield tuple(path), value


def _at(whole: list[Any], path: list[str | int]) -> Any:  # noqa: ANN401 -- JSON
    value = whole[0]
    for part in path:
        value = value[part]
    return value


def _holder(whole: list[Any], path: list[str | int]) -> Any:  # noqa: ANN401 -- JSON
    return _at(whole, path[:-1]) if path else whole


def _steps(before: object, after: object, path: JsonPath) -> Iterator[tuple[str, JsonPath, object]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before:
            if key not in after:
                yield "unset", (*path, key), None
        for key, value in after.items():
            if key in before:
                yield from _steps(before[key], value, (*path, key))
            else:
                yield "set", (*path, key), value
        kept = [key for key in before if key in after]
        if [*kept, *(key for key in after if key not in before)] != [*after]:
            yield "order", path, [*after]
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _steps(old, new, (*path, number))
    elif type(before) is not type(after) or before != after:  # 1, 1.0 and true are equal in Python, and not as data
        yield "set", path, after
