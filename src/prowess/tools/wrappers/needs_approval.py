"""Mark a tool as one that a person must agree to, run by run. The mark is for the approval gate; nothing asks here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess.tools.wrappers.wrapper import ToolWrapper

if TYPE_CHECKING:
    from prowess.tools.spec import Tool, ToolSpec


class NeedsApproval(ToolWrapper):
    """The same tool, with `spec.needs_approval` set to `reason`: one clause that the person will read."""

    def __init__(self, wrapped: Tool, reason: str) -> None:
        super().__init__(wrapped)
        self.reason = reason

    @property
    def spec(self) -> ToolSpec:
        """What is offered, marked."""
        return replace(self.wrapped.spec, needs_approval=self.reason)
