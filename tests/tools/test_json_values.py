"""Each type of Python has one JSON form, or is an error that names it."""

from __future__ import annotations

import datetime as dt
import enum
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pydantic
import pytest
from msgspec import Struct

from prowess.tools.functions.json_values import NotJsonValueError, to_json


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


@dataclass
class Point:
    x: int
    tags: frozenset[str]


class Window(Struct, frozen=True, kw_only=True):
    first: int
    at: dt.date


class Pair(NamedTuple):
    a: int
    b: str


class Model(pydantic.BaseModel):
    at: dt.datetime
    size: int


UTC = dt.timezone.utc  # noqa: UP017 -- the same as dt.UTC


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (2, 2),
        (0.5, 0.5),
        ("ä", "ä"),
        ("\ud800", "?"),
        (Colour.RED, "red"),
        (Level.HIGH, 3),
        (b"\x00\xff", "AP8="),
        (bytearray(b"a"), "YQ=="),
        (dt.date(2026, 1, 2), "2026-01-02"),
        (dt.datetime(2026, 1, 2, 3, tzinfo=UTC), "2026-01-02T03:00:00+00:00"),
        (dt.time(1, 2), "01:02:00"),
        (Path("a/b"), "a/b"),
        ((1, [2, {"c": 3}]), [1, [2, {"c": 3}]]),
        ({"b", "a"}, ["a", "b"]),
        (Point(1, frozenset({"z", "y"})), {"x": 1, "tags": ["y", "z"]}),
        (Window(first=1, at=dt.date(2026, 1, 2)), {"first": 1, "at": "2026-01-02"}),
        (Pair(1, "b"), [1, "b"]),
        (Model(at=dt.datetime(2026, 1, 2, tzinfo=UTC), size=4), {"at": "2026-01-02T00:00:00Z", "size": 4}),
        ({Colour.RED: 1}, {"red": 1}),
    ],
)
def test_a_value_has_one_form(value: object, expected: object) -> None:
    assert to_json(value) == expected


def _loop() -> list[object]:
    items: list[object] = []
    items.append(items)
    return items


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (object(), "the value is of type 'object', which has no JSON form"),
        ({"a": [1, 2j]}, "the value.a[1] is of type 'complex', which has no JSON form"),
        ({1: "a"}, "a key of the value is of type 'int', which has no JSON form"),
        (float("nan"), "the value is the number nan, which has no JSON form"),
        ({1j}, "an item of the value is of type 'complex', which has no JSON form"),
        (Point, "the value is of type 'type', which has no JSON form"),
        (Model, "the value is of type 'ModelMetaclass', which has no JSON form"),
    ],
)
def test_a_value_without_a_form_is_named(value: object, sentence: str) -> None:
    with pytest.raises(NotJsonValueError) as caught:
        to_json(value)
    assert str(caught.value) == sentence


def test_a_value_that_holds_itself_is_refused() -> None:
    with pytest.raises(NotJsonValueError, match="nested more than 32 levels deep"):
        to_json(_loop())
