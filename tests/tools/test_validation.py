"""Every problem is named, nothing is coerced, and the verdict agrees with a full JSON Schema validator."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess._internal.schema_subset import check_schema, require_fitting, type_name
from prowess.errors import InvalidArgumentsError

SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "names": {
            "type": "array",
            "items": {"type": "string", "minLength": 1, "maxLength": 8},
            "minItems": 1,
            "maxItems": 3,
        },
        "mode": {"type": "string", "enum": ["replace", "add"], "default": "replace"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 10},
        "timeout": {"type": "number", "minimum": 0.5},
        "all": {"type": "boolean"},
        "env": {"type": "object", "additionalProperties": {"type": "string"}},
        "location": {"type": ["string", "null"]},
        "free": {},
        "point": {
            "type": "object",
            "properties": {"x": {"type": "integer"}},
            "required": ["x"],
            "additionalProperties": False,
        },
    },
    "required": ["names"],
    "additionalProperties": False,
}

PARAMETERS = ("names", "mode", "limit", "timeout", "all", "env", "location", "free", "point")
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def problems(arguments: object) -> list[str]:
    with pytest.raises(InvalidArgumentsError) as caught:
        require_fitting(arguments, SCHEMA)
    return list(caught.value.problems)


def test_arguments_that_fit_come_back_with_the_defaults() -> None:
    given_arguments = {"names": ["a"], "limit": 3, "timeout": 1, "location": None, "env": {"A": "b"}, "point": {"x": 0}}
    assert require_fitting(given_arguments, SCHEMA) == {**given_arguments, "mode": "replace"}


def test_a_default_is_not_shared_between_calls() -> None:
    schema = {"type": "object", "properties": {"items": {"type": "array", "default": []}}}
    first = require_fitting({}, schema)["items"]
    assert isinstance(first, list)
    first.append(1)
    assert require_fitting({}, schema) == {"items": []}


@pytest.mark.proves("runtime.tools.arguments", "runtime.toolargs.type")
def test_missing_wrong_and_unknown_arguments_are_all_named_at_once() -> None:
    assert problems({"mode": 3, "limit": "5", "colour": "red"}) == [
        "Missing required parameter: names",
        "Invalid parameter type: expected string, got integer (mode)",
        "Invalid parameter type: expected integer, got string (limit)",
        "Unknown parameter: colour",
    ]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "Invalid parameter type: expected object, got array (arguments)"),
        (None, "Invalid parameter type: expected object, got null (arguments)"),
        ("{}", "Invalid parameter type: expected object, got string (arguments)"),
        ({"names": "a"}, "Invalid parameter type: expected array, got string (names)"),
        ({"names": ["a", 1]}, "Invalid parameter type: expected string, got integer (names[1])"),
        ({"names": []}, "Invalid parameter value: names: expected at least 1 item, got 0"),
        ({"names": ["a"] * 4}, "Invalid parameter value: names: expected at most 3 items, got 4"),
        ({"names": [""]}, "Invalid parameter value: names[0]: expected at least 1 character, got 0"),
        ({"names": ["a" * 9]}, "Invalid parameter value: names[0]: expected at most 8 characters, got 9"),
        ({"names": ["a"], "limit": True}, "Invalid parameter type: expected integer, got boolean (limit)"),
        ({"names": ["a"], "limit": 2.0}, "Invalid parameter type: expected integer, got number (limit)"),
        ({"names": ["a"], "limit": 0}, "Invalid parameter value: limit: expected at least 1, got 0"),
        ({"names": ["a"], "limit": 11}, "Invalid parameter value: limit: expected at most 10, got 11"),
        ({"names": ["a"], "timeout": False}, "Invalid parameter type: expected number, got boolean (timeout)"),
        ({"names": ["a"], "timeout": 0.25}, "Invalid parameter value: timeout: expected at least 0.5, got 0.25"),
        ({"names": ["a"], "all": 1}, "Invalid parameter type: expected boolean, got integer (all)"),
        ({"names": ["a"], "all": "true"}, "Invalid parameter type: expected boolean, got string (all)"),
        ({"names": ["a"], "mode": "ad"}, "Invalid parameter value: mode: expected one of 'replace', 'add'"),
        ({"names": ["a"], "env": {"A": 1}}, "Invalid parameter type: expected string, got integer (env.A)"),
        ({"names": ["a"], "location": 1}, "Invalid parameter type: expected string or null, got integer (location)"),
        ({"names": ["a"], "point": {}}, "Missing required parameter: point.x"),
        ({"names": ["a"], "point": {"x": 1, "y": 2}}, "Unknown parameter: point.y"),
        ({"names": ["a"], "nmaes": 1}, "Unknown parameter: nmaes; did you mean 'names'?"),
        ({"names": ["a"], "\x1b[2J": 1}, "Unknown parameter: \\x1b[2J"),
        ({"names": ["a"], "y" * 200: 1}, f"Unknown parameter: {'y' * 80}…"),
    ],
)
def test_a_problem_says_what_and_where(arguments: object, problem: str) -> None:
    assert problems(arguments) == [problem]


def test_suggestions_are_kept_for_programs() -> None:
    with pytest.raises(InvalidArgumentsError) as caught:
        require_fitting({"nams": ["a"], "mode": "ad"}, {**SCHEMA, "required": []})
    assert caught.value.suggestions == ("names", "add")


def test_a_wrong_value_is_not_repeated_in_the_message() -> None:
    assert "s3cret" not in " ".join(problems({"names": ["a"], "mode": "s3cret", "limit": "s3cret"}))


def test_very_many_problems_are_counted() -> None:
    found = problems({"names": ["a"], **{f"x{number}": 1 for number in range(200)}})
    assert len(found) == 51
    assert found[-1] == "and 150 more problems"


def test_an_enum_tells_true_from_one() -> None:
    schema = {"type": "object", "properties": {"n": {"enum": [1, "1", None]}}}
    for choice in (1, "1", None):
        assert require_fitting({"n": choice}, schema) == {"n": choice}
    for other in (True, 1.0, 2):
        with pytest.raises(InvalidArgumentsError):
            require_fitting({"n": other}, schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "oneOf": []},
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "x"}}},
        {"type": "object", "properties": {"a": {"type": "text"}}},
        {"type": "array", "items": {"format": "uri"}},
        {"additionalProperties": {"const": 1}},
        {"properties": {"a": "string"}},
        [],
    ],
)
def test_a_schema_that_would_not_be_enforced_is_refused(schema: object) -> None:
    with pytest.raises(ValueError, match="schema"):
        check_schema(schema)


def test_a_value_outside_json_has_its_python_name() -> None:
    assert type_name({1}) == "set"


_scalars = (
    st.none() | st.booleans() | st.integers(-3, 12) | st.floats(0.1, 3.9) | st.sampled_from(["", "a", "add", "x" * 9])
)
_values = st.recursive(
    _scalars,
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.sampled_from(["x", "y", "A"]), below, max_size=2),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from([*PARAMETERS, "other"]), _values, max_size=4))
def test_the_verdict_is_that_of_a_full_validator(arguments: Mapping[str, object]) -> None:
    expected = VALIDATOR.is_valid(arguments)
    # It takes 2.0 for an integer, which is the one difference that is wanted.
    if any(isinstance(value, float) and value.is_integer() for value in _leaves(arguments)):
        return
    try:
        require_fitting(arguments, SCHEMA)
    except InvalidArgumentsError:
        assert not expected
    else:
        assert expected


def _leaves(value: object) -> list[object]:
    if isinstance(value, Mapping):
        return [leaf for item in value.values() for leaf in _leaves(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]


@pytest.mark.parametrize(
    ("schema", "given"),
    [
        ({"type": "object"}, {"a": [{"b": ["c"]}]}),
        ({"type": "object", "properties": {"a": {"type": "array"}}}, {"a": [["b"]]}),
        ({"type": "object", "properties": {"a": {"type": ["array", "null"]}}}, {"a": ["b"]}),
        ({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "number"}}}}, {"a": [1.5]}),
    ],
)
def test_what_comes_back_shares_nothing_with_what_was_given(schema: dict[str, object], given: dict[str, Any]) -> None:
    before = copy.deepcopy(given)
    filled: Any = require_fitting(given, schema)
    assert filled == given
    filled["a"][0] = "changed"
    filled["a"].append("more")
    for item in filled["a"]:
        if isinstance(item, dict):
            item.clear()
    assert given == before
