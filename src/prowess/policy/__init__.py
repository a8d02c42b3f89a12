"""Who may do what, and what was done: policies, restrictions by skills, approvals, the audit log.

Everything here decides or records; nothing waits, asks or runs.
"""

from __future__ import annotations

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
from prowess.policy.decision import Allow, Ask, Decision, Deny, Origin
from prowess.policy.policy import Policy
from prowess.policy.policy_file import PolicyFile, read_policy_file
from prowess.policy.policy_layers import load_policy
from prowess.policy.restriction import Mode, Restriction, decide
from prowess.policy.rule import PolicyCall, Rule
from prowess.policy.shell_command import ShellParts, parse_command_line
from prowess.policy.shell_words import ShellRefusal
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
    "Mode",
    "Origin",
    "Policy",
    "PolicyCall",
    "PolicyFile",
    "Refusal",
    "Restriction",
    "Rule",
    "Scope",
    "ShellParts",
    "ShellRefusal",
    "Unanswered",
    "Verification",
    "decide",
    "decide_call",
    "load_policy",
    "parse_command_line",
    "read_policy_file",
    "read_tail",
    "verify_log",
]
