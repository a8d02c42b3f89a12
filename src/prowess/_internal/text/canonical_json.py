"""Canonical JSON (RFC 8785): one text for each JSON value, so that a digest depends on the value and not its spelling.

Members are sorted by their names' UTF-16 code units. There is no white space, escapes are as short as possible, and
numbers are printed as in ECMAScript. Values that JSON cannot represent (NaN, half of a surrogate pair, other types) are
refused. Values that are too deep or too large are refused before they are encoded.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping

from msgspec.json import Encoder

from prowess.errors import LimitExceededError

MAX_DEPTH = 32  # containers inside containers
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


class NotJsonError(ValueError):
    """The value has no JSON form; the message states why."""


def canonical_json(
    value: object, *, what: str = "the value", max_bytes: int | None = None, floats: bool = True
) -> bytes:
    """Return the canonical UTF-8 text of `value`.

    With `floats=False`, only integers that every JSON reader represents exactly are allowed: no fraction, no exponent,
    not beyond 2^53 - 1. `what` is the name of the value in error messages.

    Raises:
        NotJsonError: the value has no JSON form.
        LimitExceededError: more than `MAX_DEPTH` levels, or more than `max_bytes`.
    """
    plain = _survey(value, what, max_bytes, floats=floats)
    try:
        data = _encode(value) if plain else _spell(value)
    except UnicodeEncodeError:
        raise NotJsonError("a text holds half of a surrogate pair") from None
    if max_bytes is not None and len(data) > max_bytes:
        raise _too_large(what, max_bytes)
    return data


def sha256_of(data: bytes) -> str:
    """Return `sha256:` and the digest of `data` as 64 hexadecimal digits."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def is_digest(text: str) -> bool:
    """Return whether a text is `sha256:` and 64 lower-case hexadecimal digits, as `sha256_of` returns it."""
    return _DIGEST.fullmatch(text) is not None


_encode = Encoder(order="sorted").encode  # sorts by UTF-8, which for ASCII is the order of UTF-16


def _survey(value: object, what: str, max_nodes: int | None, *, floats: bool) -> bool:
    """Refuse a value without a canonical text. Return whether msgspec encodes the value as RFC 8785 requires.

    Every value takes at least one byte, so the limit on the number of values also ends the walk through a container
    that contains itself.
    """
    plain = True
    nodes = 0
    level: list[object] = [value]
    for _ in range(MAX_DEPTH + 1):
        below: list[object] = []
        for item in level:
            nodes += 1
            if max_nodes is not None and nodes > max_nodes:
                raise _too_large(what, max_nodes)
            kind = type(item)
            if kind is str or kind is bool or item is None:
                continue  # always allowed and encoded as in RFC 8785; most values have such a type
            if kind is list or kind is tuple:
                below.extend(item)  # type: ignore[arg-type]  # the line above has looked
            elif isinstance(item, (str, bool, int, float)):
                plain = _is_plain(item, floats=floats) and plain
            elif isinstance(item, Mapping):
                plain = plain and kind is dict
                for key in item:
                    if not isinstance(key, str):
                        raise NotJsonError(f"a member's name is of type {type(key).__name__}, not text")
                    plain = plain and type(key) is str and key.isascii()
                below.extend(item.values())
            elif isinstance(item, (list, tuple)):
                plain = False
                below.extend(item)
            else:
                raise NotJsonError(f"a value of type {type(item).__name__} has no JSON form")
        if not below:
            return plain
        level = below
    raise LimitExceededError(f"levels of {what}", MAX_DEPTH, None, "nest less")


def _too_large(what: str, max_bytes: int) -> LimitExceededError:
    advice = "pass less, or write it to a file and pass its path"
    return LimitExceededError(f"bytes of {what}", max_bytes, None, advice)


def _is_plain(item: float | str | None, *, floats: bool) -> bool:
    if isinstance(item, float):
        if not floats or not math.isfinite(item):
            raise NotJsonError(f"{item} is not a number allowed here")
        return False
    if not floats and isinstance(item, int) and abs(item) > _MAX_EXACT:
        raise NotJsonError(f"{item} is beyond 2^53 - 1")
    return type(item) in _PLAIN


_MAX_EXACT = 2**53 - 1
_PLAIN = (str, bool, int, type(None))


def _spell(value: object) -> bytes:
    match value:
        case Mapping():
            members = sorted(value.items(), key=lambda member: member[0].encode("utf-16-be", "surrogatepass"))
            return b"{" + b",".join(_encode(str.__str__(name)) + b":" + _spell(item) for name, item in members) + b"}"
        case list() | tuple():
            return b"[" + b",".join(map(_spell, value)) + b"]"
        case float():
            return _number(value).encode()
        case bool() | None:
            return _encode(value)
        case int():
            return _encode(int(value))
        case _:
            return _encode(str.__str__(value))


def _number(value: float) -> str:
    """Format a finite number as ECMAScript's `Number::toString` does: the digits of `repr`, another layout."""
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))  # digits before the point
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:  # noqa: PLR2004 -- the limits are those of the standard
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:  # noqa: PLR2004 -- as above
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:  # noqa: PLR2004 -- as above
        return f"{sign}0.{'0' * -point}{digits}"
    power = f"e{point - 1:+d}"
    return f"{sign}{digits[0]}.{digits[1:]}{power}" if count > 1 else f"{sign}{digits}{power}"
