"""JSON Schema of the settings files, for completion and checks in editors.

It is derived from `prowess.config.settings`.
"""

from __future__ import annotations

from prowess.config.settings import LEVELS, MAX_ENTRIES, PRESETS, SETTINGS, Setting
from prowess.format.fields.frontmatter_schema import DIALECT
from prowess.format.profiles import PROFILES
from prowess.lint import RULES

Schema = dict[str, object]
_PATTERN: Schema = {"type": "string", "pattern": r"\S"}


def configuration_schema() -> Schema:
    """Return the JSON Schema (2020-12) of `prowess.toml`, of `[tool.prowess]` and of the user's `config.toml`."""
    by_path = {name: _setting(setting) for name, setting in SETTINGS.items() if setting.by_path}
    return {
        "$schema": DIALECT,
        "$id": "urn:prowess:schema:configuration",
        "title": "Settings of Prowess",
        "type": "object",
        "properties": {
            "$schema": {"type": "string"},
            **_settings(),
            "paths": {
                "description": "Settings for some paths; each key is a pattern relative to the directory of the file.",
                "type": "object",
                "maxProperties": MAX_ENTRIES,
                "propertyNames": _PATTERN,
                "additionalProperties": {"type": "object", "properties": by_path, "additionalProperties": False},
            },
            "session": {
                "description": "Defaults of sessions; only in the user's config.toml.",
                "type": "object",
                "properties": {
                    "profile": {"enum": list(PROFILES)},
                    "environment": {"type": "string"},
                    "agent": {"type": "string"},
                    "tenant": {"type": "string"},
                    "first_argument": {"enum": [0, 1]},
                },
                "additionalProperties": False,
            },
        },
        "additionalProperties": False,
        "$defs": {"selector": {"enum": selectors()}, "level": {"enum": list(LEVELS)}, "severities": _severities()},
    }


def _settings() -> Schema:
    """Return the schema of each setting; a setting whose name has a dot is in a table."""
    found: Schema = {}
    tables: dict[str, Schema] = {}
    for setting in SETTINGS.values():
        *table, key = setting.keys
        if table:
            tables.setdefault(table[0], {})[key] = _setting(setting)
        else:
            found[key] = _setting(setting)
    closed = {
        name: {"type": "object", "properties": properties, "additionalProperties": False}
        for name, properties in tables.items()
    }
    return found | closed


def selectors() -> list[str]:
    """Return every rule id, every family, and every dotted prefix of a rule id, sorted."""
    beginnings = {".".join(parts[:at]) for rule in RULES for parts in [rule.split(".")] for at in range(1, len(parts))}
    return sorted({*RULES, *(rule.family for rule in RULES.values()), *beginnings})


def _severities() -> Schema:
    """Return the schema of the table `severity`. TOML reads `name.ascii` without quotes as a nested table."""
    level: Schema = {"$ref": "#/$defs/level"}
    properties: Schema = {}
    for selector in selectors():
        inner = {rule.partition(".")[2]: level for rule in RULES if rule.startswith(f"{selector}.")}
        table: Schema = {"type": "object", "properties": inner, "additionalProperties": False, "minProperties": 1}
        properties[selector] = {"anyOf": [level, table]} if inner and "." not in selector else level
    return {"type": "object", "properties": properties, "additionalProperties": False, "maxProperties": MAX_ENTRIES}


def _setting(setting: Setting) -> Schema:
    said: Schema = {"description": f"{setting.summary[:1].upper()}{setting.summary[1:]}."}
    match setting.kind:
        case "choice":
            summaries = {name: one.summary for name, one in PROFILES.items()} | {
                n: p.summary for n, p in PRESETS.items()
            }
            explained = "; ".join(f"{choice}: {summaries[choice]}" for choice in setting.choices if choice in summaries)
            return {
                "description": f"{said['description']} {explained}".strip(),
                "enum": list(setting.choices),
                "default": setting.default,
            }
        case "selectors":
            return said | {"type": "array", "items": {"$ref": "#/$defs/selector"}, "maxItems": MAX_ENTRIES}
        case "patterns" | "names":
            return said | {"type": "array", "items": _PATTERN, "maxItems": MAX_ENTRIES}
        case "sources":
            return said | {"type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": MAX_ENTRIES}
        case "severities":
            return said | {"$ref": "#/$defs/severities"}
