"""Tools: what can be called, the one door that every call goes through, and what comes back."""

from __future__ import annotations

from prowess.tools.call import ToolCall
from prowess.tools.executor import ToolExecutor
from prowess.tools.gates import Allow, Gate, Refuse
from prowess.tools.names import wire_name
from prowess.tools.result import ToolResult
from prowess.tools.spec import Tool, ToolSpec

__all__ = ["Allow", "Gate", "Refuse", "Tool", "ToolCall", "ToolExecutor", "ToolResult", "ToolSpec", "wire_name"]
