"""Retention of records: `audit.retain` in the policies of an organisation.

    [audit]
    retain = "400d"

The bodies of older records are removed from the log of a tenant; their hashes stay, so every proof holds. A body is
removed if every policy of the tenant and of the organisation that sets a time permits it. Without such a policy
nothing is removed. Each removal is a record in the log (`audit.erased`).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from prowess.audit.record import time_text
from prowess.audit.transparency.sequencer import erase
from prowess.governance.shared_decisions import SharedDecisions

if TYPE_CHECKING:
    from prowess.audit.transparency.sequencer import LogSigner
    from prowess.policy.policy_file import PolicyFile
    from prowess.store.shared.audit_rows import SharedAuditRows


def apply_retention(rows: SharedAuditRows, signer: LogSigner, now: datetime | None = None) -> int:
    """Remove the bodies of the records of a tenant that are too old. Return their number.

    Days are counted from midnight in UTC, so this does something once a day. Call it often: it looks first.

    Raises:
        StoreError: the store cannot be used.
        PolicyError: a policy of the store is damaged; nothing is removed.
        AuditError: the log was changed; nothing is removed.
    """
    longest = longest_retention(SharedDecisions(rows.database).rules().files)
    if longest is None:
        return 0
    today = (now or datetime.now(UTC)).replace(hour=0, minute=0, second=0, microsecond=0)
    before = time_text(today - timedelta(seconds=longest[0]))
    if not rows.has_bodies_before(before):
        return 0
    by = {"rule": "audit.retain", "policy": longest[1].path}
    return erase(rows, signer, by=by, user=None, before=before) or 0


def longest_retention(files: tuple[PolicyFile, ...]) -> tuple[int, PolicyFile] | None:
    """Return the longest time that policies set, in seconds, and the first policy that sets it; None if none does."""
    times = [(file.audit_retain, file) for file in files if file.audit_retain is not None]
    return max(times, key=lambda one: one[0]) if times else None
