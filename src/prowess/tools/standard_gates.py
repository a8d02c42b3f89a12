"""The gates that every session has, in the order in which they stand: policy, restriction, approval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.policy.approval import ApprovalMemory
from prowess.tools.approval_gate import ApprovalGate
from prowess.tools.approvers import NoApprover
from prowess.tools.policy_gate import PolicyGate
from prowess.tools.restriction_gate import RestrictionGate

if TYPE_CHECKING:
    from prowess.policy.approval import Approver
    from prowess.policy.policy import Policy
    from prowess.tools.approval_gate import Record
    from prowess.tools.gates import Gate
    from prowess.tools.restriction_gate import ActiveRestrictions


def standard_gates(
    policy: Policy,
    active: ActiveRestrictions,
    *,
    approver: Approver | None = None,
    memory: ApprovalMemory | None = None,
    session_id: str | None = None,
    workspace: str | None = None,
    record: Record | None = None,
) -> tuple[Gate, ...]:
    """Return the three gates of one session.

    `active` returns a restriction for each active skill, at each call. Without an approver nobody is asked. `memory`
    is shared with whoever settles requests from outside; `workspace` is what path globs hang from. `record` is told who
    approved what.
    """
    return (
        PolicyGate(policy, workspace=workspace),
        RestrictionGate(active, workspace=workspace),
        ApprovalGate(
            policy,
            active,
            approver or NoApprover(),
            ApprovalMemory() if memory is None else memory,
            session_id=session_id,
            workspace=workspace,
            record=record,
        ),
    )
