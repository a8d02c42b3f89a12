"""Agents: the turn loop for any model, sub-agents for skills with `context: fork`, and a scripted model for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.lazy_names import lazy_names

if TYPE_CHECKING:
    from prowess.agent.agent import Agent, model_named
    from prowess.agent.create_skill import CreateSkillTool
    from prowess.agent.instructions import SystemPrompt, system_prompt
    from prowess.agent.local import LocalModel
    from prowess.agent.model import (
        AgentResult,
        AgentStep,
        AssistantMessage,
        Budget,
        CallFinished,
        CallStarted,
        Ended,
        Message,
        Model,
        ModelError,
        ModelRequest,
        ModelSettings,
        Opaque,
        Part,
        Said,
        SkillActivated,
        SkillActivating,
        SkillDeactivated,
        TextDelta,
        ToolMessage,
        ToolUse,
        TurnStarted,
        Usage,
        UserMessage,
    )
    from prowess.agent.pydantic_ai_model import PydanticAIModel
    from prowess.agent.scripted import ScriptedModel, ScriptedTurn
    from prowess.agent.turn_loop import AgentForkRunner

__all__ = [
    "Agent",
    "AgentForkRunner",
    "AgentResult",
    "AgentStep",
    "AssistantMessage",
    "Budget",
    "CallFinished",
    "CallStarted",
    "CreateSkillTool",
    "Ended",
    "LocalModel",
    "Message",
    "Model",
    "ModelError",
    "ModelRequest",
    "ModelSettings",
    "Opaque",
    "Part",
    "PydanticAIModel",
    "Said",
    "ScriptedModel",
    "ScriptedTurn",
    "SkillActivated",
    "SkillActivating",
    "SkillDeactivated",
    "SystemPrompt",
    "TextDelta",
    "ToolMessage",
    "ToolUse",
    "TurnStarted",
    "Usage",
    "UserMessage",
    "model_named",
    "system_prompt",
]

# Module -> its names, which are imported on first use: who needs `ModelSettings` alone does not pay for the turn loop.
_HOMES = {
    "agent": ("Agent", "model_named"),
    "create_skill": ("CreateSkillTool",),
    "instructions": ("SystemPrompt", "system_prompt"),
    "local": ("LocalModel",),
    "model": (
        "AgentResult",
        "AgentStep",
        "AssistantMessage",
        "Budget",
        "CallFinished",
        "CallStarted",
        "Ended",
        "Message",
        "Model",
        "ModelError",
        "ModelRequest",
        "ModelSettings",
        "Opaque",
        "Part",
        "Said",
        "SkillActivated",
        "SkillActivating",
        "SkillDeactivated",
        "TextDelta",
        "ToolMessage",
        "ToolUse",
        "TurnStarted",
        "Usage",
        "UserMessage",
    ),
    "pydantic_ai_model": ("PydanticAIModel",),
    "scripted": ("ScriptedModel", "ScriptedTurn"),
    "turn_loop": ("AgentForkRunner",),
}

if not TYPE_CHECKING:  # a type checker that sees `__getattr__` would accept any name
    __getattr__ = lazy_names(__name__, _HOMES)
