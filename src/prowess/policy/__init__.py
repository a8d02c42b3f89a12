"""Who may do what, and what was done: policies, restrictions by skills, approvals, the audit log.

Everything here decides or records; nothing waits, asks or runs. The public names are resolved when first used: who
writes a record needs neither the rules nor the grammar of shells.
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
    from prowess.policy.audit_event import AuditEvent, AuditLog, AuditRecord
    from prowess.policy.audit_log import JsonlAuditLog
    from prowess.policy.audit_reading import read_tail
    from prowess.policy.audit_verification import AuditFinding, Verification, verify_log
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
    "AuditEvent",
    "AuditFinding",
    "AuditLog",
    "AuditRecord",
    "Decision",
    "Deny",
    "JsonlAuditLog",
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
    "Verification",
    "decide",
    "decide_call",
    "load_policy",
    "read_policy_file",
    "read_tail",
    "verify_log",
]

_HOMES = {
    "Allow": "decision",
    "Answer": "approval",
    "Approval": "approval",
    "ApprovalMemory": "approval",
    "ApprovalRequest": "approval",
    "Approver": "approval",
    "Ask": "decision",
    "AuditEvent": "audit_event",
    "AuditFinding": "audit_verification",
    "AuditLog": "audit_event",
    "AuditRecord": "audit_event",
    "Decision": "decision",
    "Deny": "decision",
    "JsonlAuditLog": "audit_log",
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
    "Verification": "audit_verification",
    "decide": "restriction",
    "decide_call": "verdict",
    "load_policy": "policy_layers",
    "read_policy_file": "policy_file",
    "read_tail": "audit_reading",
    "verify_log": "audit_verification",
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
