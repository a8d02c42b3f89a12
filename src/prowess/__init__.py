"""Agent Skills for Python: read, check, find, serve, run and govern skills.

The names in `__all__` are the public interface. They are imported on first use, so `import prowess` is fast and a
program loads only the subpackages that it uses. Type checkers read `__init__.pyi`. This module does not import `typing`
for `TYPE_CHECKING`, because that import takes a third of the time of `prowess --version`.
"""

from __future__ import annotations

from prowess._internal.lazy_names import lazy_names

__version__ = "0.1.0"

# Module -> the public names that it defines. The interface is listed only here; a test compares the stub with it.
_HOMES = {
    "catalog": ("Catalog",),
    "diagnostics": ("Diagnostic", "Severity"),
    "runtime": ("Identity", "Session", "SyncSession"),
    "format": ("Skill", "SkillDocument", "parse_document", "read_skill", "require_valid", "validate_skill"),
    "errors": ("SkillError",),
    "lint": ("lint_skill",),
}

__all__ = sorted(["__version__", *(name for names in _HOMES.values() for name in names)])  # noqa: PLE0605 -- the names are listed in the stub
__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
