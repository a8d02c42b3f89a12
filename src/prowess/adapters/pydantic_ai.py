"""Skills for pydantic-ai agents, as a toolset: `Agent(model, toolsets=[skills_toolset(session)])`.

The framework requests tools and instructions from a toolset before every model call, so both are always current. A
failed call is a failed tool result with the message of Prowess; the failure does not use up the retries of a run.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Unpack

from prowess.adapters.hosted import HostedSession, unreadable
from prowess.errors import MissingExtraError
from prowess.tools.shapes.blocks import call_of, image_of, text_of

try:
    from pydantic_ai.exceptions import ToolFailed
    from pydantic_ai.messages import BinaryContent
    from pydantic_ai.tools import ToolDefinition
    from pydantic_ai.toolsets import AbstractToolset, WrapperToolset
    from pydantic_ai.toolsets.abstract import ToolsetTool
except ImportError as fault:
    raise MissingExtraError(__name__, "pydantic-ai", str(fault)) from fault

if TYPE_CHECKING:
    from pydantic_ai.tools import RunContext

    from prowess.runtime import Session
    from prowess.runtime.call_options import InstructionOptions
    from prowess.tools import ToolResult, ToolSpec


def skills_toolset(
    session: Session,
    *,
    id: str = "skills",  # noqa: A002 -- the framework's parameter name
    budget: int | None = None,
    **options: Unpack[InstructionOptions],
) -> SkillsToolset:
    """Return a toolset with the session's tools and instructions. One session is one conversation.

    `budget` and `options` are those of `Session.instructions`. `id` distinguishes the toolsets of one agent.
    """
    return SkillsToolset(HostedSession(session, budget, **options), id)


def guarded(session: Session, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
    """Return a toolset that refuses calls that the active skills or a policy file do not permit.

    Approval, hooks and audit do not apply to the tools of `toolset`; use `session.function` if they must apply.
    """
    return _Guarded(toolset, HostedSession(session))


class SkillsToolset(AbstractToolset[Any]):
    """The tools of one session, created again for each step of a run."""

    def __init__(self, hosted: HostedSession, name: str) -> None:
        self._hosted, self._name = hosted, name

    @property
    def id(self) -> str:
        """The name that distinguishes this toolset in an agent."""
        return self._name

    async def for_run_step(self, ctx: RunContext[Any]) -> SkillsToolset:
        """Read catalog and store again, before tools and instructions are requested."""
        del ctx
        await self._hosted.refresh()
        return self

    async def get_instructions(self, ctx: RunContext[Any]) -> str | None:
        """Return the instructions for the next model call."""
        del ctx
        return self._hosted.instructions() or None

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """Return the tools for the next model call."""
        del ctx
        return {spec.wire_name: self._tool(spec) for spec in self._hosted.specs()}

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:  # noqa: ANN401 -- the framework's signature
        """Run a call through the session's executor."""
        del tool
        return _answer(await self._hosted.call(name, tool_args, ctx.tool_call_id))

    def _tool(self, spec: ToolSpec) -> ToolsetTool[Any]:
        definition = ToolDefinition(
            name=spec.wire_name,
            description=spec.description,
            parameters_json_schema=dict(spec.input_schema),
            strict=False,  # a strict schema would differ from the one that the executor checks
            sequential=True,  # calls run in the order of the model: the first may restrict the second
        )
        # The executor checks the arguments, so no call is sent back for a retry.
        return ToolsetTool(toolset=self, tool_def=definition, max_retries=0, args_validator=_Arguments())


class _Guarded(WrapperToolset[Any]):
    def __init__(self, wrapped: AbstractToolset[Any], hosted: HostedSession) -> None:
        super().__init__(wrapped)
        self._hosted = hosted

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:  # noqa: ANN401 -- the framework's signature
        if (reason := await self._hosted.refusal(name, tool_args)) is not None:
            raise ToolFailed(reason)
        return await super().call_tool(name, tool_args, ctx, tool)


class _Arguments:
    """Accepts every JSON object and fails for all other arguments with the message of Prowess."""

    def validate_json(self, input: str | bytes | bytearray, **_: Any) -> dict[str, Any]:  # noqa: A002, ANN401 -- the framework's signature
        call = call_of("", "", bytes(input) if isinstance(input, bytearray) else input, ())
        if call.unreadable is not None:
            raise ToolFailed(text_of(unreadable(call.unreadable)))
        return self.validate_python(call.arguments)

    def validate_python(self, input: Any, **_: Any) -> dict[str, Any]:  # noqa: A002, ANN401 -- as above
        if not isinstance(input, dict):
            raise ToolFailed(text_of(unreadable("Arguments must be a JSON object")))
        return input


def _answer(result: ToolResult) -> str | list[str | BinaryContent]:
    text = text_of(result)
    if not result.success:
        raise ToolFailed(text)
    if (image := image_of(result)) is None:
        return text
    return [text, BinaryContent(data=base64.b64decode(image.data), media_type=image.media_type)]
