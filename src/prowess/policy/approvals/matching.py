"""Decides whether a skill is approved: which statements count for a rule, and whether they are enough.

A statement counts if it is about exactly these bytes and this rule, was made in a role that the rule names, has not
ended, and is of a person who is not the author. One person and one key count once. A refusal ends the question, and
`revoke` makes every earlier statement void; then people can vote again.
"""

from __future__ import annotations

import os
import shlex
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess._internal.files.enrolment import server_options
from prowess._internal.places import MACHINE_POLICY
from prowess._internal.text.user_names import is_same_person
from prowess.policy.approvals.rules import ApprovalRule
from prowess.policy.approvals.statements import request_id
from prowess.policy.decision import ApprovalNeeded, Deny, RuleOrigin

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prowess.policy.approvals.statements import Approvals, VoteStatement
    from prowess.policy.facts.skill_identity import SkillIdentity

ApprovalState = Literal["waiting", "approved", "refused"]
_CLOCKS = timedelta(minutes=5)  # by which the clocks of two machines may differ


class Votes(Struct, frozen=True, kw_only=True):
    """The statements that count for one skill and one rule: those that approve it, or the one that refuses it."""

    given: tuple[VoteStatement, ...] = ()
    refused: VoteStatement | None = None

    def state(self, rule: ApprovalRule) -> ApprovalState:
        """Return what the statements mean under a rule."""
        if self.refused is not None:
            return "refused"
        return "approved" if len(self.given) >= rule.count else "waiting"


def votes_for(rule: ApprovalRule, statements: Iterable[VoteStatement], now: datetime | None = None) -> Votes:
    """Return the votes that count for a rule. `statements` are about one skill, in their order."""
    moment = datetime.now(UTC) if now is None else now
    given: list[VoteStatement] = []
    refused: VoteStatement | None = None
    for one in statements:
        if one.rule != rule.name:
            continue
        if one.vote == "revoke":
            given, refused = [], None
        elif _counts(one, rule, moment):
            if one.vote == "refuse":
                refused = one
            elif not any(is_same_voter(one, other) for other in given):
                given.append(one)
    return Votes(given=tuple(given), refused=refused)


def is_same_voter(one: VoteStatement, other: VoteStatement) -> bool:
    """Return whether two statements are of one person: one user, or one key."""
    return is_same_person(one.voter.user, other.voter.user) or (
        one.voter.key is not None and one.voter.key == other.voter.key
    )


def statements_about(tree: str, approvals: Sequence[Approvals], policy_file: str) -> list[VoteStatement]:
    """Return the statements about a skill that count for the rules of a policy file, in the order of their times.

    Those of one place keep their order, also if a clock was set back.
    """
    dated: list[tuple[datetime, VoteStatement]] = []
    for one in approvals:
        if one.policy_files is None or policy_file in one.policy_files:
            found = one.by_tree.get(tree, ())
            dated += zip(accumulate((statement.at for statement in found), max), found, strict=True)
    return [statement for _, statement in sorted(dated, key=lambda pair: pair[0])]


def missing_approval(rule: ApprovalRule, skill: SkillIdentity, approvals: Sequence[Approvals]) -> ApprovalNeeded | None:
    """Return what a skill lacks under a rule; None if it is approved, or the rule is not about it."""
    if skill.approved is True or not rule.reasons(skill):
        return None
    for tree in skill.trees or (None,):
        votes = Votes() if tree is None else votes_for(rule, statements_about(tree, approvals, rule.origin.path))
        if tree is None or votes.state(rule) != "approved":
            store = next((one.place for one in approvals if one.policy_files is None), None)
            return _needed(rule, skill, tree, votes, store)
    return None


def denied_until_approved(rule: ApprovalRule, skill: SkillIdentity, missing: ApprovalNeeded) -> Deny:
    """Return the denial of a call about a skill that is not approved."""
    people = f"{missing.needed} {'person' if missing.needed == 1 else 'people'}"
    reason = f"skill {missing.skill!r} needs the approval of {people} ({', '.join(rule.reasons(skill))})"
    done = f"; {missing.given} approved it" if missing.given else ""
    name = f"approval for {', '.join(rule.words)}"
    return Deny(rule=name, reason=f"{reason}{done}", origin=rule.origin, id=rule.id, missing=missing)


def is_approved(skill: SkillIdentity, approvals: Sequence[Approvals], policy_file: str) -> bool | None:
    """Return whether at least one person approves each part of a skill, by any rule; None if no digest is known."""
    if not skill.trees or None in skill.trees:
        return None
    return all(_has_a_vote(statements_about(tree or "", approvals, policy_file)) for tree in skill.trees)


def _has_a_vote(statements: Sequence[VoteStatement]) -> bool:
    roles, nowhere = tuple({one.role for one in statements}), RuleOrigin(path="", line=0)
    rules = (ApprovalRule(words=(), roles=roles, id=name, origin=nowhere) for name in {one.rule for one in statements})
    return any(votes_for(rule, statements).state(rule) == "approved" for rule in rules)


def _counts(one: VoteStatement, rule: ApprovalRule, now: datetime) -> bool:
    end = one.end(rule.expires)
    return (
        one.role in rule.roles
        and one.voter.kind == "person"
        and (rule.own or not one.voter.is_author)
        and one.at <= now + _CLOCKS
        and (end is None or now < end)
    )


def _needed(
    rule: ApprovalRule, skill: SkillIdentity, tree: str | None, votes: Votes, store: str | None
) -> ApprovalNeeded:
    name = skill.name or ""
    return ApprovalNeeded(
        request=request_id(tree, rule.name),
        skill=name,
        digest=tree,
        rule=rule.name,
        needed=rule.count,
        given=len(votes.given),
        how=_how(rule, name, tree, votes, store),
    )


def _how(rule: ApprovalRule, name: str, tree: str | None, votes: Votes, store: str | None) -> str:
    """Return a sentence: what people have to do."""
    if tree is None:
        return (
            "The skill has no digest, because it has links or files that cannot be read; replace them, then ask again"
        )
    of_machine = os.path.dirname(rule.origin.path) == os.path.dirname(MACHINE_POLICY)
    server = server_options(rule.origin.path)
    where = f" {server}" if server else ""
    if store is not None:
        # As `suggested_url`, whose module is not needed here otherwise: `store` is without user and password already.
        where = f" --store {shlex.quote(store) if store.startswith('sqlite:///') else 'URL'}"
    sudo, place = ("sudo ", "") if of_machine and not where else ("", where)
    if votes.refused is not None:
        by = f"{votes.refused.voter.user} refused it"
        by += f": {votes.refused.reason}" if votes.refused.reason else ""
        return f"{by}; to ask again, run `{sudo}prowess approvals revoke {request_id(tree, rule.name)}{place}`"
    left = rule.count - len(votes.given)
    people = f"{left} {'more ' if votes.given else ''}{'person' if left == 1 else 'people'}"
    role = " or ".join(rule.roles)
    author = "" if rule.own else ", not the author,"
    verb = "runs" if left == 1 else "each run"
    command = f"{sudo}prowess approve {shlex.quote(name)} --digest {tree}{place}"
    return f"{people} with the role {role}{author} {verb} `{command}`; then send the call again"
