"""The gates of every session, in the order in which they are asked: policy, restriction, approval.

The first refuses what the policy denies; what it asks about passes, for the approval gate. The second refuses what the
active skills do not allow; they are looked up for each call, from the state of the session that makes it, so a
restriction holds from the first call after activation, ends with the skill, and never reaches another session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.errors import AuditError, PolicyDeniedError, PolicyError, ToolNotAllowedError
from prowess.policy.approval import ApprovalMemory
from prowess.policy.decision import Ask, Deny, rule_of
from prowess.policy.restriction import decide
from prowess.policy.tool_names import SKILL_TOOLS, canonical_tool_name
from prowess.tools.gates.approvers import ApprovalGate, NoApprover
from prowess.tools.gates.gate import PROCEED, Proceed, Refuse, policy_call

if TYPE_CHECKING:
    from prowess.policy.approval import Approver
    from prowess.policy.policy import PolicySource
    from prowess.tools.gates.approvers import Record
    from prowess.tools.gates.gate import ActiveRestrictions, Gate
    from prowess.tools.spec import ToolCall, ToolSpec


def standard_gates(
    policy: PolicySource,
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


class PolicyGate:
    """Holds calls against `policy`; `workspace` is the directory that its path globs hang from."""

    def __init__(self, policy: PolicySource, *, workspace: str | None = None) -> None:
        self._policy, self._workspace = policy, workspace

    async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed | Refuse:
        """Refuse what is denied."""
        policy = self._policy.now()
        if policy.fault is not None:
            return Refuse(
                error=PolicyError((f"the policy cannot be read, so nothing is permitted: {policy.fault}",)),
                rule="policy",
            )
        decision = policy.decide(policy_call(call, spec), self._workspace)
        if isinstance(decision, Deny):
            return Refuse(error=PolicyDeniedError(rule_of(decision), decision.reason), rule=rule_of(decision))
        if isinstance(decision, Ask):
            return PROCEED
        return Proceed(by=rule_of(decision))


class RestrictionGate:
    """Holds calls against the allowed-tools of the skills that `active` returns, one for each active skill."""

    def __init__(self, active: ActiveRestrictions, *, workspace: str | None = None) -> None:
        self._active, self._workspace = active, workspace

    async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed | Refuse:
        """Refuse what an active skill does not permit."""
        del spec
        if canonical_tool_name(call.name) in SKILL_TOOLS:  # never restricted, so nobody has to look what is active
            return PROCEED
        decision = decide(call.name, call.arguments, await self._active(), self._workspace)
        if isinstance(decision, Deny):
            error = ToolNotAllowedError(call.name, decision.skill or "", decision.reason)
            return Refuse(error=error, rule=decision.rule, skill=error.skill)
        return PROCEED


class NoLogGate:
    """Refuses calls with `unavailable` while the policy permits none without a record, because nothing records."""

    def __init__(self, policy: PolicySource) -> None:
        self._policy = policy

    async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed | Refuse:
        """Refuse if a record is required."""
        del call, spec
        if not self._policy.now().audit_required:
            return PROCEED
        reason = "there is none, and the policy permits no call without a record (audit.required)"
        return Refuse(error=AuditError(None, reason), rule="audit.required")
