"""Forks: a skill with `context: fork` runs in a sub-agent that knows the skill's instructions and its input, no more.

Who runs a sub-agent is not decided here: a host hands a `ForkRunner` to its session. The runner receives a
`ForkRequest` and gives back the text that the parent sees. What it does not receive it cannot reveal: the parent's
messages, its state, its workspace and its artifacts are neither in the request nor reachable from the session in it.
Platform requirements 003, context forking and context isolation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Unpack, overload

from msgspec import Struct

from prowess.errors import SkillError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prowess.policy.restriction import Restriction
    from prowess.runtime.call_options import InstructionOptions, OfferOptions, ReadOptions, RunOptions
    from prowess.runtime.events.delivery import EventObserver
    from prowess.runtime.state import ActiveSkill, LoadMode
    from prowess.tools import Tool, ToolResult, ToolSpec

MAX_TURNS = 20
MAX_OUTPUT = 200_000  # characters that return to the parent


class ForkUnavailableError(SkillError):
    """The skill needs a sub-agent, and this host cannot give it the one it needs; nothing was run."""

    code = "fork_unavailable"
    skill: str
    reason: str
    sentence = "skill {skill!r} runs in a sub-agent, and there is none for it: {reason}"


class AgentType(Struct, frozen=True, kw_only=True):
    """A kind of sub-agent that a skill may ask for by name with `agent`.

    `instructions` stand before those of the skill. `tools` are what the sub-agent has beside the tools of skills;
    `model` is used where the skill names none; None leaves it to the runner.
    """

    name: str
    description: str = ""
    instructions: str = ""
    tools: tuple[Tool, ...] = ()
    model: str | None = None
    max_turns: int = MAX_TURNS


class ForkSession(Protocol):
    """The session of a sub-agent, with what a runner needs of it; every `Session` is one."""

    @property
    def session_id(self) -> str:
        """The identifier of the session."""
        ...

    @property
    def active_skills(self) -> tuple[ActiveSkill, ...]:
        """The active skills, the most recently loaded last."""
        ...

    @overload
    def tools(self, shape: None = None, **options: Unpack[OfferOptions]) -> tuple[ToolSpec, ...]: ...

    @overload
    def tools(self, shape: str, **options: Unpack[OfferOptions]) -> list[dict[str, object]]: ...

    def tools(
        self, shape: str | None = None, **options: Unpack[OfferOptions]
    ) -> tuple[ToolSpec, ...] | list[dict[str, object]]:
        """Return what to offer to the model."""
        ...

    def instructions(self, budget: int | None = None, **options: Unpack[InstructionOptions]) -> str:
        """Return the instructions for the next model call."""
        ...

    async def call(self, name: str, arguments: Mapping[str, object], call_id: str | None = None) -> ToolResult:
        """Run one tool call of the model."""
        ...

    async def load(
        self, names: Sequence[str], mode: LoadMode = "replace", location: str | None = None
    ) -> Mapping[str, object]:
        """Load skills."""
        ...

    async def read(self, path: str | None = None, **options: Unpack[ReadOptions]) -> Mapping[str, object]:
        """Read a file of an active skill, or an artifact."""
        ...

    async def run_script(
        self, path: str, args: Sequence[str] = (), **options: Unpack[RunOptions]
    ) -> Mapping[str, object]:
        """Run a script of an active skill."""
        ...

    async def refresh(self) -> None:
        """Take the newest state of catalog and store."""
        ...

    def observe(self, observer: EventObserver) -> None:
        """Let `observer` see every event from now on."""
        ...

    async def close(self) -> None:
        """End the session; the session of the parent does it."""
        ...


class ForkRequest(Struct, frozen=True, kw_only=True):
    """Everything that a sub-agent starts with.

    `instructions` are its system prompt and `input` its only message. A tool call must be permitted by every entry of
    `allowed_tools`, the skill's own and those that hold for the parent; `session` enforces that for calls made through
    it. In `session` the skill is active, so that its files can be read and its scripts be run. `model` is None where
    the runner chooses, `agent` None where the skill asks for no type. `depth` counts the activations that it runs in,
    itself included.
    """

    skill_name: str
    instructions: str
    input: str
    allowed_tools: tuple[Restriction, ...]
    model: str | None
    agent: AgentType | None
    depth: int
    max_turns: int
    session: ForkSession


class ForkOutcome(Struct, frozen=True, kw_only=True):
    """What a sub-agent gives back: its output, and how many turns it took."""

    output: str
    turns: int


class ForkRunner(Protocol):
    """Runs a sub-agent to its end. What it raises is a failure of the call, and the parent sees nothing of the run."""

    async def run(self, request: ForkRequest) -> ForkOutcome:
        """Run the request within its bounds and return the output."""
        ...


def agent_type(skill: str, name: str | None, types: Mapping[str, AgentType]) -> AgentType | None:
    """Return the agent type that a skill asks for.

    Raises:
        ForkUnavailableError: no type of this name is registered.
    """
    if name is None:
        return None
    if name not in types:
        known = ", ".join(sorted(types)) or "none"
        raise ForkUnavailableError(skill, f"agent type {name!r} is not registered; there are: {known}")
    return types[name]
