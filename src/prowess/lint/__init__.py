"""Lint rules: advice on the quality of a skill.

Lint rules never make a skill invalid; the rules of `prowess.format` do that.
"""

from __future__ import annotations

from prowess.lint.linting import LINT_RULES, RULES, lint_findings, lint_skill

__all__ = ["LINT_RULES", "RULES", "lint_findings", "lint_skill"]
