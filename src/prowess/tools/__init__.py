"""Tools, their results, and the executor that every tool call goes through."""

from __future__ import annotations

from prowess.tools.executor import ToolExecutor
from prowess.tools.gates import Gate, Proceed, Refuse
from prowess.tools.result import ToolResult
from prowess.tools.running_call import NotThroughExecutorError, report_usage, require_executor
from prowess.tools.spec import Tool, ToolCall, ToolSpec, wire_name

__all__ = [
    "Gate",
    "NotThroughExecutorError",
    "Proceed",
    "Refuse",
    "Tool",
    "ToolCall",
    "ToolExecutor",
    "ToolResult",
    "ToolSpec",
    "report_usage",
    "require_executor",
    "wire_name",
]
