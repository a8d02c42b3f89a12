"""Skills for the OpenAI Agents SDK.

    agent = Agent(name="Clerk", instructions=skills_instructions(session, "Be brief."), tools=skills_tools(session))

Before every model call, the SDK checks which tools are enabled and calls the instructions function; both return the
current state of the session. An error is the output of its call and begins with `Error:`.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Unpack

from prowess.adapters.hosted import HostedSession, unreadable
from prowess.errors import MissingExtraError
from prowess.runtime.disclosure.skill_tool import SkillTool
from prowess.runtime.tools.list import SPEC as LIST
from prowess.runtime.tools.load import SPEC as LOAD
from prowess.runtime.tools.read import SPEC as READ
from prowess.runtime.tools.run_script import SPEC as RUN_SCRIPT
from prowess.runtime.tools.unload import SPEC as UNLOAD
from prowess.tools.shapes.blocks import call_of, image_of
from prowess.tools.shapes.openai_chat import result_text

try:
    from agents import FunctionTool, ToolGuardrailFunctionOutput, ToolInputGuardrail, ToolOutputImage, ToolOutputText
except ImportError as fault:
    raise MissingExtraError(__name__, "openai-agents", str(fault)) from fault

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from agents import Agent, RunContextWrapper, Tool, ToolInputGuardrailData
    from agents.tool_context import ToolContext

    from prowess.runtime import Session
    from prowess.runtime.call_options import InstructionOptions
    from prowess.tools import ToolResult, ToolSpec

_OF_SKILLS = (LOAD, UNLOAD, READ, RUN_SCRIPT, SkillTool.spec, LIST)


def skills_instructions(
    session: Session, before: str = "", *, budget: int | None = None, **options: Unpack[InstructionOptions]
) -> Callable[[RunContextWrapper[Any], Agent[Any]], Awaitable[str]]:
    """Return the `instructions` of an agent: `before`, then the session's instructions, read at each model call.

    `budget` and `options` are those of `Session.instructions`. Pass an equal `exposure` to `skills_tools`.
    """
    hosted = HostedSession(session, budget, **options)

    async def instructions(context: RunContextWrapper[Any], agent: Agent[Any]) -> str:
        del context, agent
        await hosted.refresh()
        return hosted.instructions(before)

    return instructions


def skills_tools(session: Session, **options: Unpack[InstructionOptions]) -> list[Tool]:
    """Return the `tools` of an agent. One session is one conversation.

    A skill tool is enabled while the session offers it. Functions must be registered before this call.
    """
    hosted = HostedSession(session, **options)
    names = {spec.name for spec in _OF_SKILLS}
    return [_tool(spec, hosted) for spec in (*_OF_SKILLS, *(spec for spec in hosted.specs() if spec.name not in names))]


def guarded(session: Session, tools: Iterable[Tool]) -> list[Tool]:
    """Return copies of an agent's tools with a guardrail that may refuse calls.

    The guardrail refuses calls that the active skills or a policy file do not permit. Only function tools are guarded;
    tools that OpenAI runs are unchanged, because their calls do not reach this process. Approval, hooks and audit do
    not apply to the guarded tools. Register a function with `session.function` if they must apply to the function.
    """
    hosted = HostedSession(session)

    async def permitted(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        call = call_of("", data.context.tool_name, data.context.tool_arguments, ())
        reason = await hosted.refusal(call.name, call.arguments)
        if reason is None:
            return ToolGuardrailFunctionOutput.allow()
        return ToolGuardrailFunctionOutput.reject_content(f"Error: {reason}")

    guard: ToolInputGuardrail[Any] = ToolInputGuardrail(guardrail_function=permitted, name="allowed-tools")
    return [_with_guard(tool, guard) if isinstance(tool, FunctionTool) else tool for tool in tools]


def _with_guard(tool: FunctionTool, guard: ToolInputGuardrail[Any]) -> FunctionTool:
    other = copy.copy(tool)
    other.tool_input_guardrails = [guard, *(tool.tool_input_guardrails or ())]
    return other


def _tool(spec: ToolSpec, hosted: HostedSession) -> FunctionTool:
    async def run(context: ToolContext[Any], given: str) -> object:
        call = call_of(context.tool_call_id, spec.wire_name, given, ())
        if call.unreadable is not None:
            return _output(unreadable(call.unreadable))
        return _output(await hosted.call(call.name, call.arguments, call.id))

    async def is_offered(context: RunContextWrapper[Any], agent: object) -> bool:
        del context, agent
        await hosted.refresh()
        for offered in hosted.specs():
            if offered.name == spec.name:
                # Update the description here, because it may contain the list of skills, and the SDK calls no other
                # function of the tool before a model call.
                tool.description = offered.description
                return True
        return False

    tool = FunctionTool(
        name=spec.wire_name,
        description=spec.description,
        params_json_schema=dict(spec.input_schema),
        on_invoke_tool=run,
        strict_json_schema=False,  # a strict schema would differ from the one that the executor checks
        is_enabled=is_offered,
    )
    return tool


def _output(result: ToolResult) -> object:
    text = result_text(result)
    if (image := image_of(result)) is None:
        return text
    return [ToolOutputText(text=text), ToolOutputImage(image_url=image.url, detail="auto")]
