"""From a signature to a schema, and from arguments that fit it to what the function was promised."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, Optional, Required, TypedDict, Union, cast

import pytest
from msgspec import Struct

from prowess._internal.schema_subset import check_schema, require_fitting
from prowess.tools.functions.annotations import UnsupportedFunctionError
from prowess.tools.functions.function_tool import function_schema

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction  # known to the type checker alone


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1


class Shade(enum.StrEnum):
    DARK = "dark"


@dataclass(frozen=True)
class Point:
    """A place.

    Args:
        x: To the right.
    """

    x: float
    y: float = 0
    tags: tuple[str, ...] = field(default_factory=tuple)
    kept: int = field(default=1, init=False)


class Window(Struct, frozen=True, kw_only=True):
    """A part of a file.

    Args:
        first: From 1.
    """

    first: int
    lines: int = 10
    marks: list[str] = []


class Options(TypedDict, total=False):
    """How to search."""

    limit: Required[int]
    deep: bool


class Address(TypedDict):
    city: str
    zip: NotRequired[str]


@dataclass
class Node:
    below: list[Node]


class Described:
    description = "From an object."


def _schema_of(annotation: object) -> object:
    def function(value):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 -- the annotation is set below
        return value

    function.__annotations__ = {"value": annotation}
    properties = function_schema(function)[1].schema["properties"]
    assert isinstance(properties, Mapping)
    check_schema(properties["value"])
    return properties["value"]


def _taken(annotation: object, value: object) -> object:
    def function(value):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 -- the annotation is set below
        return value

    function.__annotations__ = {"value": annotation}
    _, form = function_schema(function)
    return cast("dict[str, object]", form.take(require_fitting({"value": value}, form.schema)))["value"]


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (None, {"type": "null"}),
        (Any, {}),
        (list, {"type": "array"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (Sequence[str], {"type": "array", "items": {"type": "string"}}),
        (set[str], {"type": "array", "items": {"type": "string"}}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (tuple[int, int], {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "integer"}}),
        (tuple[int, str], {"type": "array", "minItems": 2, "maxItems": 2}),
        (dict, {"type": "object", "additionalProperties": True}),
        (dict[str, Any], {"type": "object", "additionalProperties": True}),
        (Mapping[str, Level], {"type": "object", "additionalProperties": {"type": "integer", "enum": [1]}}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal["a", 1], {"type": ["string", "integer"], "enum": ["a", 1]}),
        (Literal[Shade.DARK], {"type": "string", "enum": ["dark"]}),
        (Colour, {"type": "string", "enum": ["red", "blue"]}),
        (Level, {"type": "integer", "enum": [1]}),
        (Optional[int], {"type": ["integer", "null"]}),  # noqa: UP045 -- both spellings are used
        (Union[int, str], {"type": ["integer", "string"]}),  # noqa: UP007 -- both spellings are used
        (Colour | None, {"type": ["string", "null"], "enum": ["red", "blue", None]}),
        (list[int] | str | None, {"type": ["array", "string", "null"], "items": {"type": "integer"}}),
        (Annotated[int, "How deep."], {"type": "integer", "description": "How deep."}),
        (Annotated[int, 3, Described()], {"type": "integer", "description": "From an object."}),
        (Annotated[int, 3], {"type": "integer"}),
        (
            Point,
            {
                "type": "object",
                "properties": {
                    "x": {"type": "number", "description": "To the right."},
                    "y": {"type": "number", "default": 0},
                    "tags": {"type": "array", "items": {"type": "string"}, "default": []},
                },
                "additionalProperties": False,
                "required": ["x"],
            },
        ),
        (
            Window,
            {
                "type": "object",
                "properties": {
                    "first": {"type": "integer", "description": "From 1."},
                    "lines": {"type": "integer", "default": 10},
                    "marks": {"type": "array", "items": {"type": "string"}, "default": []},
                },
                "additionalProperties": False,
                "required": ["first"],
            },
        ),
        (
            Options,
            {
                "type": "object",
                "properties": {"limit": {"type": "integer"}, "deep": {"type": "boolean"}},
                "additionalProperties": False,
                "required": ["limit"],
            },
        ),
        (
            Address,
            {
                "type": "object",
                "properties": {"city": {"type": "string"}, "zip": {"type": "string"}},
                "additionalProperties": False,
                "required": ["city"],
            },
        ),
    ],
)  # fmt: skip
def test_an_annotation_is_a_schema(annotation: object, schema: object) -> None:
    assert _schema_of(annotation) == schema


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        (float, 2, 2.0),
        (float | None, 2, 2.0),
        (int | float, 2, 2),
        (int | str, "2", "2"),
        (Any, [1], [1]),
        (list[float], [1, 2.5], [1.0, 2.5]),
        (set[int], [1, 1, 2], {1, 2}),
        (frozenset[int], [1], frozenset({1})),
        (tuple[int, ...], [1, 2], (1, 2)),
        (tuple[int, str], [1, "a"], (1, "a")),
        (dict[str, tuple[int, int]], {"a": [1, 2]}, {"a": (1, 2)}),
        (Colour, "red", Colour.RED),
        (Colour | None, None, None),
        (Level, 1, Level.LOW),
        (Literal[Shade.DARK], "dark", Shade.DARK),
        (Literal[1, True], True, True),
        (Point, {"x": 1}, Point(1.0)),
        (list[Point], [{"x": 1, "tags": ["a"]}], [Point(1.0, tags=("a",))]),
        (Window, {"first": 2}, Window(first=2)),
        (Options, {"limit": 3}, {"limit": 3}),
    ],
)
def test_what_fits_becomes_what_was_promised(annotation: object, value: object, expected: object) -> None:
    taken = _taken(annotation, value)
    assert taken == expected
    assert type(taken) is type(expected)


@pytest.mark.parametrize(
    ("annotation", "value"), [(str, 1), (int, "1"), (int, 1.0), (bool, 1), (tuple[int, str], [1, 2])]
)
def test_nothing_else_is_converted(annotation: object, value: object) -> None:
    with pytest.raises(ValueError, match="Invalid parameter type"):
        _taken(annotation, value)


@pytest.mark.parametrize(
    ("annotation", "why"),
    [
        (bytes, "'bytes' has no JSON Schema here; use str, int"),
        (complex | None, "'complex' has no JSON Schema here"),
        ([int], r"int'>\]\" has no JSON Schema here"),
        (dict[int, str], "must be str, as in JSON"),
        (list[int] | set[int], "two members of its union are both array in JSON"),
        (Colour | int, "a choice can be joined with None only"),
        (Any | int, "write Any alone"),
        (Literal[b"a"], "choices must be text"),
        (enum.Enum, "choices must be text"),
        (Node, "'Node' contains itself"),
    ],
)
def test_what_cannot_be_said_is_refused_by_name(annotation: object, why: str) -> None:
    with pytest.raises(UnsupportedFunctionError, match=f"function: parameter 'value'.*{why}"):
        _schema_of(annotation)


@pytest.mark.proves("runtime.function.wrap")
def test_a_signature_and_a_docstring_are_the_schema() -> None:
    def search(
        pattern: str, path: Annotated[str, "Where."] = ".", *, depth: int | None = None, fast: bool = True
    ) -> None:
        """Search the files.

        Args:
            pattern: What to look for.
            path: Not this text, because the annotation has one.
            depth: How deep.
        """

    description, form = function_schema(search)
    assert description == "Search the files."
    assert form.schema == {
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "description": "What to look for."},
            "path": {"type": "string", "description": "Where.", "default": "."},
            "depth": {"type": ["integer", "null"], "description": "How deep.", "default": None},
            "fast": {"type": "boolean", "default": True},
        },
        "additionalProperties": False,
        "required": ["pattern"],
    }


def _untyped(a) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001 -- the case
    ...


def _args(*values: int) -> None: ...
def _kwargs(**values: int) -> None: ...
def _positional(a: int, /) -> None: ...
def _unknown(a: Fraction) -> None: ...
def _wrong_default(a: str = None) -> None: ...  # type: ignore[assignment]  # noqa: RUF013 -- the case


@dataclass
class Unknown:
    a: Fraction


def _unknown_field(a: Unknown) -> None: ...


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (_untyped, "_untyped: parameter 'a' has no type annotation; add one, because its type is not guessed"),
        (_args, "_args: parameter 'values' takes any number of values; name each parameter"),
        (_kwargs, "_kwargs: parameter 'values' takes any number of values; name each parameter"),
        (_positional, "_positional: parameter 'a' is positional only, and models name their arguments"),
        (_unknown, "_unknown: the annotation 'Fraction' is not known; define it at the top level of its module"),
        (_unknown_field, "_unknown_field: parameter 'a': the annotation 'Fraction' in 'Unknown' is not known"),
        (_wrong_default, "_wrong_default: parameter 'a': a default of type null does not fit its annotation; add"),
    ],
)  # fmt: skip
def test_a_signature_that_leaves_a_guess_is_refused(function: Callable[..., object], why: str) -> None:
    with pytest.raises(UnsupportedFunctionError) as caught:
        function_schema(function)
    assert str(caught.value).startswith(why)


def test_a_signature_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(UnsupportedFunctionError, match="its signature cannot be read"):
        function_schema(dict)


def test_a_default_without_a_json_form_stays_with_the_function() -> None:
    marker = object()

    def function(a: object = marker) -> bool:
        return a is marker

    _, form = function_schema(function)
    assert form.schema["properties"] == {"a": {}}
    assert "required" not in form.schema
    assert function(**cast("dict[str, object]", form.take({})))


def test_a_decorated_function_keeps_its_own_signature() -> None:
    def inner(a: int) -> int:
        return a

    @wraps(inner)
    def outer(*args: object, **kwargs: object) -> object:
        return inner(*args, **kwargs)  # type: ignore[arg-type]  # as decorators pass things on

    assert function_schema(outer)[1].schema["properties"] == {"a": {"type": "integer"}}
