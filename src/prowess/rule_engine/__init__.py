"""Rules as values: what a rule is, which rules there are, which of them run. No concrete rule is known here.

Names are resolved when first used, so that a rule pays for none but its own.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as typing's, which would cost an import

if TYPE_CHECKING:
    from prowess.rule_engine.judgement import Judgement
    from prowess.rule_engine.registry import RuleRegistry
    from prowess.rule_engine.rule import Rule, RuleMeta
    from prowess.rule_engine.selection import Selection, judge_all, selector_fault

_HOMES = {
    "Judgement": "judgement",
    "Rule": "rule",
    "RuleMeta": "rule",
    "RuleRegistry": "registry",
    "Selection": "selection",
    "judge_all": "selection",
    "selector_fault": "selection",
}

__all__ = ["Judgement", "Rule", "RuleMeta", "RuleRegistry", "Selection", "judge_all", "selector_fault"]

if not TYPE_CHECKING:  # a type checker that sees __getattr__ takes every name for granted

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            message = f"module 'prowess.rule_engine' has no attribute {name!r}"
            raise AttributeError(message)
        from importlib import import_module  # imported here, not at the top: as said above

        return getattr(import_module(f"prowess.rule_engine.{_HOMES[name]}"), name)
