"""The call that is running in this task: which tool runs for which call, and what it has used so far.

The executor opens a `RunningCall` for one tool and one call, and closes it when the tool has returned. Every `run`
begins with `require_executor(self, call)`, so a program that holds a tool cannot run it past validation, gates and
audit, not even from inside another tool. This guards against mistakes; code in this process that means harm has other
means. A tool that asks a model reports what that cost with `report_usage`, from wherever it runs; the executor gives
every call its own meter, so that calls at the same time do not share one.
"""

from __future__ import annotations

import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.errors import SkillError

if TYPE_CHECKING:
    from prowess.tools.spec import Tool, ToolCall

_counting = threading.Lock()  # one for all calls: it is held for a few additions


class NotThroughExecutorError(SkillError, RuntimeError):
    """A tool was run by something other than its executor; nothing was done."""

    tool: str
    sentence = "tool {tool!r} was not called through ToolExecutor.call, so it did nothing"


class Usage(Struct, kw_only=True):
    """The meter of one call. `cost_usd` is in US dollars; `retry_count` counts the attempts after the first.

    `approved_by` is who answered if the tool itself asked a person.
    """

    tokens: int = 0
    cost_usd: float = 0.0
    retry_count: int = 0
    cached: bool = False
    approved_by: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to report."""
        return not (self.tokens or self.cost_usd or self.retry_count or self.cached)

    def add(self, *, tokens: int = 0, cost_usd: float = 0.0, retries: int = 0) -> None:
        """Add to the meter; safe from several threads. ValueError for an amount below zero."""
        if tokens < 0 or cost_usd < 0 or retries < 0:
            raise ValueError("a call cannot give back what it used")
        with _counting:
            self.tokens += tokens
            self.cost_usd += cost_usd
            self.retry_count += retries


class RunningCall:
    """One tool, and what it wraps, for one call; open inside `with`. For executors.

    A task that outlives the call keeps the object, closed.
    """

    __slots__ = ("_token", "call", "open", "tool", "usage")

    def __init__(self, tool: Tool, call: ToolCall) -> None:
        self.tool, self.call = tool, call
        self.usage = Usage()
        self.open = True

    def __enter__(self) -> None:
        self._token = _running.set(self)

    def __exit__(self, *failure: object) -> None:
        self.open = False
        _running.reset(self._token)


_running: ContextVar[RunningCall | None] = ContextVar("prowess_running_call", default=None)


def running_call() -> RunningCall | None:
    """Return the call that is open here, in this task or in a thread that it started."""
    found = _running.get()
    return found if found is not None and found.open else None


def require_executor(tool: Tool, call: ToolCall) -> None:
    """Return only if an executor is running `tool`, or a wrapper around it, for this very `call`.

    Raises:
        NotThroughExecutorError: in every other case.
    """
    found = running_call()
    if found is None or found.call is not call or not _leads_to(found.tool, tool):
        raise NotThroughExecutorError(tool.spec.name)


def _leads_to(outer: object, tool: Tool) -> bool:
    while outer is not None:
        if outer is tool:
            return True
        outer = getattr(outer, "wrapped", None)
    return False


def current_usage() -> Usage | None:
    """Return the meter of the call that is running here; None outside of a call."""
    found = running_call()
    return None if found is None else found.usage


def report_usage(*, tokens: int = 0, cost_usd: float = 0.0) -> None:
    """Add model tokens and their cost to the call that is running here; outside of a call this does nothing."""
    usage = current_usage()
    if usage is not None:
        usage.add(tokens=tokens, cost_usd=cost_usd)


def report_approval(by: str | None) -> None:
    """Note for the record of the call that is running here who answered a question that its tool asked."""
    usage = current_usage()
    if usage is not None:
        usage.approved_by = by or "unknown"
