"""Rules as values: what a rule is, which rules there are, which of them run. No concrete rule is known here."""

from __future__ import annotations

from prowess.rule_engine.rules import Judgement, Rule, RuleRegistry, Selection, selector_fault

__all__ = ["Judgement", "Rule", "RuleRegistry", "Selection", "selector_fault"]
