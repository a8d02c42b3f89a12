"""Who deploys a skill counts as one of its authors. With `own = false`, nobody approves and deploys the same bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import printable_line
from prowess._internal.text.user_names import is_same_person
from prowess.governance.approving import asking_rules
from prowess.governance.stored_questions import StoredQuestions
from prowess.policy.approvals.matching import statements_about, votes_for
from prowess.store.shared.deployers import SharedDeployerStore
from prowess.store.shared.organisation import tenants_in
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from collections.abc import Collection

    from prowess.governance.service.service_call import ServiceCall


def record_deployer(call: ServiceCall, digests: Collection[str]) -> None:
    """Remember, before a release is made, that the actor of a call deploys the skills with these tree digests.

    Raises:
        PolicyDeniedError: the actor has approved one of them, and the rule wants the approval of others.
        StoreError: the store cannot be used.
        PolicyError: a policy of the organisation is damaged.
    """
    for tenant in tenants_in(call.database) if call.tenant == EVERY else (call.tenant,):
        _require_no_own_approval(call, tenant, digests)
    SharedDeployerStore(call.database).add_deployer(digests, call.actor.user)  # a vote that follows is refused


def _require_no_own_approval(call: ServiceCall, tenant: str, digests: Collection[str]) -> None:
    policy = StoredQuestions(call.database.of_tenant(tenant)).policy()
    for rule in (rule for rule in asking_rules(policy) if not rule.own):
        for digest in digests:
            votes = votes_for(rule, statements_about(digest, policy.approvals, rule.origin.path))
            own = next((one for one in votes.given if is_same_person(one.voter.user, call.actor.user)), None)
            if own is not None:
                who, skill = printable_line(call.actor.user), printable_line(own.skill)
                reason = f"{who} has approved {skill!r}, and {rule.origin} wants the approval of others (own = false)"
                remedy = f"somebody else deploys it, or `prowess approvals revoke {own.request}` takes the votes back"
                raise call.refused("deploy", str(rule.origin), f"{reason}; {remedy}")
