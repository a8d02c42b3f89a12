"""The audit log: what was done, in a file of chained records that can be verified.

It records; it decides nothing and runs nothing. The public names are resolved when first used: who writes a record
does not need the verification.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prowess.audit.event import AuditEvent, AuditLog, AuditRecord
    from prowess.audit.log import JsonlAuditLog
    from prowess.audit.reading import read_tail
    from prowess.audit.verification import AuditFinding, Verification, verify_log

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

_HOMES = {
    "AuditEvent": "event",
    "AuditFinding": "verification",
    "AuditLog": "event",
    "AuditRecord": "event",
    "JsonlAuditLog": "log",
    "Verification": "verification",
    "read_tail": "reading",
    "verify_log": "verification",
}


if not TYPE_CHECKING:  # a type checker that sees __getattr__ takes every name for granted

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            message = f"module 'prowess.audit' has no attribute {name!r}"
            raise AttributeError(message)
        # Imported here, not at the top: see the docstring of this module.
        from importlib import import_module

        value = getattr(import_module(f"prowess.audit.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
