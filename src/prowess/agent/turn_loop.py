"""The turn loop: ask the model, carry out its calls, and ask again, until it answers or a limit ends the run.

The instructions are composed anew for every model call, because loading a skill changes them. Messages are only added
and never changed, so that a provider can cache them and the model can rely on them. All tool calls go through the
session's single executor, in the model's order, so a skill loaded by one call is active for the next.

`AgentForkRunner` runs skills with `context: fork`. Each fork gets its own turn loop over the session of the request. A
sub-agent receives only the skill's instructions and the input. A sub-agent cannot reveal messages or state of the
parent, because the request does not contain them. The usage of the sub-agent is added to the call that started the fork
(platform requirements 003, context forking and context isolation).
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

import anyio
from msgspec import Struct

from prowess.agent.model import (
    AgentResult,
    AgentStep,
    AssistantMessage,
    Budget,
    CallFinished,
    CallStarted,
    Ended,
    ModelError,
    ModelRequest,
    ModelSettings,
    Opaque,
    Said,
    SkillActivated,
    SkillActivating,
    SkillDeactivated,
    TextDelta,
    ToolMessage,
    ToolUse,
    TurnStarted,
    Usage,
    UserMessage,
)
from prowess.errors import ApprovalRequiredError, InvalidArgumentsError, LimitExceededError, SkillError
from prowess.policy.restriction import Restriction
from prowess.runtime.disclosure.model_texts import estimate_tokens
from prowess.runtime.events.event import SkillActivating as SkillActivatingEvent
from prowess.runtime.forks import ForkOutcome, ForkUnavailableError
from prowess.tools import ToolResult, report_usage
from prowess.tools.prompt_escaping import json_for_model

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from prowess.agent.model import Ending, Message, Model
    from prowess.agent.transcript import Transcript
    from prowess.runtime.events.event import SessionEvent
    from prowess.runtime.forks import ForkRequest, ForkSession
    from prowess.runtime.state import ActiveSkill
    from prowess.tools import ToolSpec

Emit = Callable[[AgentStep], Awaitable[None]]
MOST_ALIKE = 3  # consecutive failures of the same call with the same error end the run
MOST_FAILURES = 10  # consecutive failures of any calls end the run


class TurnLoop:
    """One run over one session. The caller closes the session.

    `model` returns the model of the next turn, and `instructions` its system prompt. `offered` receives the session's
    tools and returns those that the model may see. `history` are messages before the task.
    """

    def __init__(
        self,
        session: ForkSession,
        *,
        model: Callable[[], Model],
        instructions: Callable[[], str],
        max_turns: int,
        budget: Budget,
        emit: Emit,
        settings: ModelSettings,
        offered: Callable[[tuple[ToolSpec, ...]], tuple[ToolSpec, ...]] = tuple,
        transcript: Transcript | None = None,
        history: Sequence[Message] = (),
    ) -> None:
        self._session, self._model, self._instructions, self._offered = session, model, instructions, offered
        self._max_turns, self._tally, self._emit, self._transcript = max_turns, Tally(budget), emit, transcript
        self._settings = settings
        self._messages: list[Message] = list(history)
        self._active: tuple[ActiveSkill, ...] = ()
        self._used: dict[str, None] = {}
        self._text = ""
        self._turns = 0
        session.observe(self)

    async def run(self, task: str) -> AgentResult:
        """Run the turns and return the result.

        If the model or session fails, the run ends and the result has the error.
        """
        stop = self._tally.out_of_time()
        with anyio.move_on_after(self._tally.seconds_left()):
            try:
                stop = await self._go(task)
            except ModelError as error:
                stop = Stop(ended="model_failed", reason=str(error))
            except SkillError as error:
                stop = Stop(ended="session_failed", reason=str(error))
        result = AgentResult(
            text=self._text,
            ended=stop.ended,
            reason=stop.reason,
            skills_used=tuple(self._used),
            usage=self._tally.usage,
            turns=self._turns,
            transcript=tuple(self._messages),
            session_id=self._session.session_id,
        )
        if self._transcript is not None:
            self._transcript.end(result)
        await self._emit(Ended(result=result))
        return result

    async def observe(self, event: SessionEvent, content: Mapping[str, object]) -> None:
        """Report an activation before it takes effect. The session waits until the step is delivered."""
        del content
        # Ignore events of forks, which are passed on to the parent: a fork has its own loop.
        if event.kind == SkillActivatingEvent.kind and event.session_id == self._session.session_id:
            await self._emit(SkillActivating(skill=event.skill or "", message=event.message or ""))

    async def _go(self, task: str) -> Stop:
        self._add(UserMessage(text=task))
        await self._notice_skills()
        while True:
            if self._turns >= self._max_turns:
                return Stop(ended="turn_limit", reason=f"all {self._max_turns} turns are used, without an answer")
            if (stop := self._tally.over_budget()) is not None:
                return stop
            message = await self._ask(task)
            self._add(message)
            if not message.calls and not message.text.strip():
                return Stop(ended="empty_answer", reason="the model returned neither a text nor a call")
            if not message.calls:
                return Stop(ended="answered", reason=None)
            for call in message.calls:
                if (stop := await self._carry_out(call)) is not None:
                    return stop

    async def _ask(self, task: str) -> AssistantMessage:
        session = self._session
        await session.refresh(whole=False)  # changes on disk or by other processes apply from this turn on
        await self._notice_skills()
        tools = self._offered(session.tools(task=task))
        request = ModelRequest(
            instructions=self._instructions(), messages=tuple(self._messages), tools=tools, settings=self._settings
        )
        self._turns += 1
        await self._emit(TurnStarted(turn=self._turns, instruction_tokens=estimate_tokens(request.instructions)))
        texts: list[str] = []
        calls: list[ToolUse] = []
        opaque: object = None
        used = Usage(cost_usd=None)
        # Close the stream in this task, because an async generator must be closed by the task that reads it.
        async with aclosing(cast("AsyncGenerator[Any, None]", self._model().stream(request))) as parts:
            async for part in parts:
                match part:
                    case TextDelta(text=text):
                        texts.append(text)
                        await self._emit(Said(text=text))
                    case ToolUse():
                        calls.append(part)
                    case Usage():
                        used = part if used == Usage(cost_usd=None) else used + part
                    case Opaque(value=opaque):
                        pass
        self._tally.usage += used
        self._text = "".join(texts) or self._text
        return AssistantMessage(text="".join(texts), calls=tuple(calls), opaque=opaque)

    async def _carry_out(self, call: ToolUse) -> Stop | None:
        await self._emit(CallStarted(call=call))
        if call.unreadable is None:
            result = await self._session.call(call.name, call.arguments, call.id)
        else:
            result = ToolResult.failed(InvalidArgumentsError((call.unreadable,)))
        self._add(ToolMessage(call=call, result=result, text=model_text(result)))
        await self._emit(CallFinished(call=call, result=result))
        value = result.result or {}
        if "child_session_id" in value:
            self._used[str(value.get("skill_name"))] = None
        await self._notice_skills()
        return self._tally.called(call, result)

    async def _notice_skills(self) -> None:
        """Report newly active and no longer active skills, one step each."""
        before = {(skill.location, skill.content_digest) for skill in self._active}
        now = self._session.active_skills
        names = {skill.name for skill in now}
        gone = [skill for skill in self._active if skill.name not in names]
        self._active = now
        for skill in gone:
            await self._emit(SkillDeactivated(skill=skill.name))
        for skill in now:
            if (skill.location, skill.content_digest) not in before:
                self._used[skill.name] = None
                said = Restriction.of_properties(skill.name, skill.properties)
                listed = None if said.tokens is None else tuple(said.permitted)
                await self._emit(SkillActivated(skill=skill.name, allowed_tools=listed))

    def _add(self, message: Message) -> None:
        self._messages.append(message)
        if self._transcript is not None:
            self._transcript.message(message)


def model_text(result: ToolResult) -> str:
    """Return a result as the model reads it: the eight keys of platform requirements 003, as JSON."""
    value = result.as_dict()
    del value["error_detail"]  # meant for programs; `error` has the sentence
    return json_for_model(value)


class Stop(Struct, frozen=True, kw_only=True):
    """Why a run ends. `reason` is None if the model answered."""

    ended: Ending
    reason: str | None


class Tally:
    """Compares the usage of a run with its budget and counts consecutive failures. `clock` is in monotonic seconds."""

    def __init__(self, budget: Budget, clock: Callable[[], float] = time.monotonic) -> None:
        self._budget, self._clock, self._begun = budget, clock, clock()
        self.usage = Usage(cost_usd=0.0)
        self._last: tuple[str, str, str] | None = None
        self._alike = self._failures = 0

    def seconds_left(self) -> float | None:
        """Return the remaining seconds; None without a limit."""
        bound = self._budget.wall_seconds
        return None if bound is None else max(0.0, bound - (self._clock() - self._begun))

    def over_budget(self) -> Stop | None:
        """Return the first limit that is reached; None if no limit is reached."""
        budget, usage = self._budget, self.usage
        if self.seconds_left() == 0:
            return self.out_of_time()
        if budget.tokens is not None and usage.tokens >= budget.tokens:
            return Stop(ended="token_budget", reason=f"{usage.tokens} of {budget.tokens} tokens are used")
        if budget.cost_usd is None:
            return None
        if usage.cost_usd is None:
            reason = "the model does not report its cost, so a limit on cost cannot be enforced"
            return Stop(ended="cost_budget", reason=reason)
        if usage.cost_usd >= budget.cost_usd > 0 or usage.cost_usd > budget.cost_usd:
            reason = f"{usage.cost_usd:.4f} of {budget.cost_usd:.4f} US dollars are spent"
            return Stop(ended="cost_budget", reason=reason)
        return None

    def out_of_time(self) -> Stop:
        """Return the ending of a run whose time is over."""
        return Stop(ended="time_budget", reason=f"the time limit of {self._budget.wall_seconds} seconds is reached")

    def called(self, call: ToolUse, result: ToolResult) -> Stop | None:
        """Count one call and the usage of its sub-agent. Return the reason to end the run, or None.

        A call that waits for an approval counts neither as a failure nor as a success.
        """
        if result.tokens_used or result.cost_usd:
            self.usage += Usage(output_tokens=result.tokens_used, cost_usd=result.cost_usd)
        if result.success:
            self._last, self._alike, self._failures = None, 0, 0
            return None
        detail = result.error_detail or {}
        if detail.get("code") == ApprovalRequiredError.code:
            return None  # not a failure: the call waits for a person
        this = (call.name, json.dumps(call.arguments, sort_keys=True, default=str), str(detail.get("code")))
        self._alike = self._alike + 1 if this == self._last else 1
        self._last = this
        self._failures += 1
        if self._alike >= MOST_ALIKE:
            reason = f"{call.name} failed {self._alike} times in a row with the same arguments: {result.error}"
            return Stop(ended="repeated_failure", reason=reason)
        if self._failures >= MOST_FAILURES:
            reason = f"{self._failures} calls failed in a row; the last error: {result.error}"
            return Stop(ended="repeated_failure", reason=reason)
        return None


# A sub-agent follows its own skill and cannot load others. It can start forks.
_NOT_OFFERED = frozenset({"skills.load", "skills.unload", "skills.list"})


class SubAgentError(SkillError):
    """A sub-agent gave no answer. `reason` is a sentence."""

    code = "unavailable"
    skill: str
    reason: str
    sentence = "the sub-agent of skill {skill!r} gave no answer: {reason}"


class AgentForkRunner:
    """Runs forks within `budget` each. A skill or agent type can name a model of `models`; the default is `model`.

    Every request has `settings`.
    """

    def __init__(
        self,
        model: Model,
        *,
        models: Mapping[str, Model] | None = None,
        budget: Budget | None = None,
        settings: ModelSettings | None = None,
    ) -> None:
        self._model, self._models, self._budget = model, dict(models or {}), budget or Budget()
        self._settings = settings or ModelSettings()

    async def run(self, request: ForkRequest) -> ForkOutcome:
        """Run one sub-agent and return its answer.

        Raises:
            ForkUnavailableError: the skill names a model that is not configured; the sub-agent did not run.
            LimitExceededError: the sub-agent gave no answer within its turns.
            SubAgentError: the sub-agent ended without an answer for another reason.
        """
        model = self._chosen(request)
        result = await TurnLoop(
            request.session,
            model=lambda: model,
            instructions=lambda: request.instructions,
            max_turns=request.max_turns,
            budget=self._budget,
            emit=_drop,
            settings=self._settings,
            offered=lambda specs: tuple(spec for spec in specs if spec.name not in _NOT_OFFERED),
        ).run(request.input)
        report_usage(tokens=result.usage.tokens, cost_usd=result.usage.cost_usd or 0.0)
        return ForkOutcome(output=_answer(request, result), turns=result.turns)

    def _chosen(self, request: ForkRequest) -> Model:
        if request.model is None:
            return self._model
        if request.model not in self._models:
            known = ", ".join(sorted(self._models)) or "none"
            reason = f"model {request.model!r} is not configured; configured models: {known}"
            raise ForkUnavailableError(request.skill_name, reason)
        return self._models[request.model]


def _answer(request: ForkRequest, result: AgentResult) -> str:
    if result.answered:
        return result.text
    if result.ended == "turn_limit":
        what = f"turns of the sub-agent of skill {request.skill_name!r}"
        raise LimitExceededError(what, request.max_turns, None, "ask it for less at once")
    raise SubAgentError(request.skill_name, result.reason or result.ended)


async def _drop(step: AgentStep) -> None:
    """Drop a sub-agent's step: the parent sees only the answer."""
