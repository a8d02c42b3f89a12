"""Tools: what can be called, the one door that every call goes through, and what comes back."""

from __future__ import annotations

from prowess.tools.call import ToolCall
from prowess.tools.door import AroundTheDoorError, require_door
from prowess.tools.executor import ToolExecutor
from prowess.tools.gates import Gate, Proceed, Refuse
from prowess.tools.names import wire_name
from prowess.tools.result import ToolResult
from prowess.tools.spec import Tool, ToolSpec
from prowess.tools.usage import report_usage

__all__ = [
    "AroundTheDoorError",
    "Gate",
    "Proceed",
    "Refuse",
    "Tool",
    "ToolCall",
    "ToolExecutor",
    "ToolResult",
    "ToolSpec",
    "report_usage",
    "require_door",
    "wire_name",
]
