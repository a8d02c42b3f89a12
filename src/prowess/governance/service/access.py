"""Whether a person may use a skill by the decisions of an organisation, step by step, and the change that turns it.

The skill is the version that is deployed, else the one that most machines use. Policy files of single machines and
users, and whether a machine offers the skill at all, are known there alone: `prowess access` on the machine tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess.errors import ConfigurationError
from prowess.governance.access import AccessStep, explain_call
from prowess.governance.changes import Change  # noqa: TC001 -- msgspec decodes it
from prowess.governance.service.inventory import copies_of
from prowess.governance.service.listing import NoSuchItemError
from prowess.governance.service.skills import chosen_version
from prowess.governance.shared_decisions import SharedDecisions
from prowess.policy.blocks.blocked import Blocks
from prowess.policy.facts.skill_identity import SkillIdentity
from prowess.policy.policy import Policy
from prowess.policy.rule import PolicyCall
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from prowess.governance.service.deployments import Deployment
    from prowess.governance.service.service_call import ServiceCall
    from prowess.policy.facts.requester import Requester


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


class AccessService:
    """Answers questions about access in the tenant of `call`. `deployments` are the present releases there."""

    def __init__(self, call: ServiceCall, deployments: tuple[Deployment, ...] = ()) -> None:
        self._call, self._deployments = call, deployments

    def explain(self, query: AccessQuery) -> AccessAnswer:
        """Explain the decision about a model that loads the skill. About oneself, everybody may ask.

        Raises:
            PolicyDeniedError: the question is about somebody else, and the actor may not read records of other people.
            ConfigurationError: the tenant is `*`.
            NoSuchItemError: no machine has this skill, and it is not deployed.
            StoreError: the store cannot be used.
        """
        self._call.require_person()
        user = self._call.actor.user if query.user is None else query.user
        if user != self._call.actor.user:
            self._call.require("audit")
        if self._call.tenant == EVERY:
            raise ConfigurationError(("access belongs to one tenant; name it",))
        skill, offered = self._subject(query.skill)
        who = self._requester(query, user)
        load = PolicyCall(tool="skills.load", arguments={"names": [skill.name]}, skills=(skill,), who=who)
        rules = SharedDecisions(self._call.database).rules()
        policy = Policy(files=rules.files, blocks=Blocks((rules.blocks,)), approvals=(rules.approvals,), who=who)
        access = explain_call(load, policy, before=(offered,))
        return AccessAnswer(
            skill=query.skill,
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

    def _requester(self, query: AccessQuery, user: str) -> Requester:
        stated = {
            "user": (user,),
            "team": query.team,
            "role": query.role,
            "agent": () if query.agent is None else (query.agent,),
            "environment": () if query.environment is None else (query.environment,),
            "tenant": (self._call.tenant,),
        }
        return {fact: values for fact, values in stated.items() if values}

    def _subject(self, name: str) -> tuple[SkillIdentity, AccessStep]:
        """Return the version of a skill that is used, and the step that tells why."""
        copies = [copy for copy in copies_of(self._call.database) if copy.name == name]
        deployed = [skill for release in self._deployments for skill in release.skills if skill.name == name]
        if not copies and not deployed:
            raise NoSuchItemError("skill", name)
        digest = chosen_version(copies, deployed)
        copy = next((one for one in copies if one.digest == digest), None)
        layer = "enterprise" if deployed else copy.layer if copy is not None else None
        reason = "the deployed version is used" if deployed else f"most machines use the copy of the layer {layer}"
        known = () if digest is None else (digest,)
        skill = SkillIdentity(
            name=name,
            digests=known,
            trees=known,
            layer=layer,
            sources=None if copy is None or copy.source is None else (copy.source,),
            capabilities=None if copy is None else copy.capabilities,
        )
        return skill, AccessStep(step="layer", effect="allow", reason=reason, rule=None)
