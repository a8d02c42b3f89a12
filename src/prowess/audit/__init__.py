"""The audit log: records of actions in a file whose hash chain can be verified.

This package only writes and reads records; it makes no decisions and starts no process. Public names are imported when
first used, so that writing records does not load the verification.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.lazy_names import lazy_names

if TYPE_CHECKING:
    from prowess.audit.caller import Caller
    from prowess.audit.chain_walk import AuditFinding
    from prowess.audit.log import JsonlAuditLog
    from prowess.audit.record import AuditEvent, AuditLog, AuditRecord, read_tail
    from prowess.audit.transparency.central_log import SharedAuditLog
    from prowess.audit.verification import Verification, verify_log

__all__ = [
    "AuditEvent",
    "AuditFinding",
    "AuditLog",
    "AuditRecord",
    "Caller",
    "JsonlAuditLog",
    "SharedAuditLog",
    "Verification",
    "read_tail",
    "verify_log",
]

_HOMES = {
    "record": ("AuditEvent", "AuditLog", "AuditRecord", "read_tail"),
    "verification": ("Verification", "verify_log"),
    "chain_walk": ("AuditFinding",),
    "transparency.central_log": ("SharedAuditLog",),
    "log": ("JsonlAuditLog",),
    "caller": ("Caller",),
}


if not TYPE_CHECKING:  # hidden from type checkers: they would accept any name
    __getattr__ = lazy_names(__name__, _HOMES)
