"""A model, as the agent sees it, and what a run of an agent gives back.

A model gets instructions, messages and tools, and streams parts. A run ends with a result; its steps lead there.

The protocol is one method, so that a test double is a page (`prowess.agent.ScriptedModel`) and no provider's shape
reaches the loop. What a model needs back unchanged in its next request, such as a provider's own message, travels in
`Opaque` and `AssistantMessage.opaque`; nobody else looks into it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct, to_builtins
from msgspec.structs import asdict

from prowess.errors import SkillError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from prowess.tools import ToolResult, ToolSpec

Ending = Literal[
    "answered",
    "empty_answer",
    "turn_limit",
    "token_budget",
    "cost_budget",
    "time_budget",
    "repeated_failure",
    "model_failed",
    "session_failed",
]


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


class Budget(Struct, frozen=True, kw_only=True):
    """Bounds on one run; `None` lifts a bound. What sub-agents use counts.

    A bound on cost needs a model that reports what it costs; with any other the run ends after its first turn.
    `wall_seconds` also ends a model call or a tool call that is going on.
    """

    tokens: int | None = None
    cost_usd: float | None = None
    wall_seconds: float | None = None


class AgentResult(Struct, frozen=True, kw_only=True):
    """How a run ended.

    `text` is the model's last text, the answer where `ended` is `answered`; `reason` is a sentence for every other
    ending. `skills_used` are the names of the skills that were active or forked, in order, each once. `transcript` is
    every message. `turns` counts the calls of the model; `session_id` finds the run in the audit log.
    """

    text: str
    ended: Ending
    reason: str | None
    skills_used: tuple[str, ...]
    turns: int
    usage: Usage
    transcript: tuple[Message, ...]
    session_id: str

    @property
    def answered(self) -> bool:
        """Whether the model came to an end by itself."""
        return self.ended == "answered"

    def as_dict(self) -> dict[str, object]:
        """Return it for JSON, without the transcript."""
        return {name: to_builtins(value) for name, value in asdict(self).items() if name != "transcript"}


class TurnStarted(Struct, frozen=True, kw_only=True):
    """The model is being asked, for the `turn`-th time; `instruction_tokens` estimates what it is told anew."""

    turn: int
    instruction_tokens: int


class Said(Struct, frozen=True, kw_only=True):
    """A piece of the model's text. It is not taken back, whatever follows."""

    text: str


class CallStarted(Struct, frozen=True, kw_only=True):
    """A call goes to the executor."""

    call: ToolUse


class CallFinished(Struct, frozen=True, kw_only=True):
    """A call came back."""

    call: ToolUse
    result: ToolResult


class SkillActivating(Struct, frozen=True, kw_only=True):
    """A skill is about to come into force: none of its hooks has run, and nothing of it is in the instructions.

    It may still be refused; then the call that asked for it fails. `message` is the line to show.
    """

    skill: str
    message: str


class SkillActivated(Struct, frozen=True, kw_only=True):
    """A skill came into force. `allowed_tools` are the tokens that it restricts calls to, None where it does not."""

    skill: str
    allowed_tools: tuple[str, ...] | None


class SkillDeactivated(Struct, frozen=True, kw_only=True):
    """A skill is no longer in force, and with it its restriction."""

    skill: str


class Ended(Struct, frozen=True, kw_only=True):
    """The run is over; always the last step."""

    result: AgentResult


AgentStep = (
    TurnStarted | Said | CallStarted | CallFinished | SkillActivating | SkillActivated | SkillDeactivated | Ended
)
