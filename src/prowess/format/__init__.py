"""SKILL.md as types: one parser, many policies.

`parse_document` and `read_document` give a `SkillDocument`, whatever the bytes; `validate_skill` judges it by a
profile; `read_skill` gives a `Skill` that loads. Names are resolved when first used, so that listing skills pays only
for what it needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prowess.format.document import Field, SkillDocument
    from prowess.format.fields.allowed_tools import AllowedTools, ToolFault, ToolToken, parse_allowed_tools
    from prowess.format.fields.arguments import Argument
    from prowess.format.fields.execution import Execution
    from prowess.format.fields.extended_fields import ExtendedFields, Scope
    from prowess.format.fields.hooks import HOOK_EVENTS, Hook, Hooks
    from prowess.format.listing import Listing, listing_from_document
    from prowess.format.name import NameFault, SkillName, name_faults
    from prowess.format.parsing import parse_document
    from prowess.format.profiles import PROFILES, Profile, profile_named
    from prowess.format.reading import read_document, read_skill
    from prowess.format.role import Role, balancer, is_balanced, role_of
    from prowess.format.rules.table import RULES
    from prowess.format.skill import Frontmatter, Resource, Skill
    from prowess.format.skill_directories import find_skill_directories
    from prowess.format.validation import require_valid, validate_skill
    from prowess.format.writing import document_text

_HOMES = {
    "AllowedTools": "fields.allowed_tools",
    "Argument": "fields.arguments",
    "Execution": "fields.execution",
    "ExtendedFields": "fields.extended_fields",
    "Field": "document",
    "Frontmatter": "skill",
    "HOOK_EVENTS": "fields.hooks",
    "Hook": "fields.hooks",
    "Hooks": "fields.hooks",
    "Listing": "listing",
    "NameFault": "name",
    "PROFILES": "profiles",
    "Profile": "profiles",
    "RULES": "rules.table",
    "Resource": "skill",
    "Role": "role",
    "Scope": "fields.extended_fields",
    "Skill": "skill",
    "SkillDocument": "document",
    "SkillName": "name",
    "ToolFault": "fields.allowed_tools",
    "ToolToken": "fields.allowed_tools",
    "balancer": "role",
    "document_text": "writing",
    "find_skill_directories": "skill_directories",
    "is_balanced": "role",
    "listing_from_document": "listing",
    "name_faults": "name",
    "parse_allowed_tools": "fields.allowed_tools",
    "parse_document": "parsing",
    "profile_named": "profiles",
    "read_document": "reading",
    "read_skill": "reading",
    "require_valid": "validation",
    "role_of": "role",
    "validate_skill": "validation",
}

__all__ = [
    "HOOK_EVENTS",
    "PROFILES",
    "RULES",
    "AllowedTools",
    "Argument",
    "Execution",
    "ExtendedFields",
    "Field",
    "Frontmatter",
    "Hook",
    "Hooks",
    "Listing",
    "NameFault",
    "Profile",
    "Resource",
    "Role",
    "Scope",
    "Skill",
    "SkillDocument",
    "SkillName",
    "ToolFault",
    "ToolToken",
    "balancer",
    "document_text",
    "find_skill_directories",
    "is_balanced",
    "listing_from_document",
    "name_faults",
    "parse_allowed_tools",
    "parse_document",
    "profile_named",
    "read_document",
    "read_skill",
    "require_valid",
    "role_of",
    "validate_skill",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        message = f"module 'prowess.format' has no attribute {name!r}"
        raise AttributeError(message)
    # Imported here, not at the top: whoever lists skills must not load what judges them.
    from importlib import import_module

    value = getattr(import_module(f"prowess.format.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
