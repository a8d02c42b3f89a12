"""A model whose calls are booked in a ledger, or replayed from a recording."""

from __future__ import annotations

import json
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

import anyio
import msgspec
from msgspec.structs import asdict, replace

from prowess._internal.text.shape_faults import shape_fault
from prowess.agent.model import (
    AssistantMessage,
    ModelError,
    Opaque,
    Part,
    TextDelta,
    ToolMessage,
    ToolUse,
    Usage,
    UserMessage,
)
from prowess.agent.transcript import json_data
from prowess.evals.ledger.calls import MOST_OUTPUT_TOKENS, CallAnswer, CallBound, is_measured
from prowess.evals.ledger.prices import price_of
from prowess.evals.ledger.recorded_calls import RecordedCalls

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator
    from types import TracebackType
    from typing import Self

    from prowess.agent.model import Message, Model, ModelRequest
    from prowess.evals.ledger.calls import Calls
    from prowess.evals.ledger.prices import Price
    from prowess.tools import ToolSpec

_BUSY = frozenset({408, 409, 429, 500, 502, 503, 504, 529})  # HTTP statuses after which a request is sent again
_MOST_ANSWER_BYTES = 64 * 1024 * 1024
_MARKS = 16  # tokens between two messages, beside those of JSON


@runtime_checkable
class WritesOpaque(Protocol):
    """A model that can write its `Opaque` values as JSON data and read them again, so that a run can be resumed."""

    def opaque_data(self, value: object) -> object:
        """Return JSON data for the value of an `Opaque` part."""
        ...

    def opaque_value(self, data: object) -> object:
        """Return the value for data of `opaque_data`. Raise ValueError for other data."""
        ...


class LedgerModel:
    """Implements `Model`: `model` with every call booked in `calls` for `unit`. Its answers arrive whole.

    Without `price`, the listed price of the model holds. Without `model`, only kept answers can be given, as from
    `RecordedCalls`. Without a bound in the request's settings, an answer is bound to `max_output_tokens`. The
    provider's client retries nothing by itself; a busy provider is asked again here, `retries` times, and each time is
    a call of its own.
    """

    def __init__(
        self,
        model: Model | None,
        calls: Calls,
        unit: str,
        *,
        name: str | None = None,
        price: Price | None = None,
        max_output_tokens: int = MOST_OUTPUT_TOKENS,
        retries: int = 2,
        pause_seconds: float = 2.0,
    ) -> None:
        self._model, self._calls, self._unit = model, calls, unit
        self._price = price_of(model) if price is None and model is not None else price
        self._name = name or ("recorded" if model is None else model.name)
        self._most, self._retries, self._pause = max_output_tokens, retries, pause_seconds
        self._open: list[AsyncExitStack] = []

    @property
    def name(self) -> str:
        """The name of the model; a replay has the name that the recording was made with."""
        return self._name

    @property
    def replayed_calls(self) -> int:
        """How many calls of this execution of the unit were answered from the journal or the recording."""
        return self._calls.unit_spent(self._unit).replayed_calls

    @property
    def can_answer(self) -> bool:
        """Whether one more request may get an answer: a recording may have none left of the unit."""
        return not isinstance(self._calls, RecordedCalls) or self._calls.has_more(self._unit)

    async def __aenter__(self) -> Self:
        """Enter the model if it is an async context manager."""
        stack = AsyncExitStack()
        if isinstance(self._model, AbstractAsyncContextManager):
            await stack.enter_async_context(self._model)
        self._open.append(stack)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the model."""
        await self._open.pop().__aexit__(kind, value, trace)

    async def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        """Yield the parts of the answer after it was kept.

        Raises:
            ModelError: the model gave no answer.
            CapReachedError, JournalError, DriftError: as `Calls.call`.
        """
        most = request.settings.max_output_tokens or self._most
        settings = replace(request.settings, max_output_tokens=most, client_retries=0)
        bounded = replace(request, settings=settings)
        body = _json(self._document(bounded))
        bound = CallBound.of(body, most)
        hidden = _MARKS * len(request.messages) + self._unseen_bytes(request)
        bound = replace(bound, input_tokens=bound.input_tokens + hidden)
        answer = await self._answered(bounded, body, bound)
        for part in self._parts(answer.content):
            yield part

    async def _answered(self, request: ModelRequest, body: bytes, bound: CallBound) -> CallAnswer:
        async def ask() -> CallAnswer:
            return await self._ask(request)

        for left in reversed(range(self._retries + 1)):
            try:
                return await self._calls.call(self._unit, body, bound, ask, price=self._price)
            except ModelError as error:
                if not left or error.status not in _BUSY:
                    raise
            await anyio.sleep(self._pause * 2 ** (self._retries - left))
        raise AssertionError("the last attempt returns or raises")

    async def _ask(self, request: ModelRequest) -> CallAnswer:
        if self._model is None:
            raise ModelError(self._name, "it is only recorded, and this request has no kept answer")
        parts: list[dict[str, object]] = []
        used: list[Usage] = []
        size = 0
        stream = cast("AsyncGenerator[Part, None]", self._model.stream(request))
        try:
            async for part in stream:
                if isinstance(part, Usage):
                    used.append(part)
                    if not is_measured(part):
                        continue  # it would give back a part of the agent's budget
                if (kept := self._written(part)) is not None:
                    parts.append(kept)
                    size += len(_json(kept))
                if size > _MOST_ANSWER_BYTES:
                    raise ModelError(self._name, f"its answer has more than {_MOST_ANSWER_BYTES >> 20} MiB")
        finally:
            await stream.aclose()
        return CallAnswer(content=_json(parts), usage=_usage(used))

    def _document(self, request: ModelRequest) -> dict[str, object]:
        """Return the recorded and compared part of a request. Opaque data is left out: it follows from the answers."""
        return {
            "model": self._name,
            "settings": {name: value for name, value in asdict(request.settings).items() if value is not None},
            "instructions": request.instructions,
            "tools": [_tool(spec) for spec in request.tools],
            "messages": [_message(message) for message in request.messages],
        }

    def _unseen_bytes(self, request: ModelRequest) -> int:
        """Return by how many bytes opaque data is longer than its part of the document of the same messages."""
        total = 0
        for message in request.messages:
            if isinstance(message, AssistantMessage) and message.opaque is not None:
                data = self._opaque_bytes(message.opaque)
                total += max(0, len(data) - len(_json(_message(message))))
        return total

    def _opaque_bytes(self, value: object) -> bytes:
        data = self._opaque_data(value)
        return repr(value).encode("utf-8", "replace") if data is None else _json(data)

    def _opaque_data(self, value: object) -> object:
        """Return opaque data as JSON data, or None if it cannot be written."""
        writer = _writer(self._model)
        try:
            return msgspec.to_builtins(value) if writer is None else writer.opaque_data(value)
        except (TypeError, ValueError):
            return None

    def _written(self, part: Part) -> dict[str, object] | None:
        match part:
            case TextDelta(text=text):
                return {"text": text}
            case ToolUse():
                return {"call": json_data(asdict(part))}
            case Usage():
                return {"usage": asdict(part)}
            case Opaque(value=value):
                data = self._opaque_data(value)
                return None if data is None else {"opaque": data}

    def _parts(self, content: bytes) -> list[Part]:
        """Return the parts of a kept answer.

        Raises:
            ModelError: it was changed in the journal.
        """
        try:
            kept = msgspec.convert(json.loads(content), list[_KeptPart])
            return [self._part(part) for part in kept]
        except (ValueError, msgspec.MsgspecError, RecursionError) as fault:
            told = shape_fault(fault, "it") if isinstance(fault, msgspec.MsgspecError) else str(fault)
            raise ModelError(self._name, f"a kept answer cannot be read: {told}") from None

    def _part(self, kept: _KeptPart) -> Part:
        if kept.usage is not None:
            return kept.usage
        if kept.call is not None:
            call = kept.call
            return ToolUse(id=call.id, name=call.name, arguments=call.arguments, unreadable=call.unreadable)
        if kept.opaque is not None:
            writer = _writer(self._model)
            return Opaque(value=kept.opaque if writer is None else writer.opaque_value(kept.opaque))
        return TextDelta(text=kept.text)


class _KeptCall(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str
    arguments: dict[str, object]
    unreadable: str | None = None


class _KeptPart(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One part of an answer, as `_written` writes it: one of these members."""

    text: str = ""
    call: _KeptCall | None = None
    usage: Usage | None = None
    opaque: Any = None


def _writer(model: object) -> WritesOpaque | None:
    return model if isinstance(model, WritesOpaque) else None


def _usage(used: list[Usage]) -> Usage | None:
    """Return the sum, or None if the model did not report its use, or reported what cannot be."""
    if not used or not all(map(is_measured, used)):
        return None
    total = used[0]
    for one in used[1:]:
        total += one
    return total if total.tokens or total.cost_usd is not None else None


def _json(value: object) -> bytes:
    """Return JSON. Half of a surrogate pair, which UTF-8 cannot have, is written as an escape."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")


def _tool(spec: ToolSpec) -> dict[str, object]:
    schema = json_data(dict(spec.input_schema))
    return {"name": spec.wire_name, "description": spec.description, "input_schema": schema}


def _message(message: Message) -> dict[str, object]:
    match message:
        case UserMessage(text=text):
            return {"role": "user", "text": text}
        case AssistantMessage(text=text, calls=calls):
            return {"role": "assistant", "text": text, "calls": [json_data(asdict(call)) for call in calls]}
        case ToolMessage(call=call, text=text):
            return {"role": "tool", "id": call.id, "name": call.name, "text": text}
