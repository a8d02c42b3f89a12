"""The third gate: where the policy asks, somebody has to say yes.

It decides again instead of being handed what the gates before it found, because deciding is pure and cheap, and what
was active a moment ago may have changed. A skill's pre-approval answers for a policy that asks by default, never for
a rule that asks, nor for a tool that its host marked (`ToolSpec.needs_approval`).

Each answer is recorded before it counts, with who gave it, and the call is refused where that fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from prowess.errors import ApprovalRequiredError, PolicyDeniedError
from prowess.policy import decision as policy_decision
from prowess.policy.approval import ApprovalRequest, Refusal, Unanswered
from prowess.policy.decision import Ask, Deny, strictest
from prowess.policy.restriction import decide
from prowess.policy.rule import PolicyCall
from prowess.tools.call_audit import shortened
from prowess.tools.gates.gate import PROCEED, Proceed, Refuse

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from prowess.policy.approval import Answer, ApprovalMemory, Approver
    from prowess.policy.decision import Decision
    from prowess.policy.policy import Policy
    from prowess.policy.restriction import Restriction
    from prowess.tools.call import ToolCall
    from prowess.tools.gates.gate import ActiveRestrictions
    from prowess.tools.spec import ToolSpec

    Record = Callable[[str, str, Mapping[str, object]], Awaitable[None]]

APPROVAL = "approval"


class ApprovalGate:
    """Asks `approver` about calls that `policy` asks about, once for the same bytes while `memory` lives.

    `record` writes to the log of the session: kind, id of the call, data.
    """

    def __init__(
        self,
        policy: Policy,
        active: ActiveRestrictions,
        approver: Approver,
        memory: ApprovalMemory,
        *,
        session_id: str | None = None,
        workspace: str | None = None,
        record: Record | None = None,
    ) -> None:
        self._policy, self._active, self._approver, self._memory = policy, active, approver, memory
        self._session_id, self._workspace = session_id, workspace
        self._record = record
        self._asking: dict[str, anyio.Event] = {}

    async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed | Refuse:
        """Refuse what nobody approved."""
        decision = self._decide(call, spec)
        if isinstance(decision, Deny):  # only where this gate stands without the policy gate before it
            return Refuse(error=PolicyDeniedError(decision.rule, decision.reason), rule=decision.rule)
        if isinstance(decision, policy_decision.Allow):
            return PROCEED
        active = await self._active()
        rule = decision.rule if decision.origin is None else str(decision.origin)
        if decision.by_default and (skill := self._preapproved_by(call, active)) is not None:
            return Proceed(by=f"allowed-tools of skill {skill!r}")
        request = ApprovalRequest(
            tool=call.name,
            arguments=call.arguments,
            reason=decision.reason,
            skills=tuple(item.digest for item in active if item.digest is not None),
            session_id=self._session_id,
        )
        answer, remembered = await self._ask(request)
        if isinstance(answer, Unanswered):
            return Refuse(
                error=ApprovalRequiredError(call.name, request.id, decision.reason, answer.instead), rule=rule
            )
        by = shortened(answer.by or "unknown")
        said: dict[str, object] = {"tool": call.name, "request": request.id, "rule": shortened(rule), "by": by}
        if isinstance(answer, Refusal):
            await self._note("approval.refused", call, {**said, "remembered": remembered})
            return Refuse(error=PolicyDeniedError(APPROVAL, answer.reason), rule=APPROVAL)
        await self._note("approval.given", call, {**said, "scope": answer.scope, "remembered": remembered})
        return Proceed(by=by)

    def _decide(self, call: ToolCall, spec: ToolSpec) -> Decision:
        decision = self._policy.decide(PolicyCall(tool=call.name, arguments=call.arguments), self._workspace)
        if spec.needs_approval is None:
            return decision
        return strictest((decision, Ask(rule="needs-approval", reason=spec.needs_approval)))

    def _preapproved_by(self, call: ToolCall, active: Sequence[Restriction]) -> str | None:
        listed = decide(call.name, call.arguments, active, self._workspace)
        return listed.preapproved_by if isinstance(listed, policy_decision.Allow) else None

    async def _note(self, kind: str, call: ToolCall, data: Mapping[str, object]) -> None:
        if self._record is not None:
            await self._record(kind, call.id, data)

    async def _ask(self, request: ApprovalRequest) -> tuple[Answer, bool]:
        """Return the answer, and whether it was known already."""
        # The same request of a parallel call waits for the answer to the first instead of being asked beside it.
        while request.id in self._asking:
            await self._asking[request.id].wait()
        if (known := self._memory.ask(request)) is not None:
            return known, True
        answered = self._asking[request.id] = anyio.Event()
        try:
            answer = await self._approver.approve(request)
            if isinstance(answer, Unanswered):
                self._memory.unanswered(request)
            else:
                self._memory.answered(request, answer)
            return answer, False
        finally:
            del self._asking[request.id]
            answered.set()
