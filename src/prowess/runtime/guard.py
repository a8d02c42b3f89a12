"""The gates of one session: policy, audit log, restrictions of active skills, hooks and approval.

Restrictions are read from the newest state of the store for each call. So a restriction applies from the first call
after the load, in every process that shares the session, and ends when the skill is unloaded. Tools do not store
restrictions: if two sessions share a tool, each session applies only its own restrictions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.errors import InvalidArgumentsError
from prowess.policy.approval import ApprovalMemory
from prowess.tools.gates import NoLogGate, standard_gates

if TYPE_CHECKING:
    from prowess.policy.approval import Approval, ApprovalRequest, Approver, Refusal
    from prowess.policy.policy import PolicySource
    from prowess.policy.restriction import Restriction
    from prowess.runtime.activation.restrictions import Restrictions
    from prowess.runtime.events.delivery import SessionRecords
    from prowess.runtime.session_state import StoredState
    from prowess.tools.gates import Gate


class Guard:
    """The gates of one session under `policy`. `approvals` holds the answers given in this session.

    `approver` is asked if the policy or a hook requires approval. If there is no approver, the call is refused until
    `settle` records an answer. `hooks` is the gate of the skills' hooks. Path patterns are relative to `pattern_root`.
    `has_own_log` states whether the host gave the session an audit log.
    """

    def __init__(
        self,
        policy: PolicySource,
        stored: StoredState,
        restrictions: Restrictions,
        records: SessionRecords,
        hooks: Gate,
        *,
        approver: Approver | None,
        pattern_root: str | None,
        has_own_log: bool,
    ) -> None:
        self.pattern_root = pattern_root
        self._stored, self._restrictions = stored, restrictions
        self.approvals = ApprovalMemory()
        policy_gate, restriction_gate, approval_gate = standard_gates(
            policy,
            self.restrictions,
            approver=approver,
            memory=self.approvals,
            session_id=records.events.session_id,
            workspace=pattern_root,
            record=records.record,
        )
        recorded: tuple[Gate, ...] = () if has_own_log else (NoLogGate(policy),)
        # Gates for calls of the user, who has approved them already: policy and hooks. Restrictions are for models.
        self.user_gates: tuple[Gate, ...] = (policy_gate, *recorded, hooks)
        # Approval comes last, so no person is asked about a call that could not be recorded or that a hook refuses.
        self.gates: tuple[Gate, ...] = (policy_gate, *recorded, restriction_gate, hooks, approval_gate)

    async def restrictions(self) -> tuple[Restriction, ...]:
        """Return the restrictions that apply now. After SessionNotFoundError or StoreError, the call is refused."""
        return self._restrictions.of(await self._stored.current())

    def settle(self, request_id: str, answer: Approval | Refusal) -> ApprovalRequest:
        """Answer a call that was refused with `approval_required`. The call may then be sent again.

        Raise InvalidArgumentsError if this session has no request with this id.
        """
        settled = self.approvals.settle(request_id, answer)
        if settled is None:
            raise InvalidArgumentsError((f"this session has no open approval request {request_id[:80]!r}",))
        return settled
