"""Who may do what, and what was done. So far: the audit log."""

from __future__ import annotations

from prowess.policy.audit_event import AuditEvent, AuditLog, AuditRecord

__all__ = ["AuditEvent", "AuditLog", "AuditRecord"]
