"""Which statements about a skill count, if there are several places, rules and groups."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from msgspec import structs

from prowess.policy import Policy, PolicyFile, RuleOrigin
from prowess.policy.approvals.matching import statements_about, votes_for
from prowess.policy.approvals.rules import ApprovalRule
from prowess.policy.approvals.statements import Approvals, Vote, Voter, VoteStatement
from prowess.policy.roles import RoleMembers, RoleTable

_DIGEST = f"sha256:{'0' * 64}"
_RULE = ApprovalRule(words=("scripts",), origin=RuleOrigin(path="/etc/prowess/policy.toml", line=1))


def _stated(vote: Vote, day: int, user: str = "ada") -> VoteStatement:
    return VoteStatement(
        vote=vote,
        skill="deploy",
        tree=_DIGEST,
        shown=_DIGEST,
        rule="scripts",
        role="approver",
        voter=Voter(user=user),
        at=datetime(2026, 1, day, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("store", "file", "state"),
    [
        ([("revoke", 2)], [("approve", 1)], "waiting"),
        ([("approve", 1)], [("revoke", 2)], "waiting"),
        ([("refuse", 3)], [("revoke", 2), ("approve", 1)], "refused"),
        ([("revoke", 1)], [("approve", 2)], "approved"),
        ([], [("approve", 3), ("revoke", 2)], "waiting"),
    ],
)
def test_statements_of_several_places_count_in_the_order_of_their_times(
    store: list[tuple[Vote, int]], file: list[tuple[Vote, int]], state: str
) -> None:
    """The order in one place holds, also if its clock was set back."""
    places = [
        Approvals(place=place, statements=tuple(_stated(*one) for one in stated))
        for place, stated in (("store", store), ("file", file))
    ]
    assert votes_for(_RULE, statements_about(_DIGEST, places, "/etc/prowess/policy.toml")).state(_RULE) == state


def test_an_approval_ends_by_each_rule_of_its_name() -> None:
    days = [86400, None]
    files = tuple(
        PolicyFile(path=f"/{number}", approval_rules=(structs.replace(_RULE, expires=one),))
        for number, one in enumerate(days)
    )
    policy = Policy(files=files, approvals=(Approvals(place="file", statements=(_stated("approve", 1),)),))
    assert policy.ends_of_approvals == (datetime(2026, 1, 2, tzinfo=UTC).timestamp(),)


def test_a_group_gives_its_role_to_another_user_than_the_one_of_the_process() -> None:
    members = (RoleMembers(role="approver", groups=frozenset({"security"})),)
    table = RoleTable(members=members, origin=RuleOrigin(path="/p", line=1))
    policy = Policy(files=(PolicyFile(path="/p", roles=table),))
    assert set(policy.roles_of("somebody", ["security"]) or ()) == {"approver"}
    assert set(policy.roles_of("somebody") or ()) == {"user"}
