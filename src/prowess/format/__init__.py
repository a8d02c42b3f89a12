"""SKILL.md as typed values: one parser, several validation profiles.

`parse_document` and `read_document` return a `SkillDocument` for any input. `validate_skill` checks a document against
a profile. `read_skill` returns a `Skill`, or raises if the profile refuses the document. Public names are imported when
they are first used, so listing skills does not load the rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.lazy_names import lazy_names

if TYPE_CHECKING:
    from prowess.format.document import Field, SkillDocument
    from prowess.format.fields.allowed_tools import AllowedTools, ToolFault, ToolToken, parse_allowed_tools
    from prowess.format.fields.extended_fields import Argument, Execution, ExtendedFields, Scope
    from prowess.format.fields.hooks import HOOK_EVENTS, Hook, Hooks
    from prowess.format.name import NameFault, SkillName, name_faults
    from prowess.format.parsing import parse_document
    from prowess.format.profiles import PROFILES, Profile, profile_named
    from prowess.format.reading import read_document, read_skill, require_valid, validate_skill
    from prowess.format.role import Role, balancer, is_balanced, role_of
    from prowess.format.rules.table import RULES
    from prowess.format.skill import Frontmatter, Resource, Skill
    from prowess.format.skill_directories import find_skill_directories
    from prowess.format.writing import document_text

_HOMES = {
    "fields.allowed_tools": ("AllowedTools", "ToolFault", "ToolToken", "parse_allowed_tools"),
    "fields.extended_fields": ("Argument", "Execution", "ExtendedFields", "Scope"),
    "document": ("Field", "SkillDocument"),
    "skill": ("Frontmatter", "Resource", "Skill"),
    "fields.hooks": ("HOOK_EVENTS", "Hook", "Hooks"),
    "name": ("NameFault", "SkillName", "name_faults"),
    "profiles": ("PROFILES", "Profile", "profile_named"),
    "rules.table": ("RULES",),
    "role": ("Role", "balancer", "is_balanced", "role_of"),
    "writing": ("document_text",),
    "skill_directories": ("find_skill_directories",),
    "parsing": ("parse_document",),
    "reading": ("read_document", "read_skill", "require_valid", "validate_skill"),
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


if not TYPE_CHECKING:  # hidden from type checkers: they would accept any name
    __getattr__ = lazy_names(__name__, _HOMES)
