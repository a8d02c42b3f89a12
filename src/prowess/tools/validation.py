"""Do the arguments fit the schema? Every problem is named at once, and nothing is coerced.

The schemas are a subset of JSON Schema: `type` (a name or a list of names), `properties`, `required`,
`additionalProperties`, `enum`, `items`, `minItems`, `maxItems`, `minimum`, `maximum`, `minLength`, `maxLength`. A
schema with any other keyword is refused when the tool is registered, because a rule that nobody checks is worse than
none. `true` is not an integer, and 2.0 is not one either. The messages are those of the platform requirements 003,
"Error Handling".
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from prowess._internal.canonical_json import MAX_DEPTH
from prowess._internal.terminal_text import printable_line
from prowess.errors import InvalidArgumentsError

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_PROBLEMS = 50  # named; the rest is counted
_MAX_NAME = 80  # characters of a name that are repeated in a message

_REMARKS = frozenset({"title", "description", "default", "examples", "$schema"})
_RULES = frozenset({"type", "properties", "required", "additionalProperties", "enum", "items"}) | {
    f"{side}{suffix}" for side in ("min", "max") for suffix in ("imum", "Items", "Length")
}
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (Mapping,),
    "null": (type(None),),
}


def check_schema(schema: object, where: str = "schema") -> None:
    """Raise ValueError for a schema that `problems` would not enforce in full."""
    if not isinstance(schema, Mapping):
        message = f"{where} must be a mapping, not {type(schema).__name__}"
        raise ValueError(message)  # noqa: TRY004 -- one kind of error for every fault of a schema
    if unknown := sorted(set(schema) - _RULES - _REMARKS):
        message = f"{where} uses {', '.join(unknown)}, which is not enforced"
        raise ValueError(message)
    if strange := [name for name in _type_names(schema) if name not in _TYPES]:
        message = f"{where} has the unknown type {strange[0]!r}"
        raise ValueError(message)
    for name, below in _mapping(schema.get("properties")).items():
        check_schema(below, f"{where}.{name}")
    for keyword in ("items", "additionalProperties"):
        if not isinstance(schema.get(keyword, True), bool):
            check_schema(schema[keyword], f"{where}.{keyword}")


def require_fitting(arguments: object, schema: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments with the declared defaults of what was left out.

    Raises:
        InvalidArgumentsError: with one sentence a problem, and names that may have been meant.
    """
    found: list[str] = []
    suggestions: list[str] = []
    more = 0
    for text, suggestion in _faults(arguments, schema, ""):
        if len(found) < MAX_PROBLEMS:
            found.append(text)
            suggestions += suggestion
        else:
            more += 1
    if not found and isinstance(arguments, Mapping):
        return _with_defaults(arguments, schema)
    error = InvalidArgumentsError((*found, f"and {more} more problems") if more else tuple(found))
    error.suggestions = tuple(dict.fromkeys(suggestions))
    raise error


def _with_defaults(arguments: Mapping[str, object], schema: Mapping[str, object]) -> dict[str, object]:
    filled = {name: _copied(item) for name, item in arguments.items()}
    for name, below in _mapping(schema.get("properties")).items():
        if name not in filled and isinstance(below, Mapping) and "default" in below:
            default = below["default"]
            filled[name] = default if type(default) in _UNCHANGING else copy.deepcopy(default)
    return filled


class Fitting:
    """What `require_fitting` says for one schema that is used often, with what can be told from the schema alone told.

    The simple values and schemas that nearly all calls have are judged by functions that are made here, once. Arguments
    that they are not certain about have no weight, and are for `require_fitting`.
    """

    __slots__ = ("_containers", "_defaults", "_weigh")

    def __init__(self, schema: Mapping[str, object]) -> None:
        self._containers = [
            (name, list.copy if _is_flat(below) else _copied)
            for name, below in _mapping(schema.get("properties")).items()
            if isinstance(below, Mapping) and not _CONTAINERS.isdisjoint(_type_names(below))
        ]
        self._weigh = _weighing(schema, MAX_DEPTH + 1)  # containers, and what is in the innermost
        self._defaults = [
            (name, below["default"], type(below["default"]) in _UNCHANGING)
            for name, below in _mapping(schema.get("properties")).items()
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


def _copied(value: Any) -> Any:  # noqa: ANN401 -- JSON of any kind
    """Copy what of a JSON value can be changed; a mapping of another kind than `dict` is left to who made it."""
    kind = type(value)
    if kind is dict:
        return {name: _copied(item) for name, item in value.items()}
    return kind(map(_copied, value)) if kind in _LISTS else value


def _is_flat(schema: Mapping[str, object]) -> bool:
    """Whether what fits is a list of what cannot change, where it has a weight."""
    items = schema.get("items")
    return (
        _type_names(schema) == ("array",) and isinstance(items, Mapping) and _CONTAINERS.isdisjoint(_type_names(items))
    )


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
    if type(least) is not int or not (choices is None or type(choices) in _LISTS):
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
    if type(below) is not dict or type(required) not in _LISTS:
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
_LISTS = frozenset({list, tuple})
_CONTAINERS = frozenset({"array", "object"})
_UNCHANGING = frozenset({str, int, bool, float, type(None)})
_EXACT: Mapping[str, type] = {"boolean": bool, "null": type(None)}
_SIMPLE: Mapping[str, frozenset[str]] = {
    "string": _REMARKS | {"type", "enum", "minLength"},
    "array": _REMARKS | {"type", "items", "minItems"},
    "object": _REMARKS | {"type", "properties", "required", "additionalProperties"},
    **dict.fromkeys((*_EXACT, "integer"), _REMARKS | {"type"}),
}

_Fault = tuple[str, list[str]]


def _faults(value: object, schema: Mapping[str, object], path: str) -> Iterator[_Fault]:
    names = _type_names(schema)
    if names and not any(_is(value, name) for name in names):
        yield (
            f"Invalid parameter type: expected {' or '.join(names)}, got {type_name(value)} ({path or 'arguments'})",
            [],
        )
        return
    if "enum" in schema:
        yield from _faults_of_choice(value, _sequence(schema["enum"]), path)
    match value:
        case str():
            yield from _faults_of_size(len(value), schema, path, "Length", "character")
        case list() | tuple():
            yield from _faults_of_size(len(value), schema, path, "Items", "item")
            items = schema.get("items")
            if isinstance(items, Mapping):
                for index, item in enumerate(value):
                    yield from _faults(item, items, f"{path}[{index}]")
        case Mapping():
            yield from _faults_of_object(value, schema, path)
        case int() | float() if not isinstance(value, bool):
            yield from _faults_of_number(value, schema, path)


def _faults_of_object(value: Mapping[str, object], schema: Mapping[str, object], path: str) -> Iterator[_Fault]:
    properties = _mapping(schema.get("properties"))
    for name in _sequence(schema.get("required")):
        if name not in value:
            yield f"Missing required parameter: {_join(path, str(name))}", []
    others = schema.get("additionalProperties", True)
    for name, item in value.items():
        below = properties.get(name, others)
        if isinstance(below, Mapping):
            yield from _faults(item, below, _join(path, name))
        elif below is False:
            near = _near(name, properties)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            yield f"Unknown parameter: {_join(path, name)}{hint}", near


def _faults_of_choice(value: object, choices: Sequence[object], path: str) -> Iterator[_Fault]:
    if not any(value == choice and type_name(value) == type_name(choice) for choice in choices):
        texts = [str(choice) for choice in choices]
        near = _near(value, texts) if isinstance(value, str) else []
        yield f"Invalid parameter value: {path or 'arguments'}: expected one of {', '.join(map(repr, texts))}", near


def _faults_of_size(size: int, schema: Mapping[str, object], path: str, suffix: str, unit: str) -> Iterator[_Fault]:
    for prefix, word, wrong in (("min", "at least", int.__lt__), ("max", "at most", int.__gt__)):
        limit = schema.get(prefix + suffix)
        if isinstance(limit, int) and wrong(size, limit):
            plural = "" if limit == 1 else "s"
            yield (
                f"Invalid parameter value: {path or 'arguments'}: expected {word} {limit} {unit}{plural}, got {size}",
                [],
            )


def _faults_of_number(value: float, schema: Mapping[str, object], path: str) -> Iterator[_Fault]:
    low, high = schema.get("minimum"), schema.get("maximum")
    if isinstance(low, (int, float)) and value < low:
        yield f"Invalid parameter value: {path or 'arguments'}: expected at least {low}, got {value}", []
    if isinstance(high, (int, float)) and value > high:
        yield f"Invalid parameter value: {path or 'arguments'}: expected at most {high}, got {value}", []


def type_name(value: object) -> str:
    """Return the JSON name of a value's type, or the Python name where JSON has none."""
    for name in ("boolean", "integer", *_TYPES):
        if _is(value, name):
            return name
    return type(value).__name__


def _is(value: object, name: str) -> bool:
    if isinstance(value, bool):  # Python counts it among the integers
        return name == "boolean"
    return isinstance(value, _TYPES[name])


def _type_names(schema: Mapping[str, object]) -> tuple[str, ...]:
    declared = schema.get("type", ())
    return (declared,) if isinstance(declared, str) else tuple(str(name) for name in _sequence(declared))


def _join(path: str, name: str) -> str:
    shown = printable_line(name[:_MAX_NAME]) + ("…" if len(name) > _MAX_NAME else "")
    return f"{path}.{shown}" if path else shown


def _near(name: str, known: Mapping[str, object] | Sequence[str]) -> list[str]:
    # Imported here, not at the top: only a wrong call pays for it.
    from difflib import get_close_matches

    return get_close_matches(name[:_MAX_NAME], list(known), n=1)


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _sequence(value: object) -> Sequence[object]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()
