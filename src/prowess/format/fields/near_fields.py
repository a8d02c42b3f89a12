"""Misspelt keys of known fields: `licence`, `disallowedTools`, `Allowed-Tools`.

For a misspelt key, a finding suggests the field that was probably meant. For the two fields that restrict tools, a
finding is not enough, because a restriction must not be lost by a misspelling. If a key is similar to one of these two
fields, the key is read as that field when the skill is used. If several keys are read as one field, the restrictions of
all of them apply. Other fields that restrict a skill (`RESTRICTING_FIELDS`) are read in any case and with any
separators: `Hooks`, `disable_model_invocation`. If a field is present twice with different values, the field is
unreadable, and the skill is refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal
from unicodedata import normalize

from msgspec import Struct

from prowess._internal.text.near_words import near_words
from prowess.format.limits import CLAUDE_CODE_FIELDS, FIELDS, KNOWN_FIELDS, RESTRICTING_FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ToolField = Literal["allowed-tools", "disallowed-tools"]
_TOOL_FIELDS: dict[str, ToolField] = {"allowedtools": "allowed-tools", "disallowedtools": "disallowed-tools"}
_NEGATED = re.compile(r"(?:un|non?|not)(?=allow)")  # `unallowed-tools` is not a list of allowed tools
_OWN_WORDS = frozenset({"content", "mode"})  # similar to a field, but used for other purposes
_LIKENESS, _OF_A_LACKING_FIELD, _OF_A_TOOL_FIELD = 0.85, 0.7, 0.9  # similarity from 0 to 1
_LENGTHS = range(9, 20)  # lengths of keys that can be so close to a tool field


def _folded(key: str) -> str:
    """Return the letters and digits of a key, in lower case."""
    return "".join(char for char in normalize("NFKC", key[:80]).casefold() if char.isalnum())


_RESTRICTING = {_folded(field): field for field in RESTRICTING_FIELDS}


def field_meant(key: str, *, lacking: Iterable[str] = ()) -> str | None:
    """Return the known field that an unknown key is close to; `None` if there is none.

    `lacking` are the required fields that the skill does not have. For these fields a lower similarity is enough.
    """
    if key in KNOWN_FIELDS or (word := _folded(key)) in _OWN_WORDS:
        return None
    if (tools := tool_field(key)) is not None:
        return tools
    known = {
        _folded(name): name for name in (*FIELDS, *sorted(CLAUDE_CODE_FIELDS)) if name not in _TOOL_FIELDS.values()
    }
    near = near_words(word, known, cutoff=_LIKENESS) or near_words(word, lacking, cutoff=_OF_A_LACKING_FIELD)
    return known[near[0]] if near else None


def tool_field(key: str) -> ToolField | None:
    """Return the tool field that a key is read as: the tool field that equals the key or is similar to it."""
    if key in KNOWN_FIELDS:
        return next((field for field in _TOOL_FIELDS.values() if field == key), None)
    word = _NEGATED.sub("dis", _folded(key))
    near = near_words(word, _TOOL_FIELDS, cutoff=_OF_A_TOOL_FIELD) if len(word) in _LENGTHS else []
    return _TOOL_FIELDS[near[0]] if near else None


def restricts(key: str) -> bool:
    """Return whether a key is a field that restricts a skill or its tools, or is read as one."""
    return tool_field(key) is not None or _folded(key) in _RESTRICTING


def restricting_fields(properties: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Return the misspelt keys of `RESTRICTING_FIELDS`, each with the field that it is read as."""
    unknown = properties.keys() - KNOWN_FIELDS
    return tuple(
        (key, _RESTRICTING[word]) for key in properties if key in unknown and (word := _folded(key)) in _RESTRICTING
    )


def with_restricting_fields(properties: dict[str, object]) -> dict[str, object]:
    """Return the properties with the values of misspelt `RESTRICTING_FIELDS` under the correct keys too.

    A field with two different values becomes None, which every reader of these fields refuses.
    """
    misspelt = restricting_fields(properties)
    if not misspelt:
        return properties
    read = dict(properties)
    for key, field in misspelt:
        read[field] = properties[key] if read.get(field, properties[key]) == properties[key] else None
    return read


class ToolFields(Struct, frozen=True, kw_only=True):
    """The values of both tool fields, as written. `misspelt` has misspelt keys and the fields that they are read as."""

    allowed: tuple[object, ...] = ()
    disallowed: tuple[object, ...] = ()
    misspelt: tuple[tuple[str, ToolField], ...] = ()


_NONE = ToolFields()


def tool_fields(properties: Mapping[str, object]) -> ToolFields:
    """Return the tool fields of these properties. The value under the correct key is first, then misspelt keys."""
    unknown = properties.keys() - KNOWN_FIELDS
    if not unknown and properties.keys().isdisjoint(_TOOL_FIELDS.values()):
        return _NONE
    misspelt = [(key, field) for key in properties if key in unknown and (field := tool_field(key)) is not None]
    values: dict[str, list[object]] = {field: [] for field in _TOOL_FIELDS.values()}
    for key, field in (*((field, field) for field in _TOOL_FIELDS.values() if field in properties), *misspelt):
        values[field].append(properties[key])
    return ToolFields(
        allowed=tuple(values["allowed-tools"]),
        disallowed=tuple(values["disallowed-tools"]),
        misspelt=tuple(misspelt),
    )
