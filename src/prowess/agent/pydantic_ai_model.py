"""Models of pydantic-ai, by name: `provider:model`.

Only the model layer of pydantic-ai is used: it sends the request and returns parts. The turn loop is our own, because
the instructions change from call to call. pydantic-ai is the optional extra `agent` and is imported when the first
model is created.
"""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from prowess.agent.model import (
    AssistantMessage,
    ModelError,
    ModelRequest,
    ModelSettings,
    Opaque,
    Part,
    TextDelta,
    ToolMessage,
    ToolUse,
    Usage,
    UserMessage,
)
from prowess.errors import InvalidArgumentsError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator
    from types import TracebackType
    from typing import Self

    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model as TheirModel
    from pydantic_ai.settings import ModelSettings as TheirSettings

_MOST_CHARACTERS = 300  # of a provider's error text
_KEPT = frozenset({"max_tokens", "max_retries"})  # caps on cost rest on them; pydantic-ai only warns if it ignores them


class PydanticAIModel:
    """A model of pydantic-ai, given by name or as its `Model` object. pydantic-ai finds the credentials.

    Raise InvalidArgumentsError if the name is unknown, or if the library, the provider's client or the credentials are
    missing.
    """

    def __init__(self, model: str | TheirModel) -> None:
        try:
            from pydantic_ai.exceptions import UserError  # optional extra, slow to import
            from pydantic_ai.models import infer_model
        except ImportError:
            raise InvalidArgumentsError((_MISSING,)) from None
        shown = model if isinstance(model, str) else model.model_name
        try:
            self._model = infer_model(model)
        except ImportError as fault:
            problem = f"the client of {shown!r} is not installed ({fault}); install pydantic-ai-slim with its provider"
            raise InvalidArgumentsError((problem,)) from None
        except (UserError, ValueError, KeyError) as fault:
            unknown = ":" not in shown or "Unknown" in str(fault)
            advice = "" if not unknown else "; name it PROVIDER:MODEL, such as anthropic:claude-sonnet-4-5"
            raise InvalidArgumentsError((f"model {shown!r} cannot be used: {_short(fault)}{advice}",)) from None
        self._name = shown

    @property
    def name(self) -> str:
        """The name that the model was created with."""
        return self._name

    @property
    def priced_as(self) -> tuple[str, str, str | None]:
        """The model's own name, its provider, and the provider's address: what lists of prices know it by."""
        return self._model.model_name, self._model.system, self._model.base_url

    async def __aenter__(self) -> Self:
        """Open connections. Works even if the last run used another event loop."""
        await self._model.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close connections, except those that the caller owns."""
        await self._model.__aexit__(kind, value, trace)

    async def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        """Send the request to the provider and yield the parts as they arrive. Complete calls come last."""
        from pydantic_ai.exceptions import AgentRunError, UserError  # optional extra, as in the constructor

        try:
            async with aclosing(self._parts(request)) as parts:
                async for part in parts:
                    yield part
        except (AgentRunError, UserError) as fault:
            raise ModelError(self._name, _short(fault), getattr(fault, "status_code", None)) from fault

    def opaque_data(self, value: object) -> object:
        """Return a response of pydantic-ai as JSON data. Raise ValueError for any other value."""
        from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse  # optional extra, as above

        if not isinstance(value, ModelResponse):
            raise ValueError("it is no response of pydantic-ai")  # noqa: TRY004 -- as callers catch it
        return ModelMessagesTypeAdapter.dump_python([value], mode="json")

    def opaque_value(self, data: object) -> object:
        """Return the response of `opaque_data`. Raise ValueError for other data."""
        from pydantic_ai.messages import ModelMessagesTypeAdapter  # optional extra, as above

        found = ModelMessagesTypeAdapter.validate_python(data)
        if len(found) != 1:
            raise ValueError("it is no response of pydantic-ai")
        return found[0]

    def _settings(self, settings: ModelSettings) -> TheirSettings | None:
        """Return the settings by their names in pydantic-ai, or None if none is set."""
        given = {
            "max_tokens": settings.max_output_tokens,
            "temperature": settings.temperature,
            "seed": settings.seed,
            "max_retries": settings.client_retries,
        }
        found = {name: value for name, value in given.items() if value is not None}
        if lost := sorted(found.keys() & _KEPT & self._model.unsupported_settings):
            raise ModelError(self._name, f"its provider's client ignores {' and '.join(lost)}")
        if settings.client_retries is not None and hasattr(self._model, "models"):  # such as `FallbackModel`
            raise ModelError(self._name, "one request to it may be several calls; name one model")
        return cast("TheirSettings", found) or None

    async def _parts(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        from pydantic_ai.direct import model_request_stream  # optional extra, as in the constructor
        from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.tools import ToolDefinition

        tools = [
            ToolDefinition(
                name=spec.wire_name, description=spec.description, parameters_json_schema=dict(spec.input_schema)
            )
            for spec in request.tools
        ]
        parameters = ModelRequestParameters(function_tools=tools)
        async with model_request_stream(
            self._model,
            _history(request),
            model_settings=self._settings(request.settings),
            model_request_parameters=parameters,
        ) as streamed:
            async for event in streamed:
                text = ""
                match event:
                    case PartStartEvent(part=TextPart(content=text)):
                        pass
                    case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                        pass
                if text:
                    yield TextDelta(text=text)
            response = streamed.get()
        for call in response.tool_calls:
            arguments, unreadable = _arguments(call.args)
            yield ToolUse(id=call.tool_call_id, name=call.tool_name, arguments=arguments, unreadable=unreadable)
        yield _usage(response)
        yield Opaque(value=response)


_NOTHING = "Streamed response ended without content"  # the words of pydantic-ai, for all providers
_MISSING = (
    "models of providers need pydantic-ai: pip install 'prowess[agent]' with the provider (see docs/build/agent.md)"
)


def _arguments(given: str | dict[str, Any] | None) -> tuple[dict[str, object], str | None]:
    """Return the arguments of a call and None, or no arguments and the reason why they cannot be read."""
    if not given:
        return {}, None
    if isinstance(given, dict):
        return given, None
    try:
        value = json.loads(given)
    except (ValueError, RecursionError) as fault:
        return {}, f"Arguments are not JSON: {fault}"
    return (value, None) if isinstance(value, dict) else ({}, "Arguments must be a JSON object")


def _usage(response: ModelResponse) -> Usage:
    used = response.usage
    if not used.input_tokens and not used.output_tokens:
        return Usage(cost_usd=None)  # the provider reported nothing, so the cost is unknown, not zero
    try:
        cost: float | None = float(response.cost().total_price)
    except (LookupError, AssertionError, ValueError):  # the model has no listed price
        cost = None
    return Usage(input_tokens=used.input_tokens, output_tokens=used.output_tokens, cost_usd=cost)


def _history(request: ModelRequest) -> list[ModelMessage]:
    """Convert messages to those of pydantic-ai. A provider's own message is returned unchanged, with signatures."""
    from pydantic_ai import messages as theirs  # optional extra, as in the constructor

    history: list[ModelMessage] = []
    pending: list[theirs.ModelRequestPart] = []
    for message in request.messages:
        match message:
            case UserMessage(text=text):
                pending.append(theirs.UserPromptPart(content=text))
            case ToolMessage(call=call, text=text):
                pending.append(theirs.ToolReturnPart(tool_name=call.name, content=text, tool_call_id=call.id))
            case AssistantMessage():
                history += [theirs.ModelRequest(parts=pending), _response(message)]
                pending = []
    # Only the last message gets instructions, so that the provider does not receive those of earlier calls.
    history.append(theirs.ModelRequest(parts=pending, instructions=request.instructions or None))
    return history


def _response(message: AssistantMessage) -> ModelResponse:
    from pydantic_ai import messages as theirs  # optional extra, as in the constructor

    if isinstance(message.opaque, theirs.ModelResponse):
        return message.opaque
    parts: list[theirs.ModelResponsePart] = [theirs.TextPart(content=message.text)] if message.text else []
    parts += [
        theirs.ToolCallPart(tool_name=call.name, args=dict(call.arguments), tool_call_id=call.id)
        for call in message.calls
    ]
    return theirs.ModelResponse(parts=parts)


def _short(fault: BaseException) -> str:
    text = " ".join(str(fault).split())
    if text.startswith(_NOTHING):  # their clients say this of plain JSON too
        text += "; the address of the model must stream its answers (text/event-stream)"
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"
