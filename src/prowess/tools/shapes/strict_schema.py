"""Conversion of schemas to OpenAI's strict mode, and of a model's arguments back.

Strict mode has no optional parameters and no free-form objects. So every property is required, an optional property may
be null, and a map is a list of name and value pairs. `from_strict` reverses both and leaves other arguments unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import cast

from prowess._internal.schema_subset import type_names

_KEPT = frozenset({"enum", "minimum", "maximum", "minItems", "maxItems"})

Schema = Mapping[str, object]


def strict_schema(schema: Schema) -> dict[str, object] | None:
    """Return the strict form of a schema. None if it permits any type somewhere: strict mode cannot express this."""
    names = type_names(schema)
    if not names:
        return None
    strict: dict[str, object] = {"type": schema["type"]}
    if "description" in schema:
        strict["description"] = schema["description"]
    strict.update({name: rule for name, rule in schema.items() if name in _KEPT})
    if "array" in names:
        items = schema.get("items")
        below = strict_schema(items) if isinstance(items, Mapping) else None
        if below is None:
            return None
        strict["items"] = below
    if "object" in names:
        return _strict_map(schema, strict) if _is_map(schema) else _strict_object(schema, strict)
    return strict


def from_strict(value: object, schema: object) -> object:
    """Convert arguments from the strict form to the form of `schema`."""
    if not isinstance(schema, Mapping):
        return value
    if isinstance(value, list):
        if _is_map(schema) and "array" not in type_names(schema):
            return _map_of(value, schema)
        return [from_strict(item, schema.get("items")) for item in value]
    if isinstance(value, Mapping):
        properties = _properties(schema)
        required = cast("Sequence[str]", schema.get("required", ()))
        return {
            name: from_strict(item, properties.get(name))
            for name, item in value.items()
            if not (item is None and name in properties and name not in required and _is_never_null(properties[name]))
        }
    return value


def _strict_object(schema: Schema, strict: dict[str, object]) -> dict[str, object] | None:
    required = cast("Sequence[str]", schema.get("required", ()))
    below: dict[str, object] = {}
    for name, each in _properties(schema).items():
        if (converted := strict_schema(each)) is None:
            return None
        below[name] = converted if name in required else _nullable(converted, each)
    return {**strict, "properties": below, "required": list(below), "additionalProperties": False}


def _strict_map(schema: Schema, strict: dict[str, object]) -> dict[str, object] | None:
    others = schema.get("additionalProperties")
    value = strict_schema(others) if isinstance(others, Mapping) else None
    if value is None or set(type_names(schema)) - {"object", "null"}:
        return None
    pair = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "value": value},
        "required": ["name", "value"],
        "additionalProperties": False,
    }
    return {**strict, "type": "array" if set(type_names(schema)) == {"object"} else ["array", "null"], "items": pair}


def _nullable(strict: dict[str, object], schema: Schema) -> dict[str, object]:
    listed = list(type_names(strict))
    remark = f"Default: {json.dumps(schema['default'], ensure_ascii=False)}." if "default" in schema else "Optional."
    text = f"{described} {remark}" if (described := strict.get("description")) else remark
    nullable = {**strict, "type": listed if "null" in listed else [*listed, "null"], "description": text}
    if "enum" in strict and None not in (choices := cast("Sequence[object]", strict["enum"])):
        nullable["enum"] = [*choices, None]
    return nullable


def _map_of(pairs: list[object], schema: Schema) -> object:
    if not all(isinstance(pair, Mapping) and set(pair) == {"name", "value"} for pair in pairs):
        return pairs
    listed = cast("list[Mapping[str, object]]", pairs)
    return {str(pair["name"]): from_strict(pair["value"], schema.get("additionalProperties")) for pair in listed}


def _is_map(schema: Schema) -> bool:
    closed = schema.get("additionalProperties", True) is False
    return "object" in type_names(schema) and not _properties(schema) and not closed


def _is_never_null(schema: Schema) -> bool:
    return bool(type_names(schema)) and "null" not in type_names(schema)


def _properties(schema: Schema) -> Mapping[str, Schema]:
    return cast("Mapping[str, Schema]", schema.get("properties", {}))
