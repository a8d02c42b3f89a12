"""Doubles of the model and of tools. Everything else in a tested run is real: session, restriction, policy, tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from prowess._internal.globs import fits_text
from prowess.agent import ModelError, ScriptedModel, ScriptedTurn, ToolMessage
from prowess.errors import SkillError
from prowess.tools import ToolSpec, require_executor
from prowess.tools.wrappers import ToolWrapper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from prowess.agent import Message, ModelRequest
    from prowess.format.suites.case_scripts import ToolResponse, TurnScript
    from prowess.tools.spec import Tool, ToolCall

_SHOWN = 300


class DoubleAnsweredError(SkillError):
    """The error that a case prescribes as the answer of a tool."""

    reason: str
    sentence = "{reason}"


class NoResponseError(SkillError):
    """The case has no response for this call."""

    tool: str
    arguments: str
    sentence = "no response of the case fits the call of {tool} with {arguments}"


class ModelDouble:
    """Plays the turns of a case. `unmet` is number and `when` of a turn that could not be played, or None."""

    def __init__(self, turns: Sequence[TurnScript]) -> None:
        self.unmet: tuple[int, str] | None = None
        self._count = len(turns)
        self._scripted = ScriptedModel([self._step(number, turn) for number, turn in enumerate(turns, 1)])
        self.name = self._scripted.name
        self.stream = self._scripted.stream

    @property
    def requests(self) -> list[ModelRequest]:
        """The requests so far."""
        return self._scripted.requests

    @property
    def left(self) -> int:
        """The number of turns that were not played; below 0 if more were asked for."""
        return self._count - len(self.requests)

    def _step(self, number: int, turn: TurnScript) -> Callable[[ModelRequest], str | ScriptedTurn]:
        def answer(request: ModelRequest) -> ScriptedTurn:
            chosen, seen = turn, whole_text(request)
            while chosen.when is not None and chosen.when not in seen:
                if chosen.otherwise is None:
                    self.unmet = (number, chosen.when)
                    raise ModelError(self.name, f"turn {number} waits for {chosen.when!r}")
                chosen = chosen.otherwise
            return ScriptedTurn(text=chosen.text, calls=tuple((call.name, call.arguments) for call in chosen.calls))

        return answer


def context_text(request: ModelRequest) -> str:
    """Return the text that a model reads: instructions and messages."""
    return "\n".join([request.instructions, *map(_message_text, request.messages)])


def whole_text(request: ModelRequest) -> str:
    """Return the text of a request with the descriptions of tools."""
    return "\n".join([context_text(request), *(f"{spec.name}\n{spec.description}" for spec in request.tools)])


def _message_text(message: Message) -> str:
    if isinstance(message, ToolMessage):
        return message.text
    calls = getattr(message, "calls", ())
    return "\n".join([message.text, *(f"{call.name} {_json(call.arguments)}" for call in calls)])


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str, ensure_ascii=False)


class ToolResponses:
    """The responses of a case for one tool. A call that none of them fits is added to `misses`."""

    def __init__(self, responses: Sequence[ToolResponse], misses: list[str]) -> None:
        self._responses, self._misses = tuple(responses), misses

    def to(self, tool: str, arguments: Mapping[str, object]) -> dict[str, object] | None:
        """Return the result; None if the real tool should run.

        Raises:
            DoubleAnsweredError: the response is an error.
            NoResponseError: no response fits.
        """
        for response in self._responses:
            if not all(key in arguments and _fits(arguments[key], glob) for key, glob in response.match.items()):
                continue
            if response.real:
                return None
            if response.error is not None:
                raise DoubleAnsweredError(response.error)
            return response.result if isinstance(response.result, dict) else {"result": response.result}
        missing = NoResponseError(tool, _json(dict(arguments))[:_SHOWN])
        self._misses.append(str(missing))
        raise missing


def _fits(value: object, glob: str) -> bool:
    return fits_text(value if isinstance(value, str) else _json(value), glob)


class ToolDouble:
    """A tool that exists only in the case. It takes any arguments. A call to run the real one is added to `misses`."""

    def __init__(self, name: str, responses: ToolResponses, misses: list[str]) -> None:
        schema = {"type": "object", "properties": {}}
        self.spec = ToolSpec(name=name, description=f"{name}, as the case answers it.", input_schema=schema)
        self._responses, self._misses = responses, misses

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Return the first response that fits. Raise as `ToolResponses.to`."""
        require_executor(self, call)
        found = self._responses.to(self.spec.name, arguments)
        if found is None:
            self._misses.append(
                f"{self.spec.name} is no built-in tool of the case, so it cannot be the real one; "
                "name it in context.tools, or give a result"
            )
            raise DoubleAnsweredError(self._misses[-1])
        return found


class BuiltinDouble(ToolWrapper):
    """A built-in tool of which the case answers some calls, or all."""

    def __init__(self, wrapped: Tool, responses: ToolResponses) -> None:
        super().__init__(wrapped)
        self._responses = responses

    async def around(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Return the first response that fits, or run the tool."""
        found = self._responses.to(self.spec.name, arguments)
        return await self.wrapped.run(arguments, call) if found is None else found


def doubled(tools: Iterable[Tool], responses: Sequence[ToolResponse], misses: list[str]) -> tuple[Tool, ...]:
    """Return the tools of a case: the built-in `tools`, and a double of each tool that a response names.

    A call that no response fits adds a sentence to `misses`. Raise ValueError if a name cannot be a tool's.
    """
    named: dict[str, list[ToolResponse]] = {}
    for response in responses:
        named.setdefault(response.tool, []).append(response)
    found: list[Tool] = []
    for tool in tools:
        own = named.pop(tool.spec.name, None)
        found.append(tool if own is None else BuiltinDouble(tool, ToolResponses(own, misses)))
    return (*found, *(ToolDouble(name, ToolResponses(own, misses), misses) for name, own in named.items()))
