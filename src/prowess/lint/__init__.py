"""Advice on the quality of a skill. Nothing here makes a skill invalid; `prowess.format` does that.

Names are resolved when first used, so that what asks a few rules does not pay for all of them.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as typing's, which would cost an import

if TYPE_CHECKING:
    from prowess.lint.linting import LINT_RULES, lint_findings, lint_skill

__all__ = ["LINT_RULES", "lint_findings", "lint_skill"]

if not TYPE_CHECKING:  # a type checker that sees __getattr__ takes every name for granted

    def __getattr__(name: str) -> object:
        if name not in __all__:
            message = f"module 'prowess.lint' has no attribute {name!r}"
            raise AttributeError(message)
        from prowess.lint import linting  # imported here, not at the top: it brings every rule

        return getattr(linting, name)
