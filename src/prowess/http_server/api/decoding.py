"""Decodes queries and bodies into msgspec types. A fault names its place, and what is close to it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import ValidationError, inspect

from prowess._internal.text.near_words import near_words
from prowess.errors import SkillError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from msgspec import Struct

_UNKNOWN = re.compile(r"unknown field `(.*?)`")
_BAD_CHOICE = re.compile(r"[Ii]nvalid enum value '(.*?)'")
_MOST_WORD = 80


class BadRequestError(SkillError, ValueError):
    """The query or the body of a request is not what the route takes; `reason` has the place."""

    code = "invalid_arguments"
    reason: str
    suggestions: tuple[str, ...] = ()

    def __str__(self) -> str:
        near = f"; did you mean {self.suggestions[0]!r}?" if self.suggestions else ""
        return f"{self.reason}{near}"


def decoded_body(body: bytes, kind: Any) -> Any:  # noqa: ANN401 -- the type of the route
    """Return the value of a body. Raises BadRequestError."""
    try:
        return msgspec.json.decode(body, type=kind)
    except ValidationError as fault:
        if "got `float`" in str(fault):
            return _with_whole_numbers(body, kind)
        raise _bad(fault, "the body", kind) from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as fault:
        raise BadRequestError(f"the body is not JSON: {fault}") from None


def _with_whole_numbers(body: bytes, kind: Any) -> Any:  # noqa: ANN401 -- the type of the route
    """Decode once more with `2.0` as 2: JSON and its schemas have one kind of number. Raises BadRequestError."""

    def whole(value: Any) -> Any:  # noqa: ANN401 -- JSON
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, dict):
            return {name: whole(part) for name, part in value.items()}
        return [whole(part) for part in value] if isinstance(value, list) else value

    try:
        return msgspec.convert(whole(msgspec.json.decode(body)), kind)
    except ValidationError as fault:
        raise _bad(fault, "the body", kind) from None
    except RecursionError:
        raise BadRequestError("the body is nested too deep") from None


def decoded_query(pairs: Iterable[tuple[str, str]], kind: type[Struct]) -> Any:  # noqa: ANN401 -- the type of the route
    """Return the query as a value of `kind`. A field whose type is a tuple may be given more than once.

    Raises:
        BadRequestError: a parameter is unknown, given twice, or not of its type.
    """
    several = set(_lists(kind))
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in several:
            found.setdefault(name, []).append(value)
        elif name in found:
            raise BadRequestError(f"the parameter {name[:_MOST_WORD]!r} is given twice")
        else:
            found[name] = value
    _require_plain(found, kind)
    try:
        return msgspec.convert(found, kind, strict=False)
    except ValidationError as fault:
        raise _bad(fault, "the query", kind) from None


def _require_plain(found: Mapping[str, Any], kind: type[Struct]) -> None:
    """Refuse what `strict=False` would take for a value: `null` for None, and numbers for truth values."""
    for field in _fields_of(kind):
        options = _options(field.type)
        text = found.get(field.encode_name)
        if not isinstance(text, str) or any(isinstance(option, inspect.StrType) for option in options):
            continue
        is_bool = any(isinstance(option, inspect.BoolType) for option in options)
        if text.casefold() == "null" or (is_bool and text not in {"true", "false"}):
            wanted = "true or false" if is_bool else "a value"
            raise BadRequestError(
                f"the query: expected {wanted}, got {text[:_MOST_WORD]!r} - at `$.{field.encode_name}`"
            )


def _options(info: inspect.Type) -> tuple[inspect.Type, ...]:
    found = info.types if isinstance(info, inspect.UnionType) else (info,)
    return tuple(one.type if isinstance(one, inspect.Metadata) else one for one in found)


def _fields_of(kind: type[Struct]) -> tuple[inspect.Field, ...]:
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)  # noqa: S101 -- every query is a Struct
    return info.fields


def _lists(kind: type[Struct]) -> Iterator[str]:
    for field in _fields_of(kind):
        options = _options(field.type)
        if any(isinstance(option, (inspect.VarTupleType, inspect.ListType)) for option in options):
            yield field.encode_name


def _bad(fault: ValidationError, what: str, kind: object) -> BadRequestError:
    reason = str(fault)
    for pattern, known in ((_UNKNOWN, _fields), (_BAD_CHOICE, _choices)):
        if (word := pattern.search(reason)) is not None:
            near = near_words(word[1][:_MOST_WORD], known(inspect.type_info(kind)))
            return BadRequestError(f"{what}: {reason}", tuple(near))
    return BadRequestError(f"{what}: {reason}")


def _fields(info: inspect.Type) -> list[str]:
    return [field.encode_name for part in _parts(info) if isinstance(part, inspect.StructType) for field in part.fields]


def _choices(info: inspect.Type) -> list[str]:
    return [str(value) for part in _parts(info) if isinstance(part, inspect.LiteralType) for value in part.values]


def _parts(info: inspect.Type) -> Iterator[inspect.Type]:
    """Yield a type and the types that it is made of. The types of requests do not contain themselves."""
    yield info
    inner: list[inspect.Type] = []
    match info:
        case inspect.StructType():
            inner = [field.type for field in info.fields]
        case inspect.UnionType():
            inner = list(info.types)
        case inspect.Metadata():
            inner = [info.type]
        case inspect.VarTupleType() | inspect.ListType():
            inner = [info.item_type]
        case inspect.DictType():
            inner = [info.value_type]
        case _:
            pass
    for one in inner:
        yield from _parts(one)
