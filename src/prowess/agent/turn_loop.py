"""The turn loop: ask the model, carry out its calls, ask again, until it answers or something ends it.

The instructions are composed anew for every call of the model, because loading a skill changes them; messages are only
ever added, because a history that is rewritten can neither be trusted nor cached. Each tool call goes through the
session's one executor, in the order in which the model asked: a skill that is loaded by the first holds for the second.

`AgentForkRunner` runs skills with `context: fork`: a turn loop of its own for each, over the session that the request
brings. A sub-agent is told the skill's instructions and the input, nothing else; the request holds nothing of the
parent's messages or state, so there is nothing here that could pass them on. What it used is reported to the call that
started it (platform requirements 003, context forking and context isolation).
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
    from collections.abc import AsyncGenerator, Mapping

    from prowess.agent.model import Ending, Message, Model
    from prowess.agent.transcript import Transcript
    from prowess.runtime.events.event import SessionEvent
    from prowess.runtime.forks import ForkRequest, ForkSession
    from prowess.runtime.state import ActiveSkill
    from prowess.tools import ToolSpec

Emit = Callable[[AgentStep], Awaitable[None]]
MOST_ALIKE = 3  # failures of the same call with the same error, one after another
MOST_FAILURES = 10  # failures of whatever calls, one after another


class TurnLoop:
    """One run over one session, which whoever made it closes.

    `model` returns the model of the next turn, `instructions` its system prompt; `offered` may leave out tools.
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
        offered: Callable[[tuple[ToolSpec, ...]], tuple[ToolSpec, ...]] = tuple,
        transcript: Transcript | None = None,
    ) -> None:
        self._session, self._model, self._instructions, self._offered = session, model, instructions, offered
        self._max_turns, self._tally, self._emit, self._transcript = max_turns, Tally(budget), emit, transcript
        self._messages: list[Message] = []
        self._active: tuple[ActiveSkill, ...] = ()
        self._used: dict[str, None] = {}
        self._text = ""
        self._turns = 0
        session.observe(self)

    async def run(self, task: str) -> AgentResult:
        """Go through the turns; only cancellation and defects raise."""
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
        """Make a step of an activation before it takes effect: the session waits until the step is told."""
        del content
        # A fork hands its events on, and has a loop of its own.
        if event.kind == SkillActivatingEvent.kind and event.session_id == self._session.session_id:
            await self._emit(SkillActivating(skill=event.skill or "", message=event.message or ""))

    async def _go(self, task: str) -> Stop:
        self._add(UserMessage(text=task))
        await self._notice_skills()
        while True:
            if self._turns >= self._max_turns:
                return Stop(ended="turn_limit", reason=f"all {self._max_turns} turns are taken, without an answer")
            if (stop := self._tally.over_budget()) is not None:
                return stop
            message = await self._ask()
            self._add(message)
            if not message.calls and not message.text.strip():
                return Stop(ended="empty_answer", reason="the model returned neither a text nor a call")
            if not message.calls:
                return Stop(ended="answered", reason=None)
            for call in message.calls:
                if (stop := await self._carry_out(call)) is not None:
                    return stop

    async def _ask(self) -> AssistantMessage:
        session = self._session
        await session.refresh()  # what changed on disk, or in another process, holds from this turn on
        await self._notice_skills()
        tools = self._offered(session.tools())
        request = ModelRequest(instructions=self._instructions(), messages=tuple(self._messages), tools=tools)
        self._turns += 1
        await self._emit(TurnStarted(turn=self._turns, instruction_tokens=estimate_tokens(request.instructions)))
        texts: list[str] = []
        calls: list[ToolUse] = []
        opaque: object = None
        used = Usage(cost_usd=None)
        # What a model streams is closed here and now, in the task that reads it.
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
        """Say which skills came into force and which are gone, each as a step of its own."""
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
    """Return a result as a model reads it: the eight keys of platform requirements 003, as JSON."""
    value = result.as_dict()
    del value["error_detail"]  # for programs; its sentence stands in `error`
    return json_for_model(value)


class Stop(Struct, frozen=True, kw_only=True):
    """Why a run ends; `reason` is None where the model came to an end by itself."""

    ended: Ending
    reason: str | None


class Tally:
    """What a run has used so far, held against its budget, and how often its calls failed in a row.

    Both are reasons to stop, and both are said in one sentence. `clock` gives seconds that never go back.
    """

    def __init__(self, budget: Budget, clock: Callable[[], float] = time.monotonic) -> None:
        self._budget, self._clock, self._begun = budget, clock, clock()
        self.usage = Usage(cost_usd=0.0)
        self._last: tuple[str, str, str] | None = None
        self._alike = self._failures = 0

    def seconds_left(self) -> float | None:
        """Return what is left of the time; None without a bound."""
        bound = self._budget.wall_seconds
        return None if bound is None else max(0.0, bound - (self._clock() - self._begun))

    def over_budget(self) -> Stop | None:
        """Return the first bound that is reached."""
        budget, usage = self._budget, self.usage
        if self.seconds_left() == 0:
            return self.out_of_time()
        if budget.tokens is not None and usage.tokens >= budget.tokens:
            return Stop(ended="token_budget", reason=f"{usage.tokens} tokens are used, of {budget.tokens}")
        if budget.cost_usd is None:
            return None
        if usage.cost_usd is None:
            reason = "the model does not report its cost, so a bound on it cannot be kept"
            return Stop(ended="cost_budget", reason=reason)
        if usage.cost_usd >= budget.cost_usd > 0 or usage.cost_usd > budget.cost_usd:
            reason = f"{usage.cost_usd:.4f} US dollars are spent, of {budget.cost_usd:.4f}"
            return Stop(ended="cost_budget", reason=reason)
        return None

    def out_of_time(self) -> Stop:
        """Return the reason of a run whose time is over."""
        return Stop(ended="time_budget", reason=f"the {self._budget.wall_seconds} seconds of this run are over")

    def called(self, call: ToolUse, result: ToolResult) -> Stop | None:
        """Count one call, and what a sub-agent used in it; return why the run should end, if it should.

        A call that waits for an approval neither fails nor ends a row of failures.
        """
        if result.tokens_used or result.cost_usd:
            self.usage += Usage(output_tokens=result.tokens_used, cost_usd=result.cost_usd)
        if result.success:
            self._last, self._alike, self._failures = None, 0, 0
            return None
        detail = result.error_detail or {}
        if detail.get("code") == ApprovalRequiredError.code:
            return None  # it waits for a person and has not failed
        this = (call.name, json.dumps(call.arguments, sort_keys=True, default=str), str(detail.get("code")))
        self._alike = self._alike + 1 if this == self._last else 1
        self._last = this
        self._failures += 1
        if self._alike >= MOST_ALIKE:
            reason = f"{call.name} failed {self._alike} times in a row with the same arguments: {result.error}"
            return Stop(ended="repeated_failure", reason=reason)
        if self._failures >= MOST_FAILURES:
            reason = f"{self._failures} calls failed one after another, the last: {result.error}"
            return Stop(ended="repeated_failure", reason=reason)
        return None


# A sub-agent has its skill; it follows that one and is not offered others to join it. Forks within are.
_NOT_OFFERED = frozenset({"skills.load", "skills.unload"})


class SubAgentError(SkillError):
    """A sub-agent came to no answer; `reason` is a sentence."""

    code = "unavailable"
    skill: str
    reason: str
    sentence = "the sub-agent of skill {skill!r} came to no answer: {reason}"


class AgentForkRunner:
    """Runs forks with `model`, or with the one of `models` that the skill or its agent type names.

    `budget` bounds each sub-agent for itself.
    """

    def __init__(
        self, model: Model, *, models: Mapping[str, Model] | None = None, budget: Budget | None = None
    ) -> None:
        self._model, self._models, self._budget = model, dict(models or {}), budget or Budget()

    async def run(self, request: ForkRequest) -> ForkOutcome:
        """Run one sub-agent to its answer.

        Raises:
            ForkUnavailableError: the skill names a model that is not configured; nothing was run.
            LimitExceededError: it did not come to an answer within its turns.
            SubAgentError: it ended otherwise without one.
        """
        model = self._chosen(request)
        result = await TurnLoop(
            request.session,
            model=lambda: model,
            instructions=lambda: request.instructions,
            max_turns=request.max_turns,
            budget=self._budget,
            emit=_to_nobody,
            offered=lambda specs: tuple(spec for spec in specs if spec.name not in _NOT_OFFERED),
        ).run(request.input)
        report_usage(tokens=result.usage.tokens, cost_usd=result.usage.cost_usd or 0.0)
        return ForkOutcome(output=_answer(request, result), turns=result.turns)

    def _chosen(self, request: ForkRequest) -> Model:
        if request.model is None:
            return self._model
        if request.model not in self._models:
            known = ", ".join(sorted(self._models)) or "none"
            reason = f"model {request.model!r} is not configured; there are: {known}"
            raise ForkUnavailableError(request.skill_name, reason)
        return self._models[request.model]


def _answer(request: ForkRequest, result: AgentResult) -> str:
    if result.answered:
        return result.text
    if result.ended == "turn_limit":
        what = f"turns of the sub-agent of skill {request.skill_name!r}"
        raise LimitExceededError(what, request.max_turns, None, "ask it for less at once")
    raise SubAgentError(request.skill_name, result.reason or result.ended)


async def _to_nobody(step: AgentStep) -> None:
    """A sub-agent's steps are its own: its parent sees what it answers."""
