"""Whether a call came through the door: a tool runs for its executor, or not at all.

The executor opens a passage for one tool and one call, and closes it when the tool has returned. Every `run` begins
with `require_door(self, call)`, so a program that holds a tool cannot run it past validation, gates and audit, not
even from inside another tool. The passage also carries what the call used. This guards against mistakes; code in
this process that means harm has other ways.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

from prowess.errors import SkillError

if TYPE_CHECKING:
    from prowess.tools.call import ToolCall
    from prowess.tools.spec import Tool
    from prowess.tools.usage import Usage


class AroundTheDoorError(SkillError, RuntimeError):
    """A tool was run by something other than its executor; nothing was done."""

    def __init__(self, tool: str) -> None:
        super().__init__(tool)
        self.tool = tool

    def __str__(self) -> str:
        return f"tool {self.tool!r} was not called through ToolExecutor.call, so it did nothing"


class Passage:
    """The way to one tool, and to what it wraps, for one call; open inside `with`. For executors.

    A task that outlives the call keeps the passage, closed. `usage` is None while nobody has used anything.
    """

    __slots__ = ("_token", "call", "open", "tool", "usage")

    def __init__(self, tool: Tool, call: ToolCall) -> None:
        self.tool, self.call = tool, call
        self.usage: Usage | None = None
        self.open = True

    def __enter__(self) -> None:
        self._token = _passage.set(self)

    def __exit__(self, *failure: object) -> None:
        self.open = False
        _passage.reset(self._token)


_passage: ContextVar[Passage | None] = ContextVar("prowess_passage", default=None)


def current_passage() -> Passage | None:
    """Return the passage that is open here, in this task or in a thread that it started."""
    found = _passage.get()
    return found if found is not None and found.open else None


def require_door(tool: Tool, call: ToolCall) -> None:
    """Return only where an executor is running `tool`, or a wrapper around it, for this very `call`.

    Raises:
        AroundTheDoorError: in every other case.
    """
    found = _passage.get()
    if found is None or not found.open or found.call is not call:
        raise AroundTheDoorError(tool.spec.name)
    if found.tool is not tool and not _leads_to(found.tool, tool):
        raise AroundTheDoorError(tool.spec.name)


def _leads_to(outer: object, tool: Tool) -> bool:
    while outer is not None:
        if outer is tool:
            return True
        outer = getattr(outer, "wrapped", None)
    return False
