"""What all wrappers are made of: a tool that is another tool, until a subclass says where it differs."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from prowess.tools.running_call import require_executor

if TYPE_CHECKING:
    from prowess.tools.call import ToolCall
    from prowess.tools.spec import Tool, ToolSpec


class ToolWrapper:
    """Forwards every part of the `Tool` protocol to `wrapped`.

    A subclass overrides `spec` to be offered differently, or `around` to act before and after a run. `run` stays as it
    is, so that no wrapper can forget the check; the call is passed on as the very object that the executor made.
    """

    def __init__(self, wrapped: Tool) -> None:
        self.wrapped = wrapped

    @property
    def spec(self) -> ToolSpec:
        """What is offered."""
        return self.wrapped.spec

    @final
    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Run the wrapped tool, with what this wrapper adds."""
        require_executor(self, call)
        return await self.around(arguments, call)

    async def around(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Run the wrapped tool; an override awaits `self.wrapped.run(arguments, call)`, or not."""
        return await self.wrapped.run(arguments, call)
