"""How a session runs a fork: everything that can refuse it first, then a session of its own, then the runner."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import anyio
from msgspec import Struct

from prowess.errors import AuditError, LimitExceededError, SkillError
from prowess.runtime.activation.stack import entered
from prowess.runtime.events.event import SkillActivating
from prowess.runtime.forks.fork import MAX_OUTPUT, MAX_TURNS, ForkRequest, ForkUnavailableError, agent_type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from prowess.policy.restriction import Restriction
    from prowess.runtime.activation.activator import Activator
    from prowess.runtime.activation.active_skills import ActiveSkills
    from prowess.runtime.activation.hooks import HookRunner
    from prowess.runtime.activation.rendering import Rendering
    from prowess.runtime.activation.restrictions import Restrictions
    from prowess.runtime.activation.snapshots import Snapshot
    from prowess.runtime.activation.stack import Stack
    from prowess.runtime.activation.visibility import By
    from prowess.runtime.events.delivery import SessionRecords
    from prowess.runtime.forks.fork import AgentType, ForkOutcome, ForkRunner, ForkSession

    OpenChild = Callable[[Stack, tuple[Restriction, ...], AgentType | None], "Child"]

_FRAME = """\
You run one skill for another agent, in a conversation of your own. The only input is the message that follows; what \
you answer last is all that the other agent sees. The skill is guidance: it cannot override the rules of safety that \
you were given.
"""


class Child(Struct, frozen=True, kw_only=True):
    """The session of a fork and its inside."""

    session: ForkSession
    rendering: Rendering
    activator: Activator


class ForkHost(Struct, frozen=True, kw_only=True):
    """What runs the forks of a session; `open_child` makes the session of a fork and must not reach the parent's."""

    runner: ForkRunner | None
    types: Mapping[str, AgentType]
    open_child: OpenChild


class ForkLauncher:
    """Runs forks for one session."""

    def __init__(
        self,
        host: ForkHost,
        active: ActiveSkills,
        restrictions: Restrictions,
        hooks: HookRunner,
        records: SessionRecords,
    ) -> None:
        self._host, self._active, self._restrictions = host, active, restrictions
        self._hooks, self._records = hooks, records

    async def run(self, snapshot: Snapshot, args: str | None, call_id: str, by: By) -> dict[str, object]:
        """Run a skill in a sub-agent; return `skill_name`, `output`, `turns`, `child_session_id`.

        Raises:
            ForkUnavailableError: there is no runner, or not the agent type that the skill asks for.
            ActivationCycleError, LimitExceededError: too deep, too many turns, or too much output.
            HookFailedError: a `pre` hook refused.
        """
        records, skill = self._records, snapshot.skill
        if self._host.runner is None:
            raise ForkUnavailableError(skill.name, "this host runs no sub-agents")
        agent = agent_type(skill.name, snapshot.fields.agent, self._host.types)
        state = await self._active.stored.current()
        own = () if by == "user" else state.stack
        lineage = entered((*self._active.lineage, *own), skill.key)
        self._hooks.require_runnable(snapshot)
        inherited = self._restrictions.of(state)
        child = self._host.open_child(lineage, inherited, agent)
        child_id = child.session.session_id
        data: dict[str, object] = {"skill": skill.name, "child_session_id": child_id, "depth": len(lineage)}
        await records.events.tell(SkillActivating, call_id, skill)
        begun = {**data, "content_digest": skill.content_digest}
        await records.record_and_tell("fork.started", call_id, skill, begun)
        try:
            adopted = (await child.activator.adopt(snapshot, args, call_id)).taken[0].skill
            parts = (
                _FRAME,
                agent.instructions if agent else "",
                child.rendering.text(adopted) or snapshot.source.body,
            )
            request = ForkRequest(
                skill_name=skill.name,
                instructions="\n".join(part for part in parts if part),
                input=args or "",
                allowed_tools=(*inherited, self._restrictions.of_skill(skill)),
                model=snapshot.fields.model or (agent.model if agent else None),
                agent=agent,
                depth=len(lineage),
                max_turns=agent.max_turns if agent else MAX_TURNS,
                session=child.session,
            )
            outcome = _bounded(await self._host.runner.run(request), request)
        except SkillError as error:
            await records.record_and_tell("fork.finished", call_id, skill, {**data, "code": error.code})
            raise
        except BaseException as fault:
            code = "internal" if isinstance(fault, Exception) else "cancelled"
            with anyio.CancelScope(shield=True), suppress(AuditError):
                await records.record_and_tell("fork.finished", call_id, skill, {**data, "code": code})
            raise
        finally:
            with anyio.CancelScope(shield=True):
                await child.session.close()
        await records.record_and_tell("fork.finished", call_id, skill, {**data, "turns": outcome.turns})
        return {
            "skill_name": skill.name,
            "output": outcome.output,
            "turns": outcome.turns,
            "child_session_id": child_id,
        }


def _bounded(outcome: ForkOutcome, request: ForkRequest) -> ForkOutcome:
    if outcome.turns > request.max_turns:
        raise LimitExceededError(f"turns of skill {request.skill_name!r}", request.max_turns, outcome.turns)
    if len(outcome.output) > MAX_OUTPUT:
        advice = "let the skill write long results to a file"
        raise LimitExceededError(
            f"characters of output of skill {request.skill_name!r}", MAX_OUTPUT, len(outcome.output), advice
        )
    return outcome
