"""Do the arguments fit the schema? Every problem is named at once, and nothing is coerced.

The schemas are a subset of JSON Schema: `type` (a name or a list of names), `properties`, `required`,
`additionalProperties`, `enum`, `items`, `minItems`, `maxItems`, `minimum`, `maximum`, `minLength`, `maxLength`. A
schema with any other keyword is refused when the tool is registered, because a rule that nobody checks is worse than
none. `true` is not an integer, and 2.0 is not one either. The messages are those of the platform requirements 003,
"Error Handling".
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

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
    if _certainly_fits(arguments, schema):
        return _with_defaults(cast("Mapping[str, object]", arguments), schema)
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
    filled = dict(arguments)
    for name, below in _mapping(schema.get("properties")).items():
        if name not in filled and isinstance(below, Mapping) and "default" in below:
            default = below["default"]
            filled[name] = default if type(default) in _UNCHANGING else copy.deepcopy(default)
    return filled


def _certainly_fits(value: object, schema: Mapping[str, object]) -> bool:
    """Whether `_faults` would find nothing, told for the simple values and schemas that nearly all calls have.

    False says nothing. Every call pays for its validation, and this costs it a third of the whole judgement.
    """
    kind = type(value)
    name = _JSON_NAMES.get(kind)
    if name is None or schema.get("type") != name or not _SIMPLE[name].issuperset(schema):
        return False
    if kind is str:
        choices = schema.get("enum")
        return _is_long_enough(cast("str", value), schema.get("minLength")) and (
            choices is None or (type(choices) in _LISTS and value in cast("Sequence[object]", choices))
        )
    if kind is list:
        items = schema.get("items")
        if type(items) is not dict or not _is_long_enough(cast("list[object]", value), schema.get("minItems")):
            return False
        for item in cast("list[object]", value):  # noqa: SIM110 -- a generator takes longer than what it judges
            if not _certainly_fits(item, items):
                return False
        return True
    return _members_certainly_fit(cast("dict[object, object]", value), schema)


def _members_certainly_fit(value: dict[object, object], schema: Mapping[str, object]) -> bool:
    below, required = schema.get("properties"), schema.get("required", ())
    if type(below) is not dict or type(required) not in _LISTS:
        return False
    for name in cast("Sequence[object]", required):
        if name not in value:
            return False
    for name, item in value.items():  # noqa: SIM110 -- as above
        if name not in below or not _certainly_fits(item, below[name]):
            return False
    return True


def _is_long_enough(value: str | list[object], least: object) -> bool:
    return least is None or (type(least) is int and len(value) >= least)


_LISTS = frozenset({list, tuple})
_UNCHANGING = frozenset({str, int, bool, float, type(None)})
_JSON_NAMES: Mapping[type, str] = {str: "string", list: "array", dict: "object"}
_SIMPLE: Mapping[str, frozenset[str]] = {
    "string": _REMARKS | {"type", "enum", "minLength"},
    "array": _REMARKS | {"type", "items", "minItems"},
    "object": _REMARKS | {"type", "properties", "required", "additionalProperties"},
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
