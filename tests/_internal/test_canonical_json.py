"""The canonical form against RFC 8785's own rules and numbers, and its bounds."""

from __future__ import annotations

import json
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess._internal.text.canonical_json import MAX_DEPTH, NotJsonError, canonical_json, sha256_of
from prowess.errors import LimitExceededError

_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(1 - 2**53, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(), below, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("number", "text"),
    [  # the table of RFC 8785, appendix B
        (0.0, "0"),
        (-0.0, "0"),
        (5e-324, "5e-324"),
        (-5e-324, "-5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (9007199254740992.0, "9007199254740992"),
        (295147905179352830000.0, "295147905179352830000"),
        (9.999999999999997e22, "9.999999999999997e+22"),
        (1e23, "1e+23"),
        (999999999999999700000.0, "999999999999999700000"),
        (1e21, "1e+21"),
        (9.999999999999997e-7, "9.999999999999997e-7"),
        (0.000001, "0.000001"),
        (333333333.3333332, "333333333.3333332"),
        (333333333.3333333, "333333333.3333333"),
        (333333333.33333343, "333333333.33333343"),
        (-0.0000033333333333333333, "-0.0000033333333333333333"),
        (1.0, "1"),
        (10.5, "10.5"),
        (100.0, "100"),
    ],
)
def test_floats_are_spelled_as_the_standard_spells_them(number: float, text: str) -> None:
    assert canonical_json(number) == text.encode()


def test_members_are_sorted_by_utf_16_code_units() -> None:
    names = {"€": 1, "\r": 2, "\ufb33": 3, "1": 4, "😀": 5, "\x80": 6, "ö": 7}
    text = canonical_json(names).decode()
    assert list(json.loads(text)) == ["\r", "1", "\x80", "ö", "€", "😀", "\ufb33"]


def test_texts_have_the_shortest_escapes() -> None:
    assert canonical_json('€$\x0f\nA\'B"\\"/\x7f') == '"€$\\u000f\\nA\'B\\"\\\\\\"/\x7f"'.encode()


@pytest.mark.unmeasured
@given(_json)
def test_the_text_is_json_for_the_same_value(value: object) -> None:
    # As in ECMAScript every number is a double: 1 and 1.0 have one text.
    assert json.loads(canonical_json(value), parse_int=float) == value


@pytest.mark.unmeasured
@given(st.dictionaries(st.text(), _json, min_size=2, max_size=5))
def test_the_order_of_members_does_not_matter(value: dict[str, object]) -> None:
    backwards = dict(reversed(list(value.items())))
    assert canonical_json(value) == canonical_json(backwards)


def test_tuples_and_other_mappings_are_arrays_and_objects() -> None:
    assert canonical_json(MappingProxyType({"b": (1, 2), "a": True})) == b'{"a":true,"b":[1,2]}'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1: 2}, {"a": {1, 2}}, b"x", "\ud800", {"\udfff": 1}])
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(NotJsonError):
        canonical_json(value)


@pytest.mark.parametrize("value", [1.5, 1.0, 2**53, -(2**53), {"a": [0.5]}])
def test_numbers_that_readers_disagree_on_can_be_refused(value: object) -> None:
    assert canonical_json(value)
    with pytest.raises(NotJsonError):
        canonical_json(value, floats=False)


def test_the_largest_exact_integers_are_kept() -> None:
    assert canonical_json([2**53 - 1, 1 - 2**53], floats=False) == b"[9007199254740991,-9007199254740991]"


def _nested(depth: int) -> object:
    value: object = []
    for _ in range(depth):
        value = [value]
    return value


def test_depth_is_bounded() -> None:
    assert canonical_json(_nested(MAX_DEPTH - 1))
    with pytest.raises(LimitExceededError, match="levels of the value: more than the limit of 32"):
        canonical_json(_nested(MAX_DEPTH + 1))


def test_a_container_that_holds_itself_twice_ends_at_the_bound() -> None:
    endless: list[object] = []
    endless += [endless, endless]
    with pytest.raises(LimitExceededError):
        canonical_json(endless, max_bytes=100_000)


def test_size_is_bounded_to_the_byte() -> None:
    assert canonical_json("x" * 8, max_bytes=10) == b'"xxxxxxxx"'
    with pytest.raises(LimitExceededError):
        canonical_json("x" * 9, max_bytes=10)


def test_a_digest_names_its_function() -> None:
    assert sha256_of(b"") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@given(st.dictionaries(st.text(), st.booleans() | st.none() | st.text() | st.lists(st.text() | st.none(), max_size=3)))
def test_a_flat_mapping_of_texts_is_spelled_as_a_nested_one_is(flat: dict[str, object]) -> None:
    nested = canonical_json({"": flat, "a": {"b": [[]]}})
    assert nested == b'{"":' + canonical_json(flat) + b',"a":{"b":[[]]}}'


@pytest.mark.parametrize("flat", [{"a": "\ud800"}, {"a": ["\ud800"]}, {1: "a"}, {"a": [object()]}])
def test_a_flat_mapping_without_a_json_form_is_refused(flat: object) -> None:
    with pytest.raises(NotJsonError):
        canonical_json(flat)
    with pytest.raises(LimitExceededError):
        canonical_json({"a": "b" * 100}, max_bytes=100)
