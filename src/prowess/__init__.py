"""Agent Skills for Python: read, check, find, serve, run and govern skills.

The names below are the public interface. They are resolved when first used, so that `import prowess` costs almost
nothing and a program pays only for the rooms it enters. Type checkers read `__init__.pyi`: importing `typing` to tell
them apart would cost a third of `prowess --version`.
"""

from __future__ import annotations

from prowess._internal.lazy_names import lazy_names

__version__ = "0.1.0"

# Module -> the public names that it defines. The one place where the interface is listed; a test compares the stub.
_HOMES = {
    "catalog": ("Catalog",),
    "diagnostics": ("Diagnostic", "Severity"),
    "runtime": ("Session", "SyncSession"),
    "format": ("Skill", "SkillDocument", "parse_document", "read_skill", "require_valid", "validate_skill"),
    "errors": ("SkillError",),
    "lint": ("lint_skill",),
}

__all__ = sorted(["__version__", *(name for names in _HOMES.values() for name in names)])  # noqa: PLE0605 -- the stub lists them
__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
