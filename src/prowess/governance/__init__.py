"""Governance: decisions of people about skills, written where the policy of their layer is.

Values and matching are in `prowess.policy`, so that every session decides by them. This package writes them, and
records its own acts in the audit log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.lazy_names import lazy_names

if TYPE_CHECKING:
    from prowess.governance.shared_approval_requests import RefusedSkills
    from prowess.governance.shared_call_requests import SharedCallRequests
    from prowess.governance.shared_decisions import SharedDecisions

__all__ = ["RefusedSkills", "SharedCallRequests", "SharedDecisions"]

if not TYPE_CHECKING:  # hidden from type checkers: they would accept any name
    __getattr__ = lazy_names(
        __name__,
        {
            "shared_approval_requests": ("RefusedSkills",),
            "shared_call_requests": ("SharedCallRequests",),
            "shared_decisions": ("SharedDecisions",),
        },
    )
