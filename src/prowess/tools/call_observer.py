"""Observers of calls: told what becomes of each call, after the audit log has it. They change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.tools.spec import ToolCall

Outcome = Literal["success", "failure", "cancelled"]


class CallObserver(Protocol):
    """Is told of one call: once `started` and once `finished`, or once `refused`. It must raise only cancellation.

    `tool` is the canonical name; of a tool that does not exist it is what the caller wrote, shortened.
    """

    @property
    def wanted(self) -> bool:
        """Whether it wants to be told now; asked before each of the methods below."""

    async def started(self, call: ToolCall) -> None:
        """The call passed every gate and is about to run."""

    async def finished(
        self, call: ToolCall, outcome: Outcome, code: str | None, duration_ms: int, result: Mapping[str, object] | None
    ) -> None:
        """The tool came back; `result` is what the caller gets, None if that is an error."""

    async def refused(self, tool: str, call_id: str, code: str, rule: str | None, skill: str | None) -> None:
        """The call ended before its tool."""
