"""Changes of a policy that turn a decision about a skill: each is applied to the policy, which then decides again.

A change removes the obstacle that the policy names. Several obstacles need several changes, and each of them is needed:
every block, every rule that denies or asks, and every missing role or approval is decisive by itself.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.text.canonical_json import sha256_of
from prowess.policy.approvals.matching import missing_approval
from prowess.policy.approvals.statements import Approvals, Voter, VoteStatement
from prowess.policy.blocks.block_file import Block, BlockFile
from prowess.policy.blocks.blocked import Blocks
from prowess.policy.decision import Allow, Deny, RuleOrigin
from prowess.policy.roles import PERMITTED, RoleMembers
from prowess.policy.rule import ArgumentMatch, PolicyRule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.policy.approvals.rules import ApprovalRule
    from prowess.policy.decision import Decision
    from prowess.policy.facts.skill_identity import SkillIdentity
    from prowess.policy.policy import Policy
    from prowess.policy.policy_file import PolicyFile
    from prowess.policy.rule import PolicyCall

ChangeKind = Literal["unblock", "role", "approve", "remove_rule", "add_rule", "sync", "repair", "catalog", "block"]
_MOST = 200


class Change(Struct, frozen=True, kw_only=True):
    """One change, as a sentence for the person who would make it."""

    kind: ChangeKind
    text: str


def changes_to_allow(policy: Policy, call: PolicyCall) -> tuple[tuple[Change, Policy | None], ...]:
    """Return the changes after which the policy allows the call, each with the policy that it leads to.

    The last policy is None if the effect of a change cannot be computed, such as that of a repaired file.
    """
    found: list[tuple[Change, Policy | None]] = []
    now = policy
    while len(found) < _MOST and not isinstance(decision := now.decide(call), Allow):
        change, after = _removed_obstacle(now, call, decision)
        found.append((change, after))
        if after is None:
            break
        now = after
    return tuple(found)


def changes_to_deny(policy: Policy, call: PolicyCall) -> tuple[tuple[Change, Policy | None], ...]:
    """Return the change after which the policy denies the call: a block of the skill's name."""
    name = next((skill.name for skill in call.about if skill.name is not None), "")
    block = Block(id="block-new", kind="name", value=name, reason="…", by="", at="")
    blocks = policy.blocks.joined(Blocks([BlockFile(path="", digest="", blocks=(block,))]))
    change = Change(kind="block", text=f"run `prowess block {name} --reason …`")
    return ((change, replace(policy, blocks=blocks)),)


def _removed_obstacle(policy: Policy, call: PolicyCall, decision: Decision) -> tuple[Change, Policy | None]:
    if policy.fault is not None:
        return Change(kind="repair", text=f"repair the policy: {policy.fault}"), None
    if decision.rule.startswith("block "):
        return _unblocked(policy, decision)
    if decision.rule.startswith("roles."):
        return _with_role(policy, call, decision)
    if isinstance(decision, Deny) and decision.missing is not None:
        return _approved(policy, call, decision)
    if decision.rule.startswith("packages."):
        return Change(kind="sync", text=decision.reason), None
    for file in policy.files:
        rule = next((one for one in file.rules if one.origin == decision.origin and str(one) == decision.rule), None)
        if rule is not None:
            left = replace(file, rules=tuple(one for one in file.rules if one is not rule))
            text = f"remove or narrow the rule '{rule}' at {rule.origin}"
            return Change(kind="remove_rule", text=text), _with_file(policy, file, left)
    file = next(file for file in policy.files if file.unmatched.reason == decision.reason)
    return _allowed_by_rule(policy, file, call)


def _with_file(policy: Policy, before: PolicyFile, after: PolicyFile) -> Policy:
    return replace(policy, files=tuple(after if file is before else file for file in policy.files))


def _unblocked(policy: Policy, decision: Decision) -> tuple[Change, Policy]:
    known = {block.id: block for block, _ in policy.blocks}
    if decision.id in known:
        place = decision.origin.path if decision.origin is not None else ""
        shared = any(one.id == decision.id for file in policy.blocks.files if file.is_shared for one in file.blocks)
        where = ", with --store URL or --server URL of the organisation" if shared else ""
        change = Change(kind="unblock", text=f"run `prowess unblock {decision.id}`{where} ({place})")
        return change, replace(policy, blocks=policy.blocks.without({decision.id}))
    kind = decision.rule.removeprefix("block ")
    ids = {block.id for block in known.values() if block.kind == kind}
    text = f"make the {kind} of the skill known, or lift the blocks by {kind}"
    return Change(kind="unblock", text=text), replace(policy, blocks=policy.blocks.without(ids))


def _with_role(policy: Policy, call: PolicyCall, decision: Decision) -> tuple[Change, Policy]:
    file = next(file for file in policy.files if file.roles is not None and file.roles.origin == decision.origin)
    table, role = file.roles, next(role for role, operations in PERMITTED.items() if "use" in operations)
    assert table is not None  # noqa: S101 -- found by its table
    who = policy.who if call.who is None else call.who
    lacking = [user for user, roles in table.held_by(who) if not any("use" in PERMITTED[one] for one in roles)]
    names = frozenset(user for user in lacking if user is not None)
    if names:
        after = replace(table, members=(*table.members, RoleMembers(role=role, users=names)))
        text = f"give {' and '.join(sorted(names))} the role {role} below [roles] at {table.origin}"
    else:
        after = replace(table, others=role)
        text = f'set others = "{role}" below [roles] at {table.origin}, or let the user be known'
    return Change(kind="role", text=text), _with_file(policy, file, replace(file, roles=after))


def _approved(policy: Policy, call: PolicyCall, decision: Deny) -> tuple[Change, Policy | None]:
    assert decision.missing is not None  # noqa: S101 -- the caller has checked it
    change = Change(kind="approve", text=decision.missing.how.partition("; then send the call again")[0])
    if decision.missing.digest is None:
        return change, None
    for skill in call.about:
        for rule in (rule for file in policy.files for rule in file.approval_rules):
            if missing_approval(rule, skill, policy.approvals) is not None:
                return change, _with_votes(policy, rule, skill)
    return change, None


def _with_votes(policy: Policy, rule: ApprovalRule, skill: SkillIdentity) -> Policy:
    """Return the policy after enough people have approved the skill for the rule."""
    votes = tuple(vote for tree in skill.trees if tree is not None for vote in _votes(rule, skill, tree))
    place = next(
        (one for one in policy.approvals if one.policy_files is None or rule.origin.path in one.policy_files), None
    )
    if place is None:
        added = Approvals(place="", statements=votes, policy_files=frozenset({rule.origin.path}))
        return replace(policy, approvals=(*policy.approvals, added))
    after = replace(place, statements=(*place.statements, *votes))
    return replace(policy, approvals=tuple(after if one is place else one for one in policy.approvals))


def _votes(rule: ApprovalRule, skill: SkillIdentity, tree: str) -> Iterator[VoteStatement]:
    vote = VoteStatement(
        vote="revoke",  # makes a refusal void
        skill=skill.name or "-",
        tree=tree,
        shown=sha256_of(b""),
        rule=rule.name,
        role=rule.roles[0],
        voter=Voter(user="-"),
        at=datetime.now(UTC),
    )
    yield vote
    for number in range(rule.count):
        yield replace(vote, vote="approve", voter=Voter(user=f"person {number}"))


def _allowed_by_rule(policy: Policy, file: PolicyFile, call: PolicyCall) -> tuple[Change, Policy]:
    name = next((skill.name for skill in call.about if skill.name is not None), "")
    rule = PolicyRule(
        effect="allow",
        tool=call.tool,
        matches=(ArgumentMatch(argument="skill.name", patterns=(name,)),),
        reason=None,
        origin=RuleOrigin(path=file.path, line=0),
    )
    text = f'add to {file.path}: [[rule]] effect = "allow", tool = "{call.tool}", match = {{ skill.name = "{name}" }}'
    return Change(kind="add_rule", text=text), _with_file(policy, file, replace(file, rules=(*file.rules, rule)))
