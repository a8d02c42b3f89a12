"""Skills for LangChain agents and LangGraph graphs.

    agent = create_agent(model, middleware=[skills_middleware(session)])

The middleware adds the current tools and instructions to every model call. In your own graph, use the tools from
`skills_tools`, and call `skills_instructions` in the model's node. An error becomes a tool message with status `error`.
The complete result of a success is the artifact of its message, for programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from prowess.adapters.hosted import CallOrder, HostedSession, unreadable
from prowess.errors import InvalidArgumentsError, MissingExtraError
from prowess.tools.shapes.blocks import call_of, text_of

try:
    from langchain.agents.middleware import AgentMiddleware, hook_config
    from langchain_core.messages import AIMessage, SystemMessage, ToolMessage
    from langchain_core.tools import BaseTool, ToolException
    from pydantic import PrivateAttr
except ImportError as fault:
    raise MissingExtraError(__name__, "langchain", str(fault)) from fault

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langchain.agents.middleware import AgentState, ModelRequest, ModelResponse
    from langchain_core.messages import InvalidToolCall, ToolCall
    from langgraph.prebuilt.tool_node import ToolCallRequest
    from langgraph.runtime import Runtime
    from langgraph.types import Command

    from prowess.runtime import Session, SyncSession
    from prowess.runtime.call_options import InstructionOptions
    from prowess.tools import ToolResult, ToolSpec

_NO_IMAGE = "the image is in the artifact of this message, which only programs can read"


def skills_middleware(
    session: Session | SyncSession, *, budget: int | None = None, **options: Unpack[InstructionOptions]
) -> SkillsMiddleware:
    """Return the middleware that gives an agent of `create_agent` the session's tools and instructions.

    One session is one conversation. A `Session` needs `ainvoke` or `astream`; `invoke` and `stream` need a
    `SyncSession`. `budget` and `options` are those of `Session.instructions`. A call of another tool of the agent is
    refused if the active skills or a policy file do not permit it. Approval, hooks and audit apply only to the
    session's tools. Register a function with `session.function` if they must apply to the function.
    """
    return SkillsMiddleware(HostedSession(session, budget, **options))


def skills_tools(session: Session | SyncSession, **options: Unpack[InstructionOptions]) -> list[BaseTool]:
    """Return the tools that the session offers now, for your own graph."""
    return _tools(HostedSession(session, **options))


def skills_instructions(
    session: Session, before: str = "", *, budget: int | None = None, **options: Unpack[InstructionOptions]
) -> Callable[[], Awaitable[SystemMessage]]:
    """Return an async function for the next system message: `before`, then the instructions of the session."""
    hosted = HostedSession(session, budget, **options)

    async def instructions() -> SystemMessage:
        await hosted.refresh()
        return SystemMessage(hosted.instructions(before))

    return instructions


class SkillsMiddleware(AgentMiddleware[Any, Any, Any]):
    """The middleware that `skills_middleware` returns."""

    def __init__(self, hosted: HostedSession) -> None:
        super().__init__()
        self._hosted, self._order = hosted, CallOrder()
        self.tools = _tools(hosted)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Call the model with the current tools and instructions."""
        return handler(self._asked(request, self._hosted.blocking().instructions()))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """Async form of `wrap_model_call`."""
        await self._hosted.refresh()
        return await handler(self._asked(request, self._hosted.instructions()))

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Answer calls whose arguments are not JSON, because a message that has only such calls would end the run."""
        del runtime
        said = state["messages"][-1]
        if not isinstance(said, AIMessage):
            return None
        ours = {spec.wire_name for spec in self._hosted.specs()}
        answers = [_malformed(call) for call in said.invalid_tool_calls if call["name"] in ours]
        if not answers:
            return None
        return {"messages": answers} if said.tool_calls else {"messages": answers, "jump_to": "model"}

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        """Run a call. A tool of the agent itself runs only if active skills and policy files permit the call."""
        request = self._found(request)
        call = request.tool_call
        # Threads start in any order; without threads, calls arrive in the order of the model.
        with self._order.turn(call["id"] or "", _calls_before(request)):
            if not isinstance(request.tool, SessionTool):
                reason = self._hosted.blocking().refusal(call["name"], call["args"])
                if reason is not None:
                    return _refused(call, reason)
            return handler(request)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
    ) -> ToolMessage | Command[Any]:
        """Async form of `wrap_tool_call`."""
        request = self._found(request)
        call = request.tool_call
        if not isinstance(request.tool, SessionTool):
            reason = await self._hosted.refusal(call["name"], call["args"])
            if reason is not None:
                return _refused(call, reason)
        return await handler(request)

    def _asked(self, request: ModelRequest[Any], ours: str) -> ModelRequest[Any]:
        others = [tool for tool in request.tools if not isinstance(tool, SessionTool)]
        names = {tool.name for tool in others if isinstance(tool, BaseTool)}
        if twice := sorted(names & {spec.wire_name for spec in self._hosted.specs()}):
            problem = f"tool {twice[0]!r} is in both the agent and the session; rename one of the two"
            raise InvalidArgumentsError((problem,))
        return request.override(
            tools=[*others, *_tools(self._hosted)], system_message=_followed_by(request.system_message, ours)
        )

    def _found(self, request: ToolCallRequest) -> ToolCallRequest:
        """Return the request with its tool, even if the session did not offer the tool when the agent was created."""
        if request.tool is not None:
            return request
        name = request.tool_call["name"]
        found = next((tool for tool in _tools(self._hosted) if tool.name == name), None)
        return request if found is None else request.override(tool=found)


class SessionTool(BaseTool):
    """One tool of a session. Its schema comes from the session, and the executor checks its arguments."""

    response_format: str = "content_and_artifact"  # type: ignore[assignment]  # pydantic would check a Literal it cannot see here
    handle_tool_error: bool = True
    _hosted: HostedSession = PrivateAttr()

    def __init__(self, spec: ToolSpec, hosted: HostedSession) -> None:
        super().__init__(name=spec.wire_name, description=spec.description, args_schema=dict(spec.input_schema))
        self._hosted = hosted

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        # Pass the input as one positional argument: a parameter may have any name, including `self` and `config`.
        return (tool_input, tool_call_id), {}

    def _run(self, arguments: dict[str, Any], call_id: str | None) -> tuple[str, dict[str, object]]:
        return _answer(self._hosted.blocking().call(self.name, arguments, call_id))

    async def _arun(self, arguments: dict[str, Any], call_id: str | None) -> tuple[str, dict[str, object]]:
        return _answer(await self._hosted.call(self.name, arguments, call_id))


def _tools(hosted: HostedSession) -> list[BaseTool]:
    return [SessionTool(spec, hosted) for spec in hosted.specs()]


def _answer(result: ToolResult) -> tuple[str, dict[str, object]]:
    text = text_of(result, instead_of_image=_NO_IMAGE)
    if not result.success:
        raise ToolException(text)
    return text, result.as_dict()


def _calls_before(request: ToolCallRequest) -> list[str]:
    """Return the ids of the calls that precede this one in the model's message."""
    asked = request.tool_call["id"]
    state = request.state
    for message in reversed(state.get("messages", ()) if isinstance(state, dict) else ()):
        if isinstance(message, AIMessage):
            ids = [call["id"] or "" for call in message.tool_calls]
            return ids[: ids.index(asked)] if asked in ids else []
    return []


def _malformed(call: InvalidToolCall) -> ToolMessage:
    problem = call_of("", "", call["args"] or "", ()).unreadable or "Arguments must be a JSON object"
    return _refused(call, text_of(unreadable(problem)))


def _refused(call: ToolCall | InvalidToolCall, reason: str) -> ToolMessage:
    return ToolMessage(reason, name=call["name"], tool_call_id=call["id"], status="error")


def _followed_by(message: SystemMessage | None, ours: str) -> SystemMessage | None:
    if not ours:
        return message
    if message is None:
        return SystemMessage(ours)
    if isinstance(message.content, str):
        return SystemMessage(f"{message.content.rstrip()}\n\n{ours}")
    return SystemMessage(content=[*message.content, {"type": "text", "text": ours}])
