"""A model, as the agent sees it: it gets instructions, messages and tools, and streams parts.

The protocol is one method, so that a test double is a page (`prowess.agent.ScriptedModel`) and no provider's shape
reaches the loop. What a model needs back unchanged in its next request, such as a provider's own message, travels in
`Opaque` and `AssistantMessage.opaque`; nobody else looks into it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from prowess.errors import SkillError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from prowess.tools import ToolResult, ToolSpec


class ModelError(SkillError):
    """The model gave no answer; `reason` is one sentence and holds no credentials."""

    code = "unavailable"

    def __init__(self, model: str, reason: str) -> None:
        super().__init__(model, reason)
        self.model, self.reason = model, reason

    def __str__(self) -> str:
        return f"model {self.model!r} gave no answer: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """A piece of text, to be shown as it comes."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """The model asks for a call, under whatever spelling of the name it likes.

    `unreadable` is one sentence where the arguments came as a text that is no JSON object; `arguments` is then empty.
    """

    id: str
    name: str
    arguments: Mapping[str, object]
    unreadable: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What was used: tokens, and US dollars where the price is known (None: it is not)."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None

    @property
    def tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Opaque:
    """What the model wants back in `AssistantMessage.opaque` when this turn is part of its history."""

    value: object


Part = TextDelta | ToolUse | Usage | Opaque


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage:
    """What the user asks."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantMessage:
    """One turn of the model: its text, and the calls that it asked for."""

    text: str
    calls: tuple[ToolUse, ...] = ()
    opaque: object = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolMessage:
    """What one call gave back; `text` is what the model reads."""

    call: ToolUse
    result: ToolResult
    text: str


Message = UserMessage | AssistantMessage | ToolMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
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
