"""Adapters for agent frameworks with their own loop: tools and instructions of a session in the framework's types.

Each framework has a module and an extra with its library: `pydantic_ai`, `langchain`, `openai_agents`, and
`agentskills_core` for catalogs. `opentelemetry` turns events into spans. Adapters make no decisions: every call goes
through the `ToolExecutor` of the session.
"""

from __future__ import annotations

from prowess.errors import MissingExtraError

__all__ = ["MissingExtraError"]
