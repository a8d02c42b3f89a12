"""The first gate: what a policy denies is refused. What it asks about passes here, for the approval gate to ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.errors import PolicyDeniedError
from prowess.policy import decision as policy_decision
from prowess.policy.decision import Ask, Deny
from prowess.policy.rule import PolicyCall
from prowess.tools.gates import PROCEED, Proceed, Refuse

if TYPE_CHECKING:
    from prowess.policy.policy import Policy
    from prowess.tools.call import ToolCall
    from prowess.tools.spec import ToolSpec


class PolicyGate:
    """Holds calls against `policy`; `workspace` is the directory that its path globs hang from."""

    def __init__(self, policy: Policy, *, workspace: str | None = None) -> None:
        self._policy, self._workspace = policy, workspace

    async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed | Refuse:
        """Refuse what is denied."""
        del spec
        decision = self._policy.decide(PolicyCall(tool=call.name, arguments=call.arguments), self._workspace)
        if isinstance(decision, Deny):
            rule = decision.rule if decision.origin is None else str(decision.origin)
            return Refuse(error=PolicyDeniedError(rule, decision.reason), rule=rule)
        if isinstance(decision, Ask):
            return PROCEED
        return _by(decision)

    def settled(self, spec: ToolSpec) -> Proceed | None:
        """Return what lets every call of the tool pass, where neither arguments nor files have a part in it."""
        match self._policy.decide_ever(spec.name):
            case policy_decision.Allow() as decision:
                return _by(decision)
            case Ask():
                return PROCEED
            case _:
                return None


def _by(decision: policy_decision.Allow) -> Proceed:
    return Proceed(by=decision.rule if decision.origin is None else str(decision.origin))
