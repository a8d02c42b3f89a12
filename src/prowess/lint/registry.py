"""The rules of advice, found in `prowess.lint.rules`, and the declarations of all rules that a user may name."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from prowess.format.rules.table import RULES as FORMAT_RULES
from prowess.lint.catalog_budget import CATALOG_BUDGET
from prowess.lint.rule import LintRule, LintSubject
from prowess.lint.rules import __name__ as _rules
from prowess.rule_engine import RuleRegistry
from prowess.rule_engine.suppression import UNUSED_SUPPRESSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.format.rules.meta import RuleMeta

LINT_RULES: RuleRegistry[LintSubject] = RuleRegistry(
    *(rule() for rule in LintRule.__subclasses__() if rule.__module__.startswith(_rules))
)

_ADVICE = sorted(
    (CATALOG_BUDGET, UNUSED_SUPPRESSION, *(rule.meta for rule in LINT_RULES)), key=lambda meta: (meta.order, meta.id)
)
RULES: Mapping[str, RuleMeta] = MappingProxyType({**FORMAT_RULES, **{meta.id: meta for meta in _ADVICE}})
"""Every rule by its id: those of the format, then those of advice."""
