"""What stands before the calls of one session: its policy, its active skills, somebody to ask, a log where one is due.

All of it is looked up for each call, in the newest state of the store: a restriction holds from the first call after
the load, in every process that shares the session, and is gone with the skill. Nothing of it lies in the tools, so no
session restricts another.
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
    """The gates of one session under `policy`, and in `approvals` the answers that were given in it.

    `approver` is asked if the policy or a hook asks; without one nobody is, and such a call waits for `settle`. `hooks`
    is the gate of the skills' hooks. Path patterns are relative to `pattern_root`.
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
        recorded: tuple[Gate, ...] = () if records.has_log else (NoLogGate(policy),)
        # Before what a user starts: a policy or a hook may refuse it; skills restrict models, and the user has been
        # asked already.
        self.user_gates: tuple[Gate, ...] = (policy_gate, *recorded, hooks)
        # Nobody is asked about a call that could not be recorded, or that a hook refuses.
        self.gates: tuple[Gate, ...] = (policy_gate, *recorded, restriction_gate, hooks, approval_gate)

    async def restrictions(self) -> tuple[Restriction, ...]:
        """Return what restricts a call now.

        Raises:
            SessionNotFoundError, StoreError: the state cannot be had; then the call is refused.
        """
        return self._restrictions.of(await self._stored.current())

    def settle(self, request_id: str, answer: Approval | Refusal) -> ApprovalRequest:
        """Answer a call that was refused with `approval_required`; it may then be sent again.

        Raises:
            InvalidArgumentsError: no such request was made in this session.
        """
        settled = self.approvals.settle(request_id, answer)
        if settled is None:
            raise InvalidArgumentsError((f"no call of this session waits for the request {request_id[:80]!r}",))
        return settled
