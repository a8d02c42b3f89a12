"""Who may do what, and what was done. So far: the audit log."""

from __future__ import annotations

from prowess.policy.audit_event import AuditEvent, AuditLog, AuditRecord
from prowess.policy.audit_log import JsonlAuditLog
from prowess.policy.audit_reading import read_tail
from prowess.policy.audit_verification import AuditFinding, Verification, verify_log

__all__ = [
    "AuditEvent",
    "AuditFinding",
    "AuditLog",
    "AuditRecord",
    "JsonlAuditLog",
    "Verification",
    "read_tail",
    "verify_log",
]
