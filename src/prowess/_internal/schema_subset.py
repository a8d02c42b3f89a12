"""The subset of JSON Schema that is enforced: checks of schemas, and of values against them.

Keywords: `type` (a name or a list of names), `properties`, `required`, `additionalProperties`, `enum`, `items`,
`minItems`, `maxItems`, `minimum`, `maximum`, `minLength`, `maxLength`. A schema with any other keyword is refused,
because somebody would rely on a rule that is not enforced. Neither `true` nor 2.0 is an integer. All problems of a
value are reported together, and no value is coerced. The messages are those of the platform requirements 003, "Error
Handling".
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from operator import gt, lt
from typing import TYPE_CHECKING, Any

from prowess._internal.text.near_words import near_words
from prowess._internal.text.terminal_text import printable_line
from prowess.errors import InvalidArgumentsError

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_PROBLEMS = 50  # limit on the named problems; the rest is counted
_MAX_NAME = 80  # characters of a name that a message quotes

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
    """Raise ValueError for a schema that is not enforced completely."""
    if not isinstance(schema, Mapping):
        message = f"{where} must be a mapping, not {type(schema).__name__}"
        raise ValueError(message)  # noqa: TRY004 -- every fault of a schema raises the same type of error
    if unknown := sorted(set(schema) - _RULES - _REMARKS):
        message = f"{where} uses {', '.join(unknown)}, which is not enforced"
        raise ValueError(message)
    if strange := [name for name in type_names(schema) if name not in _TYPES]:
        message = f"{where} has the unknown type {strange[0]!r}"
        raise ValueError(message)
    for name, below in _mapping(schema.get("properties")).items():
        check_schema(below, f"{where}.{name}")
    for keyword in ("items", "additionalProperties"):
        if not isinstance(schema.get(keyword, True), bool):
            check_schema(schema[keyword], f"{where}.{keyword}")


def require_fitting(arguments: object, schema: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments, with default values for arguments that the call leaves out.

    Raise InvalidArgumentsError with one sentence for each problem, and suggestions for misspelt names.
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
            filled[name] = copy.deepcopy(below["default"])
    return filled


def _copied(value: Any) -> Any:  # noqa: ANN401 -- any JSON value
    """Copy the mutable parts of a JSON value. Mappings other than `dict` are not copied."""
    kind = type(value)
    if kind is dict:
        return {name: _copied(item) for name, item in value.items()}
    return kind(map(_copied, value)) if kind is list or kind is tuple else value


_Fault = tuple[str, list[str]]


def _faults(value: object, schema: Mapping[str, object], path: str) -> Iterator[_Fault]:
    names = type_names(schema)
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
            yield from _faults_of_size(value, schema, path, "imum")


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
            near = near_words(name[:_MAX_NAME], properties)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            yield f"Unknown parameter: {_join(path, name)}{hint}", near


def _faults_of_choice(value: object, choices: Sequence[object], path: str) -> Iterator[_Fault]:
    if not any(value == choice and type_name(value) == type_name(choice) for choice in choices):
        texts = [str(choice) for choice in choices]
        near = near_words(value[:_MAX_NAME], texts) if isinstance(value, str) else []
        yield f"Invalid parameter value: {path or 'arguments'}: expected one of {', '.join(map(repr, texts))}", near


def _faults_of_size(
    size: float, schema: Mapping[str, object], path: str, suffix: str, unit: str = ""
) -> Iterator[_Fault]:
    """Compare a number, or a count of `unit`, with both limits."""
    for prefix, word, wrong in (("min", "at least", lt), ("max", "at most", gt)):
        limit = schema.get(prefix + suffix)
        if isinstance(limit, (int, float)) and wrong(size, limit):
            wanted = f"{limit} {unit}{'' if limit == 1 else 's'}" if unit else limit
            yield f"Invalid parameter value: {path or 'arguments'}: expected {word} {wanted}, got {size}", []


def type_name(value: object) -> str:
    """Return the JSON name of a value's type, or the Python name if JSON has no such type."""
    for name in ("boolean", "integer", *_TYPES):
        if _is(value, name):
            return name
    return type(value).__name__


def _is(value: object, name: str) -> bool:
    if isinstance(value, bool):  # in Python, bool is a subclass of int
        return name == "boolean"
    return isinstance(value, _TYPES[name])


def type_names(schema: Mapping[str, object]) -> tuple[str, ...]:
    """Return the names of the types that a schema permits. An empty tuple means any type."""
    declared = schema.get("type", ())
    return (declared,) if isinstance(declared, str) else tuple(str(name) for name in _sequence(declared))


def _join(path: str, name: str) -> str:
    shown = printable_line(name[:_MAX_NAME]) + ("…" if len(name) > _MAX_NAME else "")
    return f"{path}.{shown}" if path else shown


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _sequence(value: object) -> Sequence[object]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()
