"""The JSON Schema of the conformance data, for whoever reads it in another language."""

from __future__ import annotations

from prowess.conformance.cases import FORMAT, VERSION
from prowess.format.fields.frontmatter_schema import DIALECT

Schema = dict[str, object]

_TEXT: Schema = {"type": "string", "minLength": 1}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_RULES: Schema = {"type": "array", "items": _TEXT, "uniqueItems": True}


def cases_schema() -> Schema:
    """Return the schema of `cases.json`. Every object is closed: a new key is a new version."""
    return {
        "$schema": DIALECT,
        "title": "Conformance cases of the Agent Skills format",
        **_object(
            {
                "format": {"const": FORMAT},
                "version": {"const": VERSION},
                "about": _TEXT,
                "profiles": _table(_object({"about": _TEXT, "source": _TEXT})),
                "topics": _table(_object({"about": _TEXT, "source": _TEXT})),
                "rules": {**_table(_TEXT), "description": "What each rule asks, by its id."},
                "cases": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/case"}},
            }
        ),
        "$defs": {"case": _case(), "files": _files(), "expectation": _expectation()},
    }


def _case() -> Schema:
    return _object(
        {
            "id": {"type": "string", "pattern": "^[a-z0-9-]+$"},
            "topic": {**_TEXT, "description": "A key of `topics`."},
            "reason": {**_TEXT, "description": "What the case is about."},
            "sources": {
                **_TEXTS,
                "minItems": 1,
                "description": "Where the format speaks of it; then whose readings differ from the specification's.",
            },
            "directory": {**_TEXT, "description": "The skill's directory, relative to the folder of the case."},
            "files": {"$ref": "#/$defs/files", "description": "Relative to the skill's directory."},
            "around": {"$ref": "#/$defs/files", "description": "Relative to the folder of the case."},
            "expect": {
                "type": "object",
                "additionalProperties": {"$ref": "#/$defs/expectation"},
                "minProperties": 1,
                "description": "By profile, a key of `profiles`.",
            },
            "discovered": {
                **_object({"root": _TEXT, "names": _TEXTS}),
                "description": "The names that a search of `root`, relative to the folder of the case, offers.",
            },
        },
        optional=("around", "discovered"),
    )


def _files() -> Schema:
    content = {
        "oneOf": [
            _object({"text": {"type": "string", "description": "Written in UTF-8 as it stands."}}),
            _object({"base64": {"type": "string", "contentEncoding": "base64"}}),
            _object({"link": {**_TEXT, "description": "The target of a symbolic link."}}),
        ]
    }
    return {"type": "object", "additionalProperties": content}


def _expectation() -> Schema:
    place: Schema = {"type": "integer", "minimum": 1}
    return _object(
        {
            "outcome": {"enum": ["accept", "reject"]},
            "rules": {**_RULES, "description": "The ids of all errors."},
            "notes": {**_RULES, "description": "Ids that are reported below error."},
            "line": {**place, "description": "Of the first error of the first of the rules, 1-based."},
            "column": {**place, "description": "In code points, 1-based."},
            "read": {"type": "object", "description": "Values as they are read, for readers that load the skill."},
        },
        optional=("rules", "notes", "line", "column", "read"),
    )


def _object(properties: dict[str, object], *, optional: tuple[str, ...] = ()) -> Schema:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _table(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values, "minProperties": 1}
