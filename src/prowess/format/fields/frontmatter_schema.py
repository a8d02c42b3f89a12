"""The front matter of each profile as JSON Schema, generated from the rule table.

A schema rejects most errors of the profile, but not all. A schema sees only the values, not how they were written. It
does not contain the directory's name or the grammar of `allowed-tools`. A schema accepts values from any YAML reader,
so a number or boolean is valid if the profile accepts its text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.diagnostics import Severity
from prowess.format.fields.extended_fields import MAX_ITERATIONS, MAX_RETRIES
from prowess.format.fields.hooks import HOOK_EVENTS
from prowess.format.fields.value_readers import SWITCHES
from prowess.format.limits import (
    CLAUDE_CODE_FIELDS,
    EXTENDED_FIELDS,
    MAX_COMPATIBILITY_LENGTH,
    MAX_DESCRIPTION_LENGTH,
    MAX_NAME_LENGTH,
    MAX_TAG_LENGTH,
    MAX_TAGS,
    NAME_PATTERN,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.format.profiles import Profile

    Schema = dict[str, object]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_SAYS_SOMETHING = r"\S"
# Matches names in any script: the ASCII characters allowed in a name, and all other characters except whitespace.
_ANY_SCRIPT = r"(?!-)(?!\S*--)(?!\S*-\s*$)[^\s\u0000-\u002c\u002e\u002f\u003a-\u0060\u007b-\u007f]"
_TEXT: Schema = {"type": "string"}
_SCALAR: Schema = {"type": ["string", "number", "boolean"]}
_SCALAR_OR_NOTHING: Schema = {"type": ["string", "number", "boolean", "null"]}
_NOTHING: Schema = {"type": "null"}
_BLANK: Schema = {"type": ["string", "null"], "pattern": r"^\s*$"}
_TEXTS: Schema = {"type": "array", "items": {**_SCALAR, "pattern": _SAYS_SOMETHING}}
_WORDS = "|".join("".join(f"[{char.upper()}{char}]" for char in word) for word in SWITCHES if word.isalpha())
_BOOLEAN: Schema = {"anyOf": [{"enum": [True, False, 1, 0]}, {**_TEXT, "pattern": rf"^\s*({_WORDS}|[01])\s*$"}]}


def frontmatter_schema(profile: Profile) -> Schema:
    """Return the JSON Schema (2020-12) of front matter without errors in a profile."""

    def refuses(rule: str) -> bool:
        return profile.severities.get(rule) is Severity.ERROR

    properties: Schema = {
        "name": _name(profile, refuses),
        "description": _description(profile, refuses),
        "license": _SCALAR_OR_NOTHING if refuses("license.type") else {},
        "compatibility": _compatibility(refuses),
        "metadata": _metadata(profile, refuses),
        "allowed-tools": _allowed_tools(profile, refuses),
    }
    extended = _extended()
    for field in sorted(profile.known_fields & CLAUDE_CODE_FIELDS):
        properties[field] = extended[field] if field in EXTENDED_FIELDS and refuses(_rule_of(field)) else {}
    return {
        "$schema": DIALECT,
        "$id": f"urn:prowess:schema:frontmatter:{profile.name}",
        "title": f"Frontmatter of SKILL.md, profile {profile.name}",
        "description": f"Front matter without errors: {profile.summary}.",
        "type": "object",
        "required": [field for field in ("name", "description") if refuses(f"{field}.required")],
        "properties": properties,
        "additionalProperties": not refuses("frontmatter.unknownField"),
    }


def _name(profile: Profile, refuses: Callable[[str], bool]) -> Schema:
    schema: Schema = {"description": "The name of the skill and of its directory."}
    if refuses("name.type"):
        schema |= _SCALAR
    if refuses("name.format"):
        one = NAME_PATTERN if profile.name_letters == "ASCII" else f"{_ANY_SCRIPT}{{1,{MAX_NAME_LENGTH}}}"
        schema["pattern"] = rf"^\s*{one}\s*$"
    elif refuses("name.required"):
        schema["pattern"] = _SAYS_SOMETHING
    return schema


def _description(profile: Profile, refuses: Callable[[str], bool]) -> Schema:
    schema: Schema = {"description": "What the skill does, and when to use it."}
    if refuses("description.type"):
        schema |= _SCALAR
    if profile.reference_wording:  # the reference tool measures before it trims
        return schema | {"pattern": _SAYS_SOMETHING, "maxLength": MAX_DESCRIPTION_LENGTH}
    if refuses("description.maxLength"):
        schema["pattern"] = rf"^\s*\S(?:[\s\S]{{0,{MAX_DESCRIPTION_LENGTH - 2}}}\S)?\s*$"
    elif refuses("description.required"):
        schema["pattern"] = _SAYS_SOMETHING
    return schema


def _compatibility(refuses: Callable[[str], bool]) -> Schema:
    schema: Schema = {"description": "Requirements of the skill on its environment."}
    empty = refuses("compatibility.empty")
    if refuses("compatibility.type"):
        schema |= _SCALAR if empty else _SCALAR_OR_NOTHING
    if empty:
        schema["pattern"] = _SAYS_SOMETHING
    if refuses("compatibility.maxLength"):
        schema["maxLength"] = MAX_COMPATIBILITY_LENGTH
    return schema


def _metadata(profile: Profile, refuses: Callable[[str], bool]) -> Schema:
    schema: Schema = {"description": "Further data: keys and texts."}
    if refuses("metadata.valueType"):
        value = _SCALAR_OR_NOTHING if profile.metadata_scalars == "any" else _TEXT
        schema["additionalProperties"] = {"anyOf": [value, {"type": "array"}]} if profile.metadata_lists else value
    return schema | _BLANK_TOO if refuses("metadata.type") else schema


# Accepts an empty mapping. A YAML reader without types returns an empty string for it, so that is accepted too.
_BLANK_TOO: Schema = {"type": ["object", "null", "string"], "pattern": r"^\s*$"}


def _allowed_tools(profile: Profile, refuses: Callable[[str], bool]) -> Schema:
    schema: Schema = {"description": "Tools that the skill may use: Name or Name(pattern), with spaces between them."}
    if not refuses("allowed-tools.type"):
        return schema
    if not profile.tools_as_list:
        return schema | _SCALAR_OR_NOTHING
    return schema | {"type": ["string", "number", "boolean", "null", "array"], "items": _SCALAR_OR_NOTHING}


def _rule_of(field: str) -> str:
    """The rule on the type of an extended field."""
    renamed = {
        "context": "context.value",
        "disable-model-invocation": "invocation.type",
        "user-invocable": "invocation.type",
    }
    return renamed.get(field, f"{field}.type")


def _extended() -> Schema:
    """The schemas of the extended fields; docs/reference/fields.md explains each field."""
    text_or_blank = _SCALAR_OR_NOTHING
    scope = {"anyOf": [{**_TEXT, "pattern": _SAYS_SOMETHING}, _TEXTS]}
    return {
        "model": text_or_blank,
        "agent": text_or_blank,
        "context": {"enum": ["inherit", "fork"]},
        "hooks": {
            "type": ["object", "null", "string"],
            "pattern": r"^\s*$",
            "propertyNames": {"enum": sorted((*HOOK_EVENTS, "pre", "post"))},
        },
        "scope": {
            "type": "object",
            "properties": dict.fromkeys(("agents", "tenants", "environments"), scope),
            "additionalProperties": False,
        },
        "execution": {
            "anyOf": [
                _BLANK,
                {
                    "type": "object",
                    "properties": {
                        "mode": {"enum": ["simple", "autonomous"]},
                        "max-iterations": _whole(1, MAX_ITERATIONS),
                        "max-retries-per-tool": _whole(0, MAX_RETRIES),
                        "timeout-per-iteration": {"type": ["number", "string"]},
                        "early-termination": _BOOLEAN,
                        "sandbox": _BOOLEAN,
                        "allowed-paths": _TEXTS,
                        "network": {**_SCALAR, "pattern": _SAYS_SOMETHING},
                    },
                    "additionalProperties": False,
                },
            ]
        },
        "priority": {"anyOf": [_BLANK, {"type": "integer"}, {**_TEXT, "pattern": r"^[+-]?[0-9]{1,9}$"}]},
        "tags": {
            "anyOf": [
                _BLANK,
                {
                    **_TEXTS,
                    "maxItems": MAX_TAGS,
                    "items": {**_SCALAR, "pattern": _SAYS_SOMETHING, "maxLength": MAX_TAG_LENGTH},
                },
            ]
        },
        "arguments": {"type": ["string", "null", "array"], "items": {"type": ["string", "object"]}},
        "argument-hint": text_or_blank,
        "paths": {"anyOf": [_BLANK, _TEXT, _TEXTS]},
        "disable-model-invocation": _BOOLEAN,
        "user-invocable": _BOOLEAN,
    }


def _whole(least: int, most: int) -> Schema:
    return {"anyOf": [{"type": "integer", "minimum": least, "maximum": most}, {**_TEXT, "pattern": r"^\+?[0-9]{1,9}$"}]}
