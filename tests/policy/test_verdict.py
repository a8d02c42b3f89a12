"""Policy and skills together: the first that denies is named, and only a default gives way to a pre-approval."""

from __future__ import annotations

import pytest

from prowess.policy.decision import Allow, Ask, Deny, RuleOrigin, would_be
from prowess.policy.policy import Policy, decide_call
from prowess.policy.policy_file import PolicyFile
from prowess.policy.restriction import Restriction
from prowess.policy.rule import Effect, PolicyCall, PolicyRule

_CALL = PolicyCall(tool="Bash", arguments={"command": "git log"})
_GIT = Restriction.of_field("a", "Bash(git:*)")
_READ = Restriction.of_field("b", "Read")
_LISTED = Restriction.of_field("c", "Bash(git:*)", mode="preapprove")


def _policy(effect: Effect) -> Policy:
    rule = PolicyRule(effect=effect, tool="Bash", matches=(), reason=None, origin=RuleOrigin(path="p", line=1))
    return Policy(files=(PolicyFile(path="p", rules=(rule,)),))


@pytest.mark.parametrize(
    ("active", "policy", "kind", "rule"),
    [
        ([], None, Allow, "allowed-tools"),
        ([_GIT], None, Allow, "allowed-tools"),
        ([_GIT, _READ], None, Deny, "allowed-tools:tool"),
        ([_GIT], Policy(), Ask, "built-in"),
        ([_LISTED], Policy(), Allow, "allowed-tools"),
        ([_LISTED], _policy("ask"), Ask, "ask Bash"),
        ([_LISTED, _READ], Policy(), Deny, "allowed-tools:tool"),
        ([_READ], _policy("deny"), Deny, "deny Bash"),
        ([_GIT], _policy("allow"), Allow, "allow Bash"),
        ([_READ], _policy("allow"), Deny, "allowed-tools:tool"),
    ],
)
def test_what_is_decided_and_by_whom(
    active: list[Restriction], policy: Policy | None, kind: type[object], rule: str
) -> None:
    decision = decide_call(_CALL, active, policy, "/nowhere")
    assert isinstance(decision, kind)
    assert decision.rule == rule


@pytest.mark.parametrize("active", [[], [_LISTED], [_READ]])
def test_a_monitored_rule_is_named_whoever_decides(active: list[Restriction]) -> None:
    origin = RuleOrigin(path="p", line=1)
    rule = PolicyRule(effect="deny", tool="Bash", matches=(), reason=None, origin=origin, id="soon", monitored=True)
    policy = Policy(files=(PolicyFile(path="p", rules=(rule,), built_in=True),))
    assert would_be(decide_call(_CALL, active, policy, "/nowhere")) == {"would_deny": ["soon"]}
