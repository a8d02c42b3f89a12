"""Faults that msgspec finds in foreign data, as sentences with the place: `units[0].run must be a whole number`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import printable_line

if TYPE_CHECKING:
    from msgspec import MsgspecError

_PLACE = re.compile(r"(.*) - at `(?:key in )?\$\.?(.*)`", re.DOTALL)
_EXPECTED = re.compile(r"Expected `(.*)`, got `(.*)`", re.DOTALL)
_MEMBER = re.compile(r"Object (missing required|contains unknown) field `(.*)`", re.DOTALL)
_CHOICE = re.compile(r"Invalid (?:enum )?value (.*)", re.DOTALL)
_TYPES = {
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "null": "null",
    "object": "an object",
    "str": "a text",
}
_MOST = 200


def shape_fault(fault: MsgspecError, whole: str = "the file") -> str:
    """Return the fault as a sentence without a point. `whole` is the name of the outermost value."""
    reason, place = str(fault), ""
    if (found := _PLACE.fullmatch(reason)) is not None:
        reason, place = found[1], found[2]
    where = place or whole
    if (expected := _EXPECTED.fullmatch(reason)) is not None:
        got = "a fraction" if expected[2] == "float" else _kinds(expected[2])
        told = f"{where} must be {_kinds(expected[1])}, not {got}"
    elif (member := _MEMBER.fullmatch(reason)) is not None:
        missing = member[1] == "missing required"
        told = f"{where} has no member {member[2]!r}" if missing else f"{where} has the unknown member {member[2]!r}"
    elif (choice := _CHOICE.fullmatch(reason)) is not None:
        told = f"{where} cannot be {choice[1]}"
    elif reason == "Input data was truncated":
        told = f"{whole} is empty, or ends in the middle of its JSON"
    elif reason.startswith("JSON is malformed"):
        told = f"{whole} is not JSON{reason.removeprefix('JSON is malformed')}"
    else:
        told = f"{where}: {reason}"
    return printable_line(told[:_MOST])


def _kinds(names: str) -> str:
    return " or ".join(_TYPES.get(name.strip(), name.strip()) for name in names.split("|"))
