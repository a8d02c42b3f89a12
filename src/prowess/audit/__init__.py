"""The audit log: what was done, in a file of chained records that can be verified.

It records; it decides nothing and runs nothing. The public names are resolved when first used: who writes a record
does not need the verification.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.lazy_names import lazy_names

if TYPE_CHECKING:
    from prowess.audit.caller import Caller
    from prowess.audit.log import JsonlAuditLog
    from prowess.audit.record import AuditEvent, AuditLog, AuditRecord, read_tail
    from prowess.audit.verification import AuditFinding, Verification, verify_log

__all__ = [
    "AuditEvent",
    "AuditFinding",
    "AuditLog",
    "AuditRecord",
    "Caller",
    "JsonlAuditLog",
    "Verification",
    "read_tail",
    "verify_log",
]

_HOMES = {
    "record": ("AuditEvent", "AuditLog", "AuditRecord", "read_tail"),
    "verification": ("AuditFinding", "Verification", "verify_log"),
    "log": ("JsonlAuditLog",),
    "caller": ("Caller",),
}


if not TYPE_CHECKING:  # a type checker that sees __getattr__ takes every name for granted
    __getattr__ = lazy_names(__name__, _HOMES)
