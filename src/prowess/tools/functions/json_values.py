"""Conversion of Python values to JSON: results of functions, and defaults of their parameters.

Each supported type has one JSON form. A value of any other type is an error that names the type, because a model would
believe a guessed result.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import json
import math
import os
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from msgspec import Struct, structs

from prowess.errors import SkillError

MAX_DEPTH = 32  # nested containers


class NotJsonValueError(SkillError, TypeError):
    """A value has no JSON form. `where` is its place; `kind` is its type or another reason."""

    where: str
    kind: str
    sentence = "{where} is {kind}, which has no JSON form"


def to_json(value: object, where: str = "the value", depth: int = 0) -> object:
    """Return `value` as JSON data. `depth` is the number of containers around it.

    Enum members become their values. Dataclasses, typed dictionaries and models with `model_dump` become objects.
    Tuples and sets become arrays, sets in the order of their JSON texts. Dates and times become ISO 8601, paths text,
    bytes base64.

    Raises:
        NotJsonValueError: any other type, a key that is not text, a number that is not finite, or too many levels.
    """
    if depth > MAX_DEPTH:
        raise NotJsonValueError(where, f"nested more than {MAX_DEPTH} levels deep")
    match value:
        case enum.Enum():
            return to_json(value.value, where, depth + 1)
        case None | bool() | int():
            return value
        case str():
            return _text(value)
        case float():
            require_finite(value, where)
            return value
        case bytes() | bytearray() | memoryview():
            import base64  # imported here: few values are bytes

            return base64.b64encode(value).decode("ascii")
        case dt.date() | dt.time():  # a datetime is a date
            return value.isoformat()
        case os.PathLike():
            return _text(os.fsdecode(value))
        case _:
            return _container(value, where, depth)


def require_finite(value: object, where: str = "the value") -> None:
    """Refuse infinity and NaN anywhere in mappings, lists and tuples. Raise NotJsonValueError with the place."""
    waiting: list[tuple[object, str]] = [(value, where)]
    seen: set[int] = set()  # a container may contain itself
    while waiting:
        item, place = waiting.pop()
        if isinstance(item, float):
            if not math.isfinite(item):
                raise NotJsonValueError(place, f"the number {item}")
        elif isinstance(item, Mapping | list | tuple) and id(item) not in seen:
            seen.add(id(item))
            named = item.items() if isinstance(item, Mapping) else enumerate(item)
            form = "{}.{}" if isinstance(item, Mapping) else "{}[{}]"
            waiting += [(inner, form.format(place, name)) for name, inner in named if type(inner) not in _HARMLESS]


_HARMLESS = frozenset({str, int, bool, type(None), bytes})


def _container(value: object, where: str, depth: int) -> object:
    match value:
        case Mapping():
            return {_key(key, where): to_json(item, f"{where}.{key}", depth + 1) for key, item in value.items()}
        case list() | tuple():
            return [to_json(item, f"{where}[{index}]", depth + 1) for index, item in enumerate(value)]
        case AbstractSet():
            items = [to_json(item, f"an item of {where}", depth + 1) for item in value]
            return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))
    if isinstance(value, Struct) or (dataclasses.is_dataclass(value) and not isinstance(value, type)):
        names = [field.name for field in (structs if isinstance(value, Struct) else dataclasses).fields(value)]
        return {name: to_json(getattr(value, name), f"{where}.{name}", depth + 1) for name in names}
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return to_json(dump(mode="json"), where, depth + 1)
    raise NotJsonValueError(where, f"of type {type(value).__qualname__!r}")


def _key(key: object, where: str) -> str:
    if isinstance(key, enum.Enum):
        key = key.value
    if not isinstance(key, str):
        raise NotJsonValueError(f"a key of {where}", f"of type {type(key).__qualname__!r}")
    return _text(key)


def _text(text: str) -> str:
    """Replace an unpaired surrogate, as in a file name that is not UTF-8, by a question mark."""
    return text.encode("utf-8", "replace").decode()
