"""Faults of foreign data are sentences with the place, without the words of the library that finds them."""

from __future__ import annotations

from typing import Literal

import msgspec
import pytest
from msgspec import Struct

from prowess._internal.text.shape_faults import shape_fault


class _Inner(Struct, frozen=True, forbid_unknown_fields=True):
    run: int
    rate: float | None = None
    kind: Literal["a", "b"] = "a"


class _Outer(Struct, frozen=True):
    units: tuple[_Inner, ...]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the file is empty, or ends in the middle of its JSON"),
        ("xx", "the file is not JSON: invalid character (byte 0)"),
        ("[]", "the file must be an object, not a list"),
        ("{}", "the file has no member 'units'"),
        ('{"units": 7}', "units must be a list, not a whole number"),
        ('{"units": [{"run": "1"}]}', "units[0].run must be a whole number, not a text"),
        ('{"units": [{"run": 1.5}]}', "units[0].run must be a whole number, not a fraction"),
        ('{"units": [{"run": 1}, {}]}', "units[1] has no member 'run'"),
        ('{"units": [{"run": 1, "rate": "x"}]}', "units[0].rate must be a number or null, not a text"),
        ('{"units": [{"run": 1, "kind": "c"}]}', "units[0].kind cannot be 'c'"),
        ('{"units": [{"run": 1, "\\u001b[2J": 1}]}', "units[0] has the unknown member '\\x1b[2J'"),
    ],
)
def test_the_sentence_has_the_place_and_plain_words(text: str, sentence: str) -> None:
    with pytest.raises(msgspec.MsgspecError) as caught:
        msgspec.json.decode(text, type=_Outer)
    assert shape_fault(caught.value) == sentence
