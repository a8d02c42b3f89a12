"""Our own agent as a host: `Agent` with a model whose calls the ledger books.

The agent has the built-in tools for its workspace and the scripts of its skills, all in the sandbox, without a network.
The policy of this machine holds. The person who starts an eval consents to changes of its throw-away workspace, for
which a session asks by default. A call that a rule of a policy asks for is refused, because no person can answer.
"""

from __future__ import annotations

import os
import time
from contextlib import aclosing
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, cast

from anyio import to_thread

from prowess.agent import Agent, Budget
from prowess.agent.model import ModelSettings
from prowess.catalog import Catalog
from prowess.errors import SkillError
from prowess.evals.hosts.host import ENDS_CAMPAIGN, TRANSCRIPT, HostRun
from prowess.evals.ledger.calls import OWN_HOST
from prowess.evals.ledger.ledger_model import LedgerModel
from prowess.evals.recordings.redaction import redact_transcript
from prowess.evals.transcripts.reading import read_transcript
from prowess.policy.decision import Ask
from prowess.policy.policy_in_force import PolicyInForce
from prowess.policy.rule import PolicyCall
from prowess.tools.builtin import builtin_tools

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from prowess.agent import AgentResult, Model, ModelRequest, Part
    from prowess.evals.hosts.host import HostRequest
    from prowess.evals.ledger.calls import Calls
    from prowess.evals.ledger.prices import Price
    from prowess.policy import ApprovalRequest

OWN_TURNS = 50
_SAYS_NOTHING = frozenset({"model_failed", "session_failed"})


class OwnAgent:
    """Runs tasks with `model`, None for a replay. Each run has a session, a catalog and artifacts of its own.

    `model_name` is the name that the recording has.
    """

    name = OWN_HOST

    def __init__(self, model: Model | None, calls: Calls, *, model_name: str, price: Price | None = None) -> None:
        self._model, self._calls, self._model_name, self._price = model, calls, model_name, price
        self._policy = PolicyInForce()

    async def run(self, request: HostRequest) -> HostRun:
        """Carry out one task. See `Host.run`."""
        started = time.monotonic()
        path = os.path.join(request.directory, TRANSCRIPT)
        with TemporaryDirectory(prefix="prowess-eval-") as made:
            place = await to_thread.run_sync(os.path.realpath, made)
            places = {request.workspace: "workspace", place: "artifacts"}
            places |= {directory: f"skill-{number}" for number, directory in enumerate(request.skills, 1)}
            self._calls.begin(request.unit, places)
            model = _Watched(self._model, self._calls, request.unit, name=self._model_name, price=self._price)
            try:
                result = await self._agent(model, request, place).run(request.prompt, transcript=path)
                error = result.reason if result.ended in _SAYS_NOTHING else None
            except SkillError as fault:
                result, error = None, str(fault)
            if model.fault is not None:
                raise model.fault
        return _ran(path, result, error, time.monotonic() - started)

    def _agent(self, model: Model, request: HostRequest, place: str) -> Agent:
        limits = request.limits
        return Agent(
            model,
            catalog=Catalog(*request.skills, index=False),
            max_turns=limits.turns or OWN_TURNS,
            budget=Budget(wall_seconds=limits.seconds),
            settings=ModelSettings(max_output_tokens=limits.max_output_tokens, seed=request.seed),
            workspace=request.workspace,
            write=True,
            extra_tools=builtin_tools(workspace=request.workspace, write=True),
            artifacts_dir=os.path.join(place, "artifacts"),
            policy=self._policy,
            approve=partial(self._consents, workspace=request.workspace),
        )

    def _consents(self, request: ApprovalRequest, *, workspace: str) -> bool:
        """Whether no rule asks, only the default for tools that change something."""
        call = PolicyCall(tool=request.tool, arguments=request.arguments)
        decision = self._policy.now().decide(call, workspace)
        return isinstance(decision, Ask) and decision.by_default and decision.reason == request.reason


def _ran(path: str, result: AgentResult | None, error: str | None, seconds: float) -> HostRun:
    transcript = read_transcript(path)
    redact_transcript(path)
    answer = transcript.answer if result is None else result.text
    return HostRun(transcript=transcript, transcript_path=path, answer=answer, seconds=seconds, error=error)


class _Watched(LedgerModel):
    """Keeps the error that ends a campaign: the agent would report it as a failed run."""

    fault: SkillError | None = None

    async def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        """Pass on the parts."""
        try:
            async with aclosing(cast("AsyncGenerator[Part, None]", super().stream(request))) as parts:
                async for part in parts:
                    yield part
        except ENDS_CAMPAIGN as fault:
            self.fault = fault
            raise
