"""Strict JSON: one value in UTF-8 that every reader interprets alike, or an error.

A duplicate key is refused, because readers disagree about which one counts. NaN, infinities and numbers beyond the
range of a float are refused, because JSON does not have them.
"""

from __future__ import annotations

import json

_SHOWN = 80


class StrictJsonError(ValueError):
    """The bytes are not one JSON value; the message states why."""


def strict_json(data: bytes, what: str) -> object:
    """Return the value in `data`, which may begin with a byte order mark. `what` is its name in error messages.

    Raises:
        StrictJsonError: `data` is not JSON, or readers could interpret it in two ways.
    """
    try:
        return json.loads(
            data.decode("utf-8-sig"), parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_object
        )
    except StrictJsonError:
        raise
    except UnicodeDecodeError:
        raise StrictJsonError(f"{what} is not UTF-8") from None
    except RecursionError:
        raise StrictJsonError("the JSON is nested too deep") from None
    except ValueError as fault:
        raise StrictJsonError(f"{what} is not JSON ({fault})") from None


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not a JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in {float("inf"), float("-inf")}:
        raise ValueError(f"the number {digits[:_SHOWN]} is too large")
    return number


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value: dict[str, object] = {}
    for key, item in pairs:
        if key in value:
            raise StrictJsonError(f"the key {key[:_SHOWN]!r} occurs twice in one object")
        value[key] = item
    return value
