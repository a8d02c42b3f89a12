"""The calls of a session as events: what the executor tells its observer, with the skill under which it happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.errors import ToolNotAllowedError
from prowess.runtime.context import find_active
from prowess.runtime.event import RestrictionPrevented, ToolFinished, ToolRefused, ToolStarted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.runtime.context import SessionContext
    from prowess.tools import ToolCall
    from prowess.tools.call_observer import Outcome


class CallEvents:
    """A `CallObserver` that lets events happen: under the skill that was loaded last, or by the one that refuses."""

    def __init__(self, context: SessionContext) -> None:
        self._context = context

    @property
    def wanted(self) -> bool:
        """Whether anybody wants events."""
        return self._context.events.wanted

    async def started(self, call: ToolCall) -> None:
        """Let `tool.started` happen."""
        context = self._context
        content = {"arguments": call.arguments}
        await context.events.tell(ToolStarted, call.id, context.stored.state.latest, content=content, tool=call.name)

    async def finished(
        self, call: ToolCall, outcome: Outcome, code: str | None, duration_ms: int, result: Mapping[str, object] | None
    ) -> None:
        """Let `tool.finished` happen."""
        context = self._context
        await context.events.tell(
            ToolFinished,
            call.id,
            context.stored.state.latest,
            content={} if result is None else {"result": result},
            tool=call.name,
            outcome=outcome,
            code=code,
            duration_ms=duration_ms,
        )

    async def refused(self, tool: str, call_id: str, code: str, rule: str | None, skill: str | None) -> None:
        """Let `tool.refused` happen, and `restriction.prevented` where a skill restricts the tool."""
        context = self._context
        state = context.stored.state
        by = state.latest if skill is None else find_active(state, skill) or skill
        await context.events.tell(ToolRefused, call_id, by, tool=tool, code=code, rule=rule)
        if code == ToolNotAllowedError.code:
            await context.events.tell(RestrictionPrevented, call_id, by, tool=tool, reason=rule)
