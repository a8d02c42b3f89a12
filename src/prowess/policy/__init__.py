"""Who may do what: policies, restrictions by skills, approvals.

Everything here decides; nothing waits, asks or runs. The public names are resolved when first used: who reads a
decision needs neither the rules nor the grammar of shells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prowess.policy.approval import (
        Answer,
        Approval,
        ApprovalMemory,
        ApprovalRequest,
        Approver,
        Refusal,
        Scope,
        Unanswered,
    )
    from prowess.policy.decision import Allow, Ask, Decision, Deny, RuleOrigin
    from prowess.policy.policy import Policy
    from prowess.policy.policy_file import PolicyFile, read_policy_file
    from prowess.policy.policy_layers import load_policy
    from prowess.policy.restriction import Restriction, RestrictionMode, decide
    from prowess.policy.rule import PolicyCall, PolicyRule
    from prowess.policy.verdict import decide_call

__all__ = [
    "Allow",
    "Answer",
    "Approval",
    "ApprovalMemory",
    "ApprovalRequest",
    "Approver",
    "Ask",
    "Decision",
    "Deny",
    "Policy",
    "PolicyCall",
    "PolicyFile",
    "PolicyRule",
    "Refusal",
    "Restriction",
    "RestrictionMode",
    "RuleOrigin",
    "Scope",
    "Unanswered",
    "decide",
    "decide_call",
    "load_policy",
    "read_policy_file",
]

_HOMES = {
    "Allow": "decision",
    "Answer": "approval",
    "Approval": "approval",
    "ApprovalMemory": "approval",
    "ApprovalRequest": "approval",
    "Approver": "approval",
    "Ask": "decision",
    "Decision": "decision",
    "Deny": "decision",
    "RestrictionMode": "restriction",
    "RuleOrigin": "decision",
    "Policy": "policy",
    "PolicyCall": "rule",
    "PolicyFile": "policy_file",
    "Refusal": "approval",
    "Restriction": "restriction",
    "PolicyRule": "rule",
    "Scope": "approval",
    "Unanswered": "approval",
    "decide": "restriction",
    "decide_call": "verdict",
    "load_policy": "policy_layers",
    "read_policy_file": "policy_file",
}


if not TYPE_CHECKING:  # a type checker that sees __getattr__ takes every name for granted

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            message = f"module 'prowess.policy' has no attribute {name!r}"
            raise AttributeError(message)
        # Imported here, not at the top: see the docstring of this module.
        from importlib import import_module

        value = getattr(import_module(f"prowess.policy.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
