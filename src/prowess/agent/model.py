"""The model protocol, and the results and steps of an agent's run.

A model receives instructions, messages and tools, and streams parts. A run reports steps and ends with a result.

The protocol has a single method, so a test double is short (`prowess.agent.ScriptedModel`), and the turn loop is
independent of providers. A model may need data of one answer, such as a provider's own message, in its next request.
Such a model yields the data as `Opaque` and finds it unchanged in `AssistantMessage.opaque`. No other code reads the
data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Protocol

from msgspec import Meta, Struct, to_builtins
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
    """The model gave no answer. `reason` is one sentence without credentials.

    `status` is the HTTP status that the provider answered with; None if there is none.
    """

    code = "unavailable"
    model: str
    reason: str
    status: int | None = None
    sentence = "model {model!r} gave no answer: {reason}"

    @property
    def refused(self) -> bool:
        """Whether the provider rejected the request (4xx), which it does not charge."""
        return self.status is not None and 400 <= self.status < 500  # noqa: PLR2004 -- as HTTP has it


class TextDelta(Struct, frozen=True, kw_only=True):
    """A piece of the answer's text, to be shown immediately."""

    text: str


class ToolUse(Struct, frozen=True, kw_only=True):
    """A tool call that the model asks for. `name` may be in any accepted spelling.

    If the arguments came as text that is not a JSON object, `unreadable` states why; `arguments` is empty.
    """

    id: str
    name: str
    arguments: Mapping[str, object]
    unreadable: str | None = None


class Usage(Struct, frozen=True, kw_only=True):
    """Tokens and US dollars used. `cost_usd` is None if the price is unknown."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None

    @property
    def tokens(self) -> int:
        """Input and output tokens together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        """Return the sum. The cost of the sum is None if a cost is None."""
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_usd=None if self.cost_usd is None or other.cost_usd is None else self.cost_usd + other.cost_usd,
        )


class Opaque(Struct, frozen=True, kw_only=True):
    """Data that the model needs back in `AssistantMessage.opaque` when this turn is part of the history."""

    value: object


Part = TextDelta | ToolUse | Usage | Opaque


class UserMessage(Struct, frozen=True, kw_only=True):
    """A message of the user."""

    text: str


class AssistantMessage(Struct, frozen=True, kw_only=True):
    """One turn of the model: its text and the calls that it asked for."""

    text: str
    calls: tuple[ToolUse, ...] = ()
    opaque: object = None


class ToolMessage(Struct, frozen=True, kw_only=True):
    """The result of one call. `text` is the form that the model reads."""

    call: ToolUse
    result: ToolResult
    text: str


Message = UserMessage | AssistantMessage | ToolMessage


class ModelSettings(Struct, frozen=True, kw_only=True):
    """How a model answers. `None` leaves a setting to the model.

    `max_output_tokens` is the bound on the tokens of one answer, thinking included. `client_retries` is how often the
    provider's client may send a request again by itself; 0 makes every paid call visible to the caller.
    """

    max_output_tokens: Annotated[int, Meta(ge=1)] | None = None
    temperature: Annotated[float, Meta(ge=0)] | None = None
    seed: int | None = None
    client_retries: Annotated[int, Meta(ge=0)] | None = None


class ModelRequest(Struct, frozen=True, kw_only=True):
    """One request to a model. `instructions` are new in each request; `messages` only grow."""

    instructions: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    settings: ModelSettings = ModelSettings()


class Model(Protocol):
    """Answers requests and keeps no state. If it is an async context manager, each run of an agent enters it."""

    @property
    def name(self) -> str:
        """The name used in reports and errors."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        """Answer one request, part by part. An async generator.

        Each `ToolUse` must be complete. `Usage` may be yielded several times and is added up. The model keeps
        `request.settings`.

        Raises:
            ModelError: the model gave no answer, or it cannot keep `max_output_tokens` or `client_retries`.
        """
        ...


class Budget(Struct, frozen=True, kw_only=True):
    """Limits on one run, including its sub-agents. `None` means no limit.

    `cost_usd` needs a model that reports its cost; with any other model, the run ends after its first turn.
    `wall_seconds` also interrupts a running model call or tool call.
    """

    tokens: int | None = None
    cost_usd: float | None = None
    wall_seconds: float | None = None


class AgentResult(Struct, frozen=True, kw_only=True):
    """The result of a run.

    `text` is the model's last text; it is the answer if `ended` is `answered`. For every other ending, `reason` is a
    sentence. `skills_used` names each skill that was active or forked once, in order. `transcript` has all messages.
    `turns` counts the model calls. `session_id` identifies the run in the audit log.
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
        """Whether the run ended with an answer of the model."""
        return self.ended == "answered"

    def as_dict(self) -> dict[str, object]:
        """Return the result as JSON data, without the transcript."""
        return {name: to_builtins(value) for name, value in asdict(self).items() if name != "transcript"}


class TurnStarted(Struct, frozen=True, kw_only=True):
    """Turn number `turn` starts with a model call. `instruction_tokens` are its estimated instruction tokens."""

    turn: int
    instruction_tokens: int


class Said(Struct, frozen=True, kw_only=True):
    """A piece of the model's text. The text is not withdrawn, even if the turn fails later."""

    text: str


class CallStarted(Struct, frozen=True, kw_only=True):
    """A tool call starts."""

    call: ToolUse


class CallFinished(Struct, frozen=True, kw_only=True):
    """A tool call has finished."""

    call: ToolUse
    result: ToolResult


class SkillActivating(Struct, frozen=True, kw_only=True):
    """A skill is about to be activated. The activation may still be refused. `message` is a line for the user."""

    skill: str
    message: str


class SkillActivated(Struct, frozen=True, kw_only=True):
    """A skill was activated. `allowed_tools` is its `allowed-tools`, or None if it restricts no calls."""

    skill: str
    allowed_tools: tuple[str, ...] | None


class SkillDeactivated(Struct, frozen=True, kw_only=True):
    """A skill and its restriction are no longer active."""

    skill: str


class Ended(Struct, frozen=True, kw_only=True):
    """The run has ended. Always the last step."""

    result: AgentResult


AgentStep = (
    TurnStarted | Said | CallStarted | CallFinished | SkillActivating | SkillActivated | SkillDeactivated | Ended
)
