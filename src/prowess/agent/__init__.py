"""Agents: the turn loop for any model, sub-agents for skills with `context: fork`, and a scripted model for tests."""

from __future__ import annotations

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
