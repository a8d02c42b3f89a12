"""Advice on the quality of a skill. Nothing here makes a skill invalid; `prowess.format` does that."""

from __future__ import annotations

from prowess.lint.linting import LINT_RULES, RULES, lint_findings, lint_skill

__all__ = ["LINT_RULES", "RULES", "lint_findings", "lint_skill"]
