"""What a run of an agent gives back, and the steps that lead there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct, to_builtins
from msgspec.structs import asdict

if TYPE_CHECKING:
    from prowess.agent.model import Message, ToolUse, Usage
    from prowess.tools import ToolResult

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
