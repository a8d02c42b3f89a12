"""One answer for one call: what policy and active skills say together, without asking or running anything.

The order is that of the gates before a run: the policy denies, then a skill refuses, then what is left is asked about
or allowed. A host that only wants to know, or that runs its tools itself, asks here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.policy.decision import Ask, Decision, Deny
from prowess.policy.restriction import Restriction, decide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.policy.policy import Policy
    from prowess.policy.rule import PolicyCall


def decide_call(
    call: PolicyCall, active: Sequence[Restriction], policy: Policy | None = None, workspace: str | None = None
) -> Decision:
    """Decide about one call while these skills are active; without a policy the skills alone decide."""
    by_policy = None if policy is None else policy.decide(call, workspace)
    if isinstance(by_policy, Deny):
        return by_policy
    by_skills = decide(call.tool, call.arguments, active, workspace)
    if by_policy is None or isinstance(by_skills, Deny):
        return by_skills
    if isinstance(by_policy, Ask) and by_policy.by_default and by_skills.preapproved_by is not None:
        return by_skills
    return by_policy
