"""Runs skills with `context: fork`: a turn loop of its own for each, over the session that the request brings.

A sub-agent is told the skill's instructions and the input, nothing else; the request holds nothing of the parent's
messages or state, so there is nothing here that could pass them on. What it used is reported to the call that started
it (platform requirements 003, context forking and context isolation).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.agent.model import Budget
from prowess.agent.turn_loop import TurnLoop
from prowess.errors import LimitExceededError, SkillError
from prowess.runtime.forks.fork import ForkOutcome, ForkUnavailableError
from prowess.tools import report_usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.agent.model import AgentResult, AgentStep, Model
    from prowess.runtime.forks.fork import ForkRequest

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
        loop = TurnLoop(
            request.session,
            model=lambda: model,
            instructions=lambda: request.instructions,
            max_turns=request.max_turns,
            budget=self._budget,
            emit=_to_nobody,
            offered=lambda specs: tuple(spec for spec in specs if spec.name not in _NOT_OFFERED),
        )
        result = await loop.run(request.input)
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
