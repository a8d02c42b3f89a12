"""Whether a person may use a skill by the policies of an organisation, step by step, and the change that turns it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

from prowess.governance.access import AccessStep, explain_access
from prowess.governance.changes import Change  # noqa: TC001 -- msgspec decodes it

if TYPE_CHECKING:
    from prowess.catalog import Resolution
    from prowess.governance.service.service_call import ServiceCall
    from prowess.policy.facts.requester import Requester
    from prowess.policy.policy import Policy
    from prowess.policy.rule import PolicyCall


class AccessQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who would use which skill. A value that is left out is not known: rules that deny or ask about it apply."""

    skill: str
    user: str | None = None
    team: tuple[str, ...] = ()
    role: tuple[str, ...] = ()
    agent: str | None = None
    environment: str | None = None


class AccessChange(Struct, frozen=True, kw_only=True):
    """Changes that together turn the decision into `turns_to`."""

    turns_to: Literal["allow", "deny"]
    acts: tuple[Change, ...]


class AccessAnswer(Struct, frozen=True, kw_only=True):
    """The effective decision. `change` is None if no change of policy turns it; `origin` as in the steps."""

    skill: str
    user: str | None
    teams: tuple[str, ...]
    roles: tuple[str, ...]
    effect: Literal["allow", "ask", "deny"]
    rule: str
    origin: str | None
    reason: str
    steps: tuple[AccessStep, ...]
    change: AccessChange | None


class SkillsInUse(Protocol):
    """The skills of an organisation, and the policy that decides about them."""

    def subject(self, skill: str, who: Requester) -> tuple[Resolution, PolicyCall | None, Policy]:
        """Return all copies of a skill, the call that loads the one in use (None if there is none), and the policy.

        Raises:
            SkillNotFoundError: there is no such skill.
        """


class AccessService:
    """Answers questions about access in the tenant of `call`."""

    def __init__(self, call: ServiceCall, skills: SkillsInUse) -> None:
        self._call, self._skills = call, skills

    def explain(self, query: AccessQuery) -> AccessAnswer:
        """Explain the decision. About oneself, everybody may ask.

        Raises:
            PolicyDeniedError: the question is about somebody else, and the actor may not read records of other people.
            SkillNotFoundError: there is no such skill.
            StoreError: the store cannot be used.
        """
        user = self._call.actor.user if query.user is None else query.user
        if user != self._call.actor.user:
            self._call.require("audit")
        stated = {
            "user": (user,),
            "team": query.team,
            "role": query.role,
            "agent": () if query.agent is None else (query.agent,),
            "environment": () if query.environment is None else (query.environment,),
            "tenant": (self._call.tenant,),
        }
        who = {fact: values for fact, values in stated.items() if values}
        return access_answer(query, user, *self._skills.subject(query.skill, who))


def access_answer(
    query: AccessQuery, user: str | None, found: Resolution, call: PolicyCall | None, policy: Policy
) -> AccessAnswer:
    """Return the answer about a skill for a user. `call` as in `explain_access`."""
    access = explain_access(found, call, policy)
    return AccessAnswer(
        skill=found.name,
        user=user,
        teams=query.team,
        roles=query.role,
        effect=access.effect,
        rule=access.rule,
        origin=access.origin,
        reason=access.reason,
        steps=access.steps,
        change=AccessChange(turns_to=access.turns_to, acts=access.changes) if access.changes else None,
    )
