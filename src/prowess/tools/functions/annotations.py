"""JSON Schema from Python annotations, and conversion of JSON to the annotated types.

Each annotation becomes a `JsonForm`: the schema of a value, and a conversion of values that fit the schema. The types
are never guessed: an annotation that this subset of JSON Schema cannot express is refused at registration.
"""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Annotated, Any, Literal, NotRequired, Required, Union, cast

from msgspec import NODEFAULT, Struct, structs

from prowess._internal.schema_subset import require_fitting, type_name, type_names
from prowess.errors import InvalidArgumentsError, SkillError
from prowess.tools.functions.docstrings import parse_docstring
from prowess.tools.functions.json_values import NotJsonValueError, to_json
from prowess.tools.spec import object_schema

Take = Callable[[Any], object]
MISSING: object = dataclasses.MISSING

_SCALARS: Mapping[object, str] = {str: "string", int: "integer", bool: "boolean", type(None): "null", None: "null"}
_DICTS = (dict, Mapping)
_ARRAYS: Mapping[object, Callable[[list[object]], object]] = {
    list: list,
    Sequence: list,
    tuple: tuple,
    set: set,
    AbstractSet: set,
    frozenset: frozenset,
}
_SUPPORTED = (
    "str, int, float, bool, None, list, tuple, set, dict with text keys, Literal, Enum, unions of different JSON "
    "types, dataclasses, msgspec.Struct, TypedDict, Annotated with a description, Any"
)


class UnsupportedFunctionError(SkillError, ValueError):
    """The function cannot be a tool. The message names the part of its signature and the supported alternatives."""


class JsonForm(Struct, frozen=True, kw_only=True):
    """The schema of a value, and `take`, which converts a value that fits the schema."""

    schema: Mapping[str, object]
    take: Take = lambda value: value


class JsonField(Struct, frozen=True, kw_only=True):
    """A parameter of a function, or a field of a class. `where` begins error messages. `default` may be MISSING."""

    name: str
    annotation: object
    where: str
    required: bool
    default: object = MISSING


def object_form(
    fields: Iterable[JsonField],
    documented: Mapping[str, str],
    make: Callable[..., object],
    above: tuple[object, ...] = (),
) -> JsonForm:
    """Return the form of an object with these fields and no others. `make` is called with them as keyword arguments.

    `documented` contains descriptions of fields whose annotations have none. `above` is passed to `form_of`.

    Raises:
        UnsupportedFunctionError: a field has no schema, or its default does not fit the schema.
    """
    takes: dict[str, Take] = {}
    properties: dict[str, object] = {}
    required: list[str] = []
    for field in fields:
        form = form_of(field.annotation, field.where, above)
        schema = dict(form.schema)
        if "description" not in schema and (text := documented.get(field.name)):
            schema["description"] = text
        if field.required:
            required.append(field.name)
        elif field.default is not MISSING:
            _set_default(schema, field.default, field.where)
        takes[field.name], properties[field.name] = form.take, schema
    return JsonForm(
        schema=object_schema(**properties) | ({"required": required} if required else {}),
        take=lambda value: make(**{name: takes[name](item) for name, item in value.items()}),
    )


def _set_default(schema: dict[str, object], default: object, where: str) -> None:
    try:
        value = to_json(default, "its default")
    except NotJsonValueError:
        return  # a private sentinel: the parameter is optional, and the function handles the default
    try:
        require_fitting({"default": value}, object_schema(default=schema))
    except InvalidArgumentsError:
        expected = f"a default of type {type_name(value)} does not fit its annotation"
        raise UnsupportedFunctionError(
            f"{where}: {expected}; add `| None` to the annotation if None is allowed"
        ) from None
    schema["default"] = value


def form_of(annotation: object, where: str, above: tuple[object, ...] = ()) -> JsonForm:
    """Return the form of one annotation.

    `where` begins the error messages. `above` contains the enclosing classes, to refuse a class that contains itself.

    Raises:
        UnsupportedFunctionError: the annotation has no schema.
    """
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return _described(form_of(arguments[0], where, above), arguments[1:])
    if origin in (Required, NotRequired):
        return form_of(arguments[0], where, above)
    if origin in (Union, types.UnionType):
        return _union(arguments, where, above)
    if origin is Literal:
        return _choice(arguments, arguments, where)
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return _choice(tuple(member.value for member in annotation), tuple(annotation), where)
    if typing.is_typeddict(annotation) or (
        isinstance(annotation, type) and (dataclasses.is_dataclass(annotation) or issubclass(annotation, Struct))
    ):
        return _record(annotation, where, above)
    return _scalar(annotation) or _container(annotation, origin or annotation, arguments, where, above)


def _scalar(annotation: object) -> JsonForm | None:
    if annotation in (Any, object):
        return JsonForm(schema={})
    if annotation is float:
        return JsonForm(schema={"type": "number"}, take=float)
    name = next((name for scalar, name in _SCALARS.items() if annotation is scalar), None)
    return None if name is None else JsonForm(schema={"type": name})


def _container(
    annotation: object, kind: object, arguments: tuple[object, ...], where: str, above: tuple[object, ...]
) -> JsonForm:
    if kind in _DICTS:
        if arguments and arguments[0] is not str:
            raise UnsupportedFunctionError(f"{where}: the keys of {_spelled(annotation)} must be str, as in JSON")
        return _map(form_of(arguments[1] if arguments else Any, where, above))
    if kind is tuple and arguments and arguments[-1] is not Ellipsis:
        return _fixed_tuple(arguments, where, above)
    if make := next((make for known, make in _ARRAYS.items() if kind is known), None):  # it may be unhashable
        return _array(form_of(arguments[0] if arguments else Any, where, above), make)
    raise UnsupportedFunctionError(f"{where}: {_spelled(annotation)} has no JSON Schema here; use {_SUPPORTED}")


def _map(item: JsonForm) -> JsonForm:
    schema = {"type": "object", "additionalProperties": dict(item.schema) or True}
    return JsonForm(schema=schema, take=lambda value: {key: item.take(each) for key, each in value.items()})


def _array(item: JsonForm, make: Callable[[list[object]], object]) -> JsonForm:
    schema = {"type": "array", **({"items": dict(item.schema)} if item.schema else {})}
    return JsonForm(schema=schema, take=lambda value: make([item.take(each) for each in value]))


def _fixed_tuple(arguments: tuple[object, ...], where: str, above: tuple[object, ...]) -> JsonForm:
    forms = [form_of(argument, where, above) for argument in arguments]
    schema: dict[str, object] = {"type": "array", "minItems": len(forms), "maxItems": len(forms)}
    if all(form.schema == forms[0].schema for form in forms):
        schema["items"] = dict(forms[0].schema)
    places = object_schema(**{f"item {index}": form.schema for index, form in enumerate(forms)})

    def take(items: Sequence[object]) -> object:
        if "items" not in schema:  # no `items`, because the type differs by position, which the schema cannot express
            require_fitting({f"item {index}": item for index, item in enumerate(items)}, places)
        return tuple(form.take(item) for form, item in zip(forms, items, strict=True))

    return JsonForm(schema=schema, take=take)


def _union(members: tuple[object, ...], where: str, above: tuple[object, ...]) -> JsonForm:
    forms = [form_of(member, where, above) for member in members]
    by_type: dict[str, JsonForm] = {}
    schema: dict[str, object] = {"type": []}
    for form in forms:
        if not type_names(form.schema):
            raise UnsupportedFunctionError(f"{where}: a union with Any permits every value; write Any alone")
        for name in type_names(form.schema):
            if name in by_type:
                raise UnsupportedFunctionError(f"{where}: two members of its union are both {name} in JSON")
            by_type[name] = form
        # The members have no JSON type in common, so a keyword such as `minLength` applies to values of its own member
        # only. `enum` is the exception and is handled below.
        schema.update({key: value for key, value in form.schema.items() if key not in ("type", "enum", "description")})
    schema["type"] = list(by_type)
    if choices := [form for form in forms if "enum" in form.schema]:
        others = [form for form in forms if "enum" not in form.schema]
        if len(choices) > 1 or any(form.schema["type"] != "null" for form in others):
            raise UnsupportedFunctionError(f"{where}: a choice can be joined with None only")
        schema["enum"] = [*cast("list[object]", choices[0].schema["enum"]), *([None] if others else [])]

    def take(value: object) -> object:
        # An integer is a number. If both types are members, each value keeps its own type.
        return (by_type.get(type_name(value)) or by_type["number"]).take(value)

    return JsonForm(schema=schema, take=take)


def _choice(values: tuple[object, ...], members: tuple[object, ...], where: str) -> JsonForm:
    if not values or not all(isinstance(value, (str, int, type(None))) for value in values):
        raise UnsupportedFunctionError(f"{where}: choices must be text, integers, booleans or None")
    plain = [to_json(value) for value in values]
    names = list(dict.fromkeys(type_name(value) for value in plain))
    # Keyed by type too, because 1 and True are equal but different choices.
    chosen = {(type(value), value): member for value, member in zip(plain, members, strict=True)}
    return JsonForm(
        schema={"type": names[0] if len(names) == 1 else names, "enum": plain},
        take=lambda value: chosen[type(value), value],
    )


def _record(annotation: object, where: str, above: tuple[object, ...]) -> JsonForm:
    if annotation in above:
        raise UnsupportedFunctionError(
            f"{where}: {_spelled(annotation)} contains itself, which this schema cannot express"
        )
    kind = cast("type", annotation)
    try:
        hints = typing.get_type_hints(kind, include_extras=True)
    except NameError as fault:
        message = f"{where}: the annotation {fault.name!r} in {_spelled(kind)} is not known at the top level"
        raise UnsupportedFunctionError(message) from None
    fields = _fields(kind, hints, where)
    return object_form(fields, parse_docstring(kind.__doc__).parameters, kind, (*above, annotation))


def _fields(kind: type[Any], hints: Mapping[str, object], where: str) -> Iterable[JsonField]:
    places = {name: f"{where}, field {name!r}" for name in hints}
    if typing.is_typeddict(kind):
        needed = cast("frozenset[str]", getattr(kind, "__required_keys__", frozenset()))
        for name, hint in hints.items():
            # With postponed annotations, the class itself does not know its Required and NotRequired fields.
            marker = typing.get_origin(hint)
            required = marker is Required or (name in needed and marker is not NotRequired)
            yield JsonField(name=name, annotation=hint, where=places[name], required=required)
        return
    listed: Iterable[Any] = structs.fields(kind) if issubclass(kind, Struct) else dataclasses.fields(kind)
    for each in listed:
        if getattr(each, "init", True):
            default = each.default_factory() if callable(each.default_factory) else each.default
            required = default is MISSING or default is NODEFAULT
            yield JsonField(
                name=each.name, annotation=hints[each.name], where=places[each.name], required=required, default=default
            )


def _described(form: JsonForm, notes: tuple[object, ...]) -> JsonForm:
    """Add the description from `Annotated`: a text, or an object with `description` or `documentation`."""
    for note in notes:
        text = note if isinstance(note, str) else None
        for attribute in ("description", "documentation"):
            text = text or getattr(note, attribute, None)
        if isinstance(text, str):
            return JsonForm(schema={**form.schema, "description": text}, take=form.take)
    return form


def _spelled(annotation: object) -> str:
    return repr(annotation.__name__ if isinstance(annotation, type) else str(annotation))
