"""Agent Skills for Python: read, check, find, serve, run and govern skills.

The names below are the public interface. They are resolved when first used, so that `import prowess` costs almost
nothing and a program pays only for the rooms it enters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.lazy_names import lazy_names

if TYPE_CHECKING:
    from prowess.catalog import Catalog
    from prowess.diagnostics import Diagnostic, Severity
    from prowess.errors import SkillError
    from prowess.format import Skill, SkillDocument, parse_document, read_skill, require_valid, validate_skill
    from prowess.lint import lint_skill
    from prowess.runtime import Session, SyncSession

__version__ = "0.1.0"

# Module -> the public names that it defines. The one place where the interface is listed.
_HOMES = {
    "catalog": ("Catalog",),
    "diagnostics": ("Diagnostic", "Severity"),
    "runtime": ("Session", "SyncSession"),
    "format": ("Skill", "SkillDocument", "parse_document", "read_skill", "require_valid", "validate_skill"),
    "errors": ("SkillError",),
    "lint": ("lint_skill",),
}

# Written out and not built from the table: type checkers read it. A test keeps the two alike.
__all__ = [
    "Catalog",
    "Diagnostic",
    "Session",
    "Severity",
    "Skill",
    "SkillDocument",
    "SkillError",
    "SyncSession",
    "__version__",
    "lint_skill",
    "parse_document",
    "read_skill",
    "require_valid",
    "validate_skill",
]


if not TYPE_CHECKING:  # a type checker that sees __getattr__ takes every name for granted
    __getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
