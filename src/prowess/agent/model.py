"""A model, as the agent sees it: it gets instructions, messages and tools, and streams parts.

The protocol is one method, so that a test double is a page (`prowess.agent.ScriptedModel`) and no provider's shape
reaches the loop. What a model needs back unchanged in its next request, such as a provider's own message, travels in
`Opaque` and `AssistantMessage.opaque`; nobody else looks into it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from prowess.errors import SkillError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from prowess.tools import ToolResult, ToolSpec


class ModelError(SkillError):
    """The model gave no answer; `reason` is one sentence and holds no credentials."""

    code = "unavailable"
    model: str
    reason: str
    sentence = "model {model!r} gave no answer: {reason}"


class TextDelta(Struct, frozen=True, kw_only=True):
    """A piece of text, to be shown as it comes."""

    text: str


class ToolUse(Struct, frozen=True, kw_only=True):
    """The model asks for a call, under whatever spelling of the name it likes.

    `unreadable` is one sentence where the arguments came as a text that is no JSON object; `arguments` is then empty.
    """

    id: str
    name: str
    arguments: Mapping[str, object]
    unreadable: str | None = None


class Usage(Struct, frozen=True, kw_only=True):
    """What was used: tokens, and US dollars where the price is known (None: it is not)."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None

    @property
    def tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        """Add both up; a cost that is not known makes the sum unknown."""
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_usd=None if self.cost_usd is None or other.cost_usd is None else self.cost_usd + other.cost_usd,
        )


class Opaque(Struct, frozen=True, kw_only=True):
    """What the model wants back in `AssistantMessage.opaque` when this turn is part of its history."""

    value: object


Part = TextDelta | ToolUse | Usage | Opaque


class UserMessage(Struct, frozen=True, kw_only=True):
    """What the user asks."""

    text: str


class AssistantMessage(Struct, frozen=True, kw_only=True):
    """One turn of the model: its text, and the calls that it asked for."""

    text: str
    calls: tuple[ToolUse, ...] = ()
    opaque: object = None


class ToolMessage(Struct, frozen=True, kw_only=True):
    """What one call gave back; `text` is what the model reads."""

    call: ToolUse
    result: ToolResult
    text: str


Message = UserMessage | AssistantMessage | ToolMessage


class ModelRequest(Struct, frozen=True, kw_only=True):
    """One call of a model. `instructions` are new in each; `messages` only ever grow."""

    instructions: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]


class Model(Protocol):
    """Answers requests. It keeps nothing between them.

    One that is an async context manager as well, for its connections, is entered for each run of an agent.
    """

    @property
    def name(self) -> str:
        """How reports and errors call it."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        """Answer one request, part by part; `ModelError` where there is no answer.

        An async generator. Each `ToolUse` is complete; `Usage` may come several times and is added up.
        """
        ...
