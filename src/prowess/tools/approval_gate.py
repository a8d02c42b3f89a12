"""The third gate: where the policy asks, somebody has to say yes.

It decides again instead of being handed what the gates before it found, because deciding is pure and cheap, and what
was active a moment ago may have changed. A skill's pre-approval answers for a policy that asks by default, never for
a rule that asks, nor for a tool that its host marked (`ToolSpec.needs_approval`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from prowess.errors import ApprovalRequiredError, PolicyDeniedError
from prowess.policy import decision as policy_decision
from prowess.policy.approval import Approval, ApprovalRequest, Refusal, Unanswered
from prowess.policy.decision import Ask, Deny, strictest
from prowess.policy.restriction import decide
from prowess.policy.rule import PolicyCall
from prowess.tools.gates import Allow, Refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.policy.approval import Answer, ApprovalMemory, Approver
    from prowess.policy.decision import Decision
    from prowess.policy.policy import Policy
    from prowess.policy.restriction import Restriction
    from prowess.tools.call import ToolCall
    from prowess.tools.restriction_gate import ActiveRestrictions
    from prowess.tools.spec import ToolSpec

APPROVAL = "approval"


class ApprovalGate:
    """Asks `approver` about calls that `policy` asks about, once for the same bytes while `memory` lives."""

    def __init__(
        self,
        policy: Policy,
        active: ActiveRestrictions,
        approver: Approver,
        memory: ApprovalMemory,
        *,
        session_id: str | None = None,
        workspace: str | None = None,
    ) -> None:
        self._policy, self._active, self._approver, self._memory = policy, active, approver, memory
        self._session_id, self._workspace = session_id, workspace
        self._asking: dict[str, anyio.Event] = {}

    async def check(self, call: ToolCall, spec: ToolSpec) -> Allow | Refuse:
        """Refuse what nobody approved."""
        decision = self._decide(call, spec)
        if isinstance(decision, Deny):  # only where this gate stands without the policy gate before it
            return Refuse(error=PolicyDeniedError(decision.rule, decision.reason), rule=decision.rule)
        if isinstance(decision, policy_decision.Allow):
            return Allow()
        active = await self._active()
        if decision.by_default and self._is_preapproved(call, active):
            return Allow()
        request = ApprovalRequest(
            tool=call.name,
            arguments=call.arguments,
            reason=decision.reason,
            skills=tuple(item.digest for item in active if item.digest is not None),
            session_id=self._session_id,
        )
        match await self._ask(request):
            case Approval():
                return Allow()
            case Refusal(reason=reason):
                return Refuse(error=PolicyDeniedError(APPROVAL, reason), rule=APPROVAL)
            case Unanswered():
                rule = decision.rule if decision.origin is None else str(decision.origin)
                return Refuse(error=ApprovalRequiredError(call.name, request.id, decision.reason), rule=rule)

    def _decide(self, call: ToolCall, spec: ToolSpec) -> Decision:
        decision = self._policy.decide(PolicyCall(tool=call.name, arguments=call.arguments), self._workspace)
        if spec.needs_approval is None:
            return decision
        return strictest((decision, Ask(rule="needs-approval", reason=spec.needs_approval)))

    def _is_preapproved(self, call: ToolCall, active: Sequence[Restriction]) -> bool:
        listed = decide(call.name, call.arguments, active, self._workspace)
        return isinstance(listed, policy_decision.Allow) and listed.preapproved_by is not None

    async def _ask(self, request: ApprovalRequest) -> Answer:
        # The same request of a parallel call waits for the answer to the first instead of being asked beside it.
        while request.id in self._asking:
            await self._asking[request.id].wait()
        if (known := self._memory.ask(request)) is not None:
            return known
        answered = self._asking[request.id] = anyio.Event()
        try:
            answer = await self._approver.approve(request)
            if isinstance(answer, Unanswered):
                self._memory.unanswered(request)
            else:
                self._memory.answered(request, answer)
            return answer
        finally:
            del self._asking[request.id]
            answered.set()
