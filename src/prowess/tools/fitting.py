"""What a schema that is used often says of arguments, with what can be told from the schema alone told once.

The simple values and schemas that nearly all calls have are weighed by functions that are made when a tool is
registered. A weight says that arguments certainly fit, are certainly JSON, and how many bytes of it they have at most.
Whatever has none is for `prowess.tools.validation`, which judges in full and finds the words.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from prowess._internal.canonical_json import MAX_DEPTH
from prowess.tools.validation import LISTS, REMARKS, UNCHANGING, as_mapping, copied, type_names

if TYPE_CHECKING:
    from collections.abc import Sequence

_CONTAINERS = frozenset({"array", "object"})
_EXACT: Mapping[str, type] = {"boolean": bool, "null": type(None)}
_SIMPLE: Mapping[str, frozenset[str]] = {
    "string": REMARKS | {"type", "enum", "minLength"},
    "array": REMARKS | {"type", "items", "minItems"},
    "object": REMARKS | {"type", "properties", "required", "additionalProperties"},
    **dict.fromkeys((*_EXACT, "integer"), REMARKS | {"type"}),
}


class Fitting:
    """What `require_fitting` says for one schema, about arguments that have a weight."""

    __slots__ = ("_containers", "_defaults", "_weigh")

    def __init__(self, schema: Mapping[str, object]) -> None:
        self._containers = [
            (name, list.copy if _is_flat(below) else copied)
            for name, below in as_mapping(schema.get("properties")).items()
            if isinstance(below, Mapping) and not _CONTAINERS.isdisjoint(type_names(below))
        ]
        self._weigh = _weighing(schema, MAX_DEPTH + 1)  # containers, and what is in the innermost
        self._defaults = [
            (name, below["default"], type(below["default"]) in UNCHANGING)
            for name, below in as_mapping(schema.get("properties")).items()
            if isinstance(below, Mapping) and "default" in below
        ]

    def weight(self, arguments: object) -> int:
        """Return the bytes of canonical JSON that arguments have at most which certainly fit; below 0: not certain."""
        return self._weigh(arguments)

    def filled(self, arguments: Mapping[str, object]) -> dict[str, object]:
        """Return arguments that have a weight with the declared defaults; what is done to them changes no others."""
        filled: dict[str, Any] = dict(arguments)
        for name, copy_of in self._containers:
            if name in filled:
                filled[name] = copy_of(filled[name])
        for name, default, unchanging in self._defaults:
            if name not in filled:
                filled[name] = default if unchanging else copy.deepcopy(default)
        return filled


def _is_flat(schema: Mapping[str, object]) -> bool:
    """Whether what fits is a list of what cannot change, where it has a weight."""
    items = schema.get("items")
    return type_names(schema) == ("array",) and isinstance(items, Mapping) and _CONTAINERS.isdisjoint(type_names(items))


_Weighing = Callable[[object], int]


def _weighing(schema: object, levels: int) -> _Weighing:
    """Return what weighs a value in which `_faults` would certainly find nothing and that is certainly JSON.

    It gives the bytes of canonical JSON that the value has at most, and a number below 0 for every other value, which
    says nothing.
    """
    if type(schema) is not dict or not levels:
        return _never
    kind = schema.get("type")
    if not isinstance(kind, str) or kind not in _SIMPLE or not _SIMPLE[kind].issuperset(schema):
        return _never
    match kind:
        case "object":
            return _weighing_of_object(schema, levels)
        case "array":
            return _weighing_of_array(schema, levels)
        case "string":
            return _weighing_of_text(schema)
        case "integer":
            return lambda value: 20 if type(value) is int and -(2**63) <= value < 2**63 else -1
        case _:
            exact = _EXACT[kind]
            return lambda value: 5 if type(value) is exact else -1


def _weighing_of_text(schema: dict[str, object]) -> _Weighing:
    least, choices = schema.get("minLength", 0), schema.get("enum")
    if type(least) is not int or not (choices is None or type(choices) in LISTS):
        return _never
    listed = None if choices is None else tuple(cast("Sequence[object]", choices))

    def weigh(value: object) -> int:
        if type(value) is not str or len(value) < least or not (listed is None or value in listed):
            return -1
        if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:  # half of a surrogate pair: no JSON
                return -1
        return 6 * len(value) + 2  # what is escaped takes six, and no other character more

    return weigh


def _weighing_of_array(schema: dict[str, object], levels: int) -> _Weighing:
    least, weigh_item = schema.get("minItems", 0), _weighing(schema.get("items"), levels - 1)
    if type(least) is not int or weigh_item is _never:
        return _never

    def weigh(value: object) -> int:
        if type(value) is not list or len(value) < least:
            return -1
        weight = 2
        for item in value:
            part = weigh_item(item)
            if part < 0:
                return -1
            weight += part + 1
        return weight

    return weigh


def _weighing_of_object(schema: dict[str, object], levels: int) -> _Weighing:
    below, required = schema.get("properties"), schema.get("required", ())
    if type(below) is not dict or type(required) not in LISTS:
        return _never
    members = {name: (_weighing(inner, levels - 1), 6 * len(name) + 4) for name, inner in below.items()}
    needed = tuple(cast("Sequence[str]", required))

    def weigh(value: object) -> int:
        if type(value) is not dict:
            return -1
        for name in needed:
            if name not in value:
                return -1
        weight = 2
        for name, item in value.items():
            weigh_member, name_weight = members.get(name, _UNKNOWN)
            part = weigh_member(item)
            if part < 0 or type(name) is not str:
                return -1
            weight += name_weight + part
        return weight

    return weigh


def _never(_: object) -> int:
    return -1


_UNKNOWN = (_never, 0)
