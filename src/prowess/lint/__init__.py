"""Lint rules: advice on the quality of a skill, and the scan that a policy can demand.

Lint rules never make a skill invalid; the rules of `prowess.format` do that. Public names are imported when first used,
so that a session whose policy demands no scan loads no rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.lazy_names import lazy_names

if TYPE_CHECKING:
    from prowess.lint.linting import LINT_RULES, RULES, lint_findings, lint_skill
    from prowess.lint.security_scan import worst_security_finding

__all__ = ["LINT_RULES", "RULES", "lint_findings", "lint_skill", "worst_security_finding"]

_HOMES = {
    "linting": ("LINT_RULES", "RULES", "lint_findings", "lint_skill"),
    "security_scan": ("worst_security_finding",),
}


if not TYPE_CHECKING:  # hidden from type checkers: they would accept any name
    __getattr__ = lazy_names(__name__, _HOMES)
