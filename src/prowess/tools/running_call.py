"""The call that is running in this task: its tool, and the resources it has used so far.

The executor opens a `RunningCall` for one tool and one call, and closes it when the tool has returned. Every `run`
begins with `require_executor(self, call)`. So a program that has a tool object cannot run the tool without validation,
gates and audit, not even from inside another tool. This check prevents mistakes; it does not stop malicious code in
this process. A tool that asks a model reports the cost with `report_usage`, from any place in its code. Concurrent
calls have separate usage counters.
"""

from __future__ import annotations

import threading
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.errors import SkillError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.tools.spec import Tool, ToolCall

_counting = threading.Lock()  # one lock for all calls: it is held only for a few additions


class NotThroughExecutorError(SkillError, RuntimeError):
    """A tool was run by code other than its executor. The tool had no effect."""

    tool: str
    sentence = "tool {tool!r} was not called through ToolExecutor.call, so it did nothing"


class Usage(Struct, kw_only=True):
    """The usage counters of one call. If the tool itself asked a person, `approved_by` is the approver."""

    tokens: int = 0
    cost_usd: float = 0.0
    retry_count: int = 0  # attempts after the first
    cached: bool = False
    approved_by: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is no usage to report. `approved_by` does not count."""
        return not (self.tokens or self.cost_usd or self.retry_count or self.cached)

    def add(self, *, tokens: int = 0, cost_usd: float = 0.0, retries: int = 0) -> None:
        """Add to the counters. Safe to call from several threads. Raise ValueError for a negative amount."""
        if tokens < 0 or cost_usd < 0 or retries < 0:
            raise ValueError("usage cannot be negative")
        with _counting:
            self.tokens += tokens
            self.cost_usd += cost_usd
            self.retry_count += retries


class RunningCall:
    """The run of one tool for one call, open inside `with`. Used by executors. Wrapped tools are part of the run.

    `facts` are added to the records that the tool writes. `open` becomes false when the call ends, because a task that
    the call started may run longer.
    """

    __slots__ = ("_token", "call", "facts", "open", "tool", "usage")

    def __init__(self, tool: Tool, call: ToolCall, facts: Mapping[str, object] = MappingProxyType({})) -> None:
        self.tool, self.call, self.facts = tool, call, facts
        self.usage = Usage()
        self.open = True

    def __enter__(self) -> None:
        self._token = _running.set(self)

    def __exit__(self, *failure: object) -> None:
        self.open = False
        _running.reset(self._token)


_running: ContextVar[RunningCall | None] = ContextVar("prowess_running_call", default=None)


def running_call() -> RunningCall | None:
    """Return the call that is running in this task, or in the task that started this thread; None outside of a call."""
    found = _running.get()
    return found if found is not None and found.open else None


def require_executor(tool: Tool, call: ToolCall) -> None:
    """Raise NotThroughExecutorError unless an executor runs `tool`, or a wrapper of `tool`, for this `call`."""
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
    """Return the usage counters of the call that is running in this task; None outside of a call."""
    found = running_call()
    return None if found is None else found.usage


def report_usage(*, tokens: int = 0, cost_usd: float = 0.0) -> None:
    """Add model tokens and their cost to the call that is running in this task. Does nothing outside of a call."""
    usage = current_usage()
    if usage is not None:
        usage.add(tokens=tokens, cost_usd=cost_usd)


def report_approval(by: str | None) -> None:
    """Record who answered a question that the running tool asked. Does nothing outside of a call."""
    usage = current_usage()
    if usage is not None:
        usage.approved_by = by or "unknown"
