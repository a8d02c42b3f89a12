"""The second gate: what the active skills leave of the tools.

The active skills are looked up for each call, from the state of the session that makes it, so a restriction holds from
the first call after activation, is gone with the skill, and never reaches another session.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from prowess.errors import ToolNotAllowedError
from prowess.policy.decision import Deny
from prowess.policy.restriction import Restriction, decide
from prowess.policy.tool_names import SKILL_TOOLS, canonical_tool_name
from prowess.tools.gates import PROCEED, Proceed, Refuse

if TYPE_CHECKING:
    from prowess.tools.call import ToolCall
    from prowess.tools.spec import ToolSpec

ActiveRestrictions = Callable[[], Awaitable[Sequence[Restriction]]]


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
            skill = decision.skill or ""
            error = ToolNotAllowedError(call.name, skill, decision.reason)
            return Refuse(error=error, rule=decision.rule, skill=skill)
        return PROCEED

    def settled(self, spec: ToolSpec) -> Proceed | None:
        """Tell of the tools that no skill can take away."""
        return PROCEED if canonical_tool_name(spec.name) in SKILL_TOOLS else None
