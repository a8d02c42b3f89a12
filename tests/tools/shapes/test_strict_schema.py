"""Strict schemas and back: whatever a model may write within one is what the tool would have got without."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess._internal.schema_subset import require_fitting
from prowess.tools.shapes import SHAPES
from prowess.tools.shapes.strict_schema import from_strict, strict_schema
from tests.tools.shapes.cases import SPECS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SCHEMA = SPECS[0].input_schema
_UNKNOWN_TO_STRICT_MODE = {"default", "minLength", "maxLength", "title", "examples", "$schema"}


def _objects(schema: object) -> Iterator[Mapping[str, object]]:
    if isinstance(schema, dict):
        if "object" in str(schema.get("type")):
            yield schema
        for each in schema.values():
            yield from _objects(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from _objects(each)


def test_every_property_is_required_and_nothing_else_is_allowed() -> None:
    strict = strict_schema(SCHEMA)
    assert strict is not None
    for each in _objects(strict):
        properties = each["properties"]
        assert isinstance(properties, dict)
        assert each["additionalProperties"] is False
        assert each["required"] == list(properties)
    for word in _UNKNOWN_TO_STRICT_MODE:
        assert f"'{word}'" not in str(strict)


def test_optional_parameters_may_be_null_and_say_their_default() -> None:
    strict = strict_schema(SCHEMA)
    assert strict is not None
    properties = strict["properties"]
    assert isinstance(properties, dict)
    assert properties["path"] == {"type": "string", "description": "Where."}
    assert properties["mode"] == {
        "type": ["string", "null"],
        "enum": ["text", "binary", None],
        "description": 'Default: "text".',
    }
    assert properties["limit"] == {"type": ["integer", "null"], "minimum": 1, "description": "Optional."}
    assert properties["env"]["type"] == ["array", "null"]
    assert properties["env"]["items"]["required"] == ["name", "value"]


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "array"},
        {"type": "array", "items": {}},
        {"type": "object"},
        {"type": "object", "additionalProperties": True},
        {"type": "object", "additionalProperties": {}},
        {"type": "object", "properties": {"a": {}}},
        {"type": ["object", "string"], "additionalProperties": {"type": "string"}},
    ],
)
def test_what_may_be_anything_has_no_strict_form(schema: dict[str, object]) -> None:
    assert strict_schema(schema) is None


def test_a_tool_without_a_strict_form_is_offered_as_it_is() -> None:
    first, second = SHAPES["openai-responses"].definitions(SPECS, strict=True)
    assert (first["strict"], second["strict"], second["parameters"]) == (True, False, SPECS[1].input_schema)
    assert [each["strict"] for each in SHAPES["openai-responses"].definitions(SPECS)] == [False, False]


def test_a_closed_object_without_properties_is_no_map() -> None:
    assert strict_schema({"type": "object", "additionalProperties": False}) == {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }


_TEXT = st.text(max_size=5)
_ARGUMENTS = st.fixed_dictionaries(
    {"path": st.text(min_size=1, max_size=5)},
    optional={
        "mode": st.sampled_from(["text", "binary"]),
        "env": st.dictionaries(_TEXT, _TEXT, max_size=3),
        "limit": st.integers(1, 9),
        "ranges": st.lists(
            st.fixed_dictionaries({"first": st.integers()}, optional={"last": st.integers()}), max_size=3
        ),
    },
)


def _as_a_model_writes(arguments: Mapping[str, object]) -> dict[str, object]:
    properties = SCHEMA["properties"]
    assert isinstance(properties, dict)
    written = {name: arguments.get(name) for name in properties}
    if isinstance(environment := arguments.get("env"), dict):
        written["env"] = [{"name": name, "value": value} for name, value in environment.items()]
    if isinstance(ranges := arguments.get("ranges"), list):
        written["ranges"] = [{"first": each["first"], "last": each.get("last")} for each in ranges]
    return written


@given(_ARGUMENTS)
def test_what_a_model_writes_is_what_was_meant(arguments: dict[str, object]) -> None:
    written = _as_a_model_writes(arguments)
    strict = strict_schema(SCHEMA)
    assert strict is not None
    jsonschema.validate(written, strict)
    back = from_strict(written, SCHEMA)
    assert isinstance(back, dict)
    # `limit` may be null by itself, so there null is kept as a value.
    assert back == {"limit": None, **arguments}
    require_fitting(back, SCHEMA)


@given(_ARGUMENTS)
def test_arguments_that_were_not_strict_stay_as_they_are(arguments: dict[str, object]) -> None:
    assert from_strict(arguments, SCHEMA) == arguments


@pytest.mark.parametrize("value", [3, [1], [{"name": "a"}], [{"name": "a", "value": 1, "more": 2}]])
def test_a_map_that_is_none_is_left_for_the_door(value: object) -> None:
    assert from_strict({"path": "a", "env": value}, SCHEMA) == {"path": "a", "env": value}
