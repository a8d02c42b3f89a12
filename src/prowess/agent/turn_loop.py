"""The turn loop: ask the model, carry out its calls, ask again, until it answers or something ends it.

The instructions are composed anew for every call of the model, because loading a skill changes them; messages are only
ever added, because a history that is rewritten can neither be trusted nor cached. Each tool call goes through the
session's one executor, in the order in which the model asked: a skill that is loaded by the first holds for the second.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

import anyio

from prowess.agent.model import (
    AssistantMessage,
    ModelError,
    ModelRequest,
    Opaque,
    TextDelta,
    ToolMessage,
    ToolUse,
    Usage,
    UserMessage,
)
from prowess.agent.result import (
    AgentResult,
    AgentStep,
    CallFinished,
    CallStarted,
    Ended,
    Said,
    SkillActivated,
    SkillActivating,
    SkillDeactivated,
    TurnStarted,
)
from prowess.agent.tally import Stop, Tally
from prowess.errors import InvalidArgumentsError, SkillError
from prowess.policy.restriction import Restriction
from prowess.runtime.disclosure.model_texts import estimate_tokens
from prowess.runtime.events.event import SkillActivating as SkillActivatingEvent
from prowess.tools import ToolResult
from prowess.tools.prompt_escaping import json_for_model

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from prowess.agent.model import Message, Model
    from prowess.agent.result import Budget
    from prowess.agent.transcript import Transcript
    from prowess.runtime.events.event import SessionEvent
    from prowess.runtime.forks.fork import ForkSession
    from prowess.runtime.state import ActiveSkill
    from prowess.tools import ToolSpec

Emit = Callable[[AgentStep], Awaitable[None]]


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
        session.observe(_Activations(session.session_id, emit))

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
            if not message.calls:
                return _answered(message)
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
                        used = part if used == Usage(cost_usd=None) else _sum(used, part)
                    case Opaque(value=opaque):
                        pass
        self._tally.add(used)
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
                tokens = Restriction.of_field(skill.name, skill.allowed_tools).tokens
                listed = None if tokens is None else tuple(str(token) for token in tokens)
                await self._emit(SkillActivated(skill=skill.name, allowed_tools=listed))

    def _add(self, message: Message) -> None:
        self._messages.append(message)
        if self._transcript is not None:
            self._transcript.message(message)


class _Activations:
    """Makes a step of an activation before it takes effect: the session waits until the step is told."""

    def __init__(self, session_id: str, emit: Emit) -> None:
        self._session_id, self._emit = session_id, emit

    async def observe(self, event: SessionEvent, content: Mapping[str, object]) -> None:
        del content
        # A fork hands its events on, and has a loop of its own.
        if event.kind == SkillActivatingEvent.kind and event.session_id == self._session_id:
            await self._emit(SkillActivating(skill=event.skill or "", message=event.message or ""))


def model_text(result: ToolResult) -> str:
    """Return a result as a model reads it: the eight keys of platform requirements 003, as JSON."""
    value = result.as_dict()
    del value["error_detail"]  # for programs; its sentence stands in `error`
    return json_for_model(value)


def _answered(message: AssistantMessage) -> Stop:
    if message.text.strip():
        return Stop(ended="answered", reason=None)
    return Stop(ended="empty_answer", reason="the model returned neither a text nor a call")


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        cost_usd=None if one.cost_usd is None or other.cost_usd is None else one.cost_usd + other.cost_usd,
    )
