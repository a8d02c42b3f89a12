# The public interface as type checkers see it; `__init__.py` resolves the same names when they are first used.

from prowess.catalog import Catalog
from prowess.diagnostics import Diagnostic, Severity
from prowess.errors import SkillError
from prowess.format import Skill, SkillDocument, parse_document, read_skill, require_valid, validate_skill
from prowess.lint import lint_skill
from prowess.runtime import Identity, Session, SyncSession

__all__ = [
    "Catalog",
    "Diagnostic",
    "Identity",
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

__version__: str
