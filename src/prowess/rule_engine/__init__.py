"""Rules in general: protocol, registry and selection. The rules themselves are defined in other packages."""

from __future__ import annotations

from prowess.rule_engine.rules import Judgement, Rule, RuleRegistry, Selection, selector_fault

__all__ = ["Judgement", "Rule", "RuleRegistry", "Selection", "selector_fault"]
