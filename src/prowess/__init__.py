"""Agent Skills for Python: read, check, find, serve, run and govern skills.

The names below are the public interface. They are resolved when first used, so that `import prowess` costs almost
nothing and a program pays only for the rooms it enters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prowess.catalog import Catalog
    from prowess.diagnostics import Diagnostic, Severity
    from prowess.errors import SkillError
    from prowess.format import Skill, SkillDocument, parse_document, read_skill, require_valid, validate_skill
    from prowess.lint import lint_skill
    from prowess.runtime import Session, SyncSession

__version__ = "0.1.0"

# Public name -> module that defines it. The one place where the interface is listed.
_HOMES = {
    "Catalog": "prowess.catalog",
    "Diagnostic": "prowess.diagnostics",
    "Session": "prowess.runtime",
    "Severity": "prowess.diagnostics",
    "Skill": "prowess.format",
    "SkillDocument": "prowess.format",
    "SkillError": "prowess.errors",
    "SyncSession": "prowess.runtime",
    "lint_skill": "prowess.lint",
    "parse_document": "prowess.format",
    "read_skill": "prowess.format",
    "require_valid": "prowess.format",
    "validate_skill": "prowess.format",
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

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            message = f"module 'prowess' has no attribute {name!r}"
            raise AttributeError(message)
        # Imported here, not at the top: `import prowess` must not load what the caller does not use.
        from importlib import import_module

        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
