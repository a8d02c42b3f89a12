"""Front matter as a JSON object with typed values, and comparison of two renderings.

Inside Prowess every scalar is a string. Front matter that is sent as JSON needs numbers and booleans, because the
client compares it with the result of its own YAML parser. Plain scalars are resolved by the core schema of YAML 1.2;
quoted and block scalars are strings. Parsers disagree about a few plain scalars (`yes`, `010`, dates), so the
comparison accepts each of these readings.

Source: MCP Skills extension, `frontmatter`; YAML 1.2.2, section 10.3.2.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prowess._internal.yaml_reader import Mapping, Scalar, Sequence
from prowess.format.document import key_text, plain

if TYPE_CHECKING:
    from prowess._internal.yaml_reader import Node
    from prowess.format.document import SkillDocument
    from prowess.format.source.source_text import SourceText

_INT = r"[-+]?[0-9]+"
_PREFIXED = r"0o[0-7]+|0x[0-9a-fA-F]+"
_FLOAT = r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_OLDER_WORDS = {  # YAML 1.1, as PyYAML reads it
    **{word: True for text in ("yes", "on") for word in (text, text.title(), text.upper())},
    **{word: False for text in ("no", "off") for word in (text, text.title(), text.upper())},
}
_MAX_DIGITS = 300  # JSON readers need not accept longer numbers, and int() is quadratic


def as_json(document: SkillDocument) -> dict[str, object]:
    """Return the front matter with typed values, in the order written; the first of duplicate keys wins."""
    result: dict[str, object] = {}
    for field in document.fields:
        result.setdefault(field.key, plain(field.value, field.origin, None if field.repaired else _typed))
    return result


def renders(document: SkillDocument, claimed: object) -> bool:
    """Whether a JSON object is a rendering of this front matter: same keys, and each value a possible reading."""
    if not isinstance(claimed, dict):
        return False
    seen: dict[str, bool] = {}
    for field in document.fields:
        if field.key not in seen:
            seen[field.key] = field.key in claimed and _matches(
                field.value, field.origin, claimed[field.key], repaired=field.repaired
            )
    return all(seen.values()) and seen.keys() == claimed.keys()


def _typed(scalar: Scalar) -> object:
    return scalar.text if scalar.style else _resolved(scalar.text)


def _resolved(text: str) -> object:
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > _MAX_DIGITS:
        return text
    if re.fullmatch(_INT, text):
        return int(text)
    if re.fullmatch(_PREFIXED, text):
        return int(text, 0)
    if re.fullmatch(_FLOAT, text):
        number = float(text)
        return number if number not in {float("inf"), float("-inf")} else text
    return text  # .inf and .nan too: JSON has no notation for them


def _matches(node: Node, origin: SourceText, claimed: object, *, repaired: bool = False) -> bool:
    match node:
        case Scalar(text=text, style=style):
            if style or repaired:
                return isinstance(claimed, str) and claimed == text
            return any(_equal(reading, claimed) for reading in _readings(text))
        case Sequence(items=items):
            return (
                isinstance(claimed, list)
                and len(claimed) == len(items)
                and all(_matches(item, origin, value) for item, value in zip(items, claimed, strict=True))
            )
        case Mapping(entries=entries):
            if not isinstance(claimed, dict):
                return False
            values: dict[str, Node] = {}
            for key, value in entries:
                values.setdefault(key_text(key, origin), value)
            return values.keys() == claimed.keys() and all(
                _matches(value, origin, claimed[key]) for key, value in values.items()
            )


def _readings(text: str) -> list[object]:
    readings: list[object] = [_resolved(text), text]
    if text in _OLDER_WORDS:
        readings.append(_OLDER_WORDS[text])
    if len(text) <= _MAX_DIGITS and (octal := re.fullmatch(r"([-+]?)0([0-7]+)", text)):
        readings.append(int(octal.group(1) + octal.group(2), 8))
    return readings


def _equal(reading: object, claimed: object) -> bool:
    # In Python True equals 1; in JSON they differ. 1 and 1.0 are one number.
    if isinstance(reading, bool) or isinstance(claimed, bool):
        return reading is claimed
    return reading == claimed
