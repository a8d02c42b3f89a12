"""Policies, restrictions by active skills, and approvals: which tool calls may run.

This package only decides: it runs no tool and asks no person. Public names are imported lazily, so that importing a
decision does not load the rules and the shell grammar.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.lazy_names import lazy_names

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
    from prowess.policy.policy import Policy, decide_call
    from prowess.policy.policy_file import PolicyFile, read_policy_file
    from prowess.policy.policy_in_force import PolicyInForce, load_policy
    from prowess.policy.restriction import Restriction, RestrictionMode, decide
    from prowess.policy.rule import PolicyCall, PolicyRule

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
    "PolicyInForce",
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
    "decision": ("Allow", "Ask", "Decision", "Deny", "RuleOrigin"),
    "approval": (
        "Answer",
        "Approval",
        "ApprovalMemory",
        "ApprovalRequest",
        "Approver",
        "Refusal",
        "Scope",
        "Unanswered",
    ),
    "restriction": ("RestrictionMode", "Restriction", "decide"),
    "policy": ("Policy", "decide_call"),
    "rule": ("PolicyCall", "PolicyRule"),
    "policy_file": ("PolicyFile", "read_policy_file"),
    "policy_in_force": ("PolicyInForce", "load_policy"),
}


if not TYPE_CHECKING:  # a type checker that sees `__getattr__` would accept any name
    __getattr__ = lazy_names(__name__, _HOMES)
