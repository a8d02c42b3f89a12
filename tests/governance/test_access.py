"""`prowess access` tells what decides, by asking what decides, and the changes that it names turn the decision."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from prowess.governance.blocking import BlockedSkills
from prowess.governance.changes import changes_to_allow, changes_to_deny
from prowess.policy import Allow, Deny, Policy, PolicyCall, PolicyFile, PolicyRule
from prowess.policy.approvals.rules import ApprovalRule
from prowess.policy.blocks.block_file import Block, BlockFile
from prowess.policy.blocks.blocked import Blocks
from prowess.policy.decision import RuleOrigin
from prowess.policy.facts.skill_identity import SkillIdentity
from prowess.policy.roles import ROLES, PersonRole, RoleMembers, RoleTable
from prowess.policy.rule import EFFECTS, ArgumentMatch, Effect
from tests.catalog.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path

_DIGEST = f"sha256:{'0a' * 32}"
_STEPS = ["layer", "scope", "trust", "block", "role", "approval", "scan", "rule", "restriction"]
_SKILL = SkillIdentity(
    name="deploy", digests=(_DIGEST,), trees=(_DIGEST,), sources=("acme", "/srv"), layer="project",
    files=frozenset({_DIGEST}), capabilities=("scripts",),
)  # fmt: skip
_CALL = PolicyCall(
    tool="skills.load", arguments={"names": ["deploy"]}, skills=(_SKILL,), who={"user": ("ada",), "team": ("web",)}
)

_matches = st.sampled_from(
    [
        (),
        (("skill.name", "deploy"),),
        (("skill.name", "other"),),
        (("skill.source", "/srv"), ("who.team", "web")),
        (("who.role", "contractor"),),  # not known
        (("skill.publisher", "key *"),),  # not known
        (("names", "dep*"),),
        (("who.user", "bob"),),
    ]
)
_effects: st.SearchStrategy[Effect] = st.sampled_from(EFFECTS)


@st.composite
def _rules(draw: st.DrawFn, path: str, most: int) -> tuple[PolicyRule, ...]:
    return tuple(
        PolicyRule(
            effect=draw(_effects),
            tool=draw(st.sampled_from(["skills.load", "skills.*", "Bash", "skill"])),
            matches=tuple(ArgumentMatch(argument=name, patterns=(value,)) for name, value in draw(_matches)),
            reason=None,
            origin=RuleOrigin(path=path, line=line),
        )
        for line in range(1, draw(st.integers(0, most)) + 1)
    )


@st.composite
def _files(draw: st.DrawFn, most_rules: int, *, only_rules: bool) -> tuple[PolicyFile, ...]:
    found = []
    for number in range(draw(st.integers(0 if not only_rules else 1, 2))):
        path = f"/policy-{number}.toml"
        file = PolicyFile(path=path, default=draw(st.none() | _effects), rules=draw(_rules(path, most_rules)))
        if not only_rules and draw(st.booleans()):
            members = draw(st.sampled_from([(), (RoleMembers(role="viewer", users=frozenset({"ada"})),)]))
            others: PersonRole = draw(st.sampled_from(ROLES))
            table = RoleTable(others=others, members=members, origin=RuleOrigin(path=path, line=50))
            file = replace(file, roles=table)
        if not only_rules and draw(st.booleans()):
            rule = ApprovalRule(
                words=(draw(st.sampled_from(["scripts", "network-tools", "new-skills"])),),
                count=draw(st.integers(1, 2)),
                origin=RuleOrigin(path=path, line=60),
            )
            file = replace(file, approval_rules=(rule,))
        found.append(file)
    return tuple(found)


@st.composite
def _policies(draw: st.DrawFn) -> Policy:
    facts = [("name", "deploy"), ("name", "other"), ("digest", _DIGEST), ("source", "/srv"), ("file", _DIGEST)]
    blocked = draw(st.lists(st.sampled_from(facts), max_size=3, unique=True))
    blocks = tuple(
        Block(id=f"block-{number}", kind=cast("Any", kind), value=value, reason="x", by="ada", at="")
        for number, (kind, value) in enumerate(blocked)
    )
    files = draw(_files(4, only_rules=False))
    return Policy(files=files, blocks=Blocks([BlockFile(path="/blocks.json", digest="x", blocks=blocks)]))


@settings(max_examples=150)
@given(_policies())
def test_the_named_changes_turn_the_decision(policy: Policy) -> None:
    before = policy.decide(_CALL)
    if isinstance(before, Allow):
        ((change, after),) = changes_to_deny(policy, _CALL)
        assert change.kind == "block"
        assert after is not None
        assert isinstance(after.decide(_CALL), Deny)
        assert changes_to_allow(policy, _CALL) == ()
        return
    changes = changes_to_allow(policy, _CALL)
    policies = [after for _, after in changes]
    assert policies
    assert all(after is not None and not isinstance(after.decide(_CALL), Allow) for after in policies[:-1])
    assert policies[-1] is not None
    assert isinstance(policies[-1].decide(_CALL), Allow)


@settings(max_examples=60)
@given(_files(3, only_rules=True))
def test_no_smaller_set_of_changes_turns_the_decision(files: tuple[PolicyFile, ...]) -> None:
    policy = Policy(files=files)
    changes = changes_to_allow(policy, _CALL)
    parts: list[PolicyRule | PolicyFile] = [*(rule for file in files for rule in file.rules), *files]
    for count in range(len(changes)):
        for removed in itertools.combinations(parts, count):
            smaller = tuple(_changed(file, removed) for file in files)
            assert not isinstance(Policy(files=smaller).decide(_CALL), Allow)


def _changed(file: PolicyFile, changed: tuple[PolicyRule | PolicyFile, ...]) -> PolicyFile:
    """Return the file without the rules that are removed, and with a rule that allows if it is itself changed."""
    left = tuple(rule for rule in file.rules if not any(rule is one for one in changed))
    allows = PolicyRule(
        effect="allow", tool="skills.load", matches=(), reason=None, origin=RuleOrigin(path=file.path, line=99)
    )
    return replace(file, rules=(*left, allows) if any(file is one for one in changed) else left)


def test_an_unknown_fact_that_blocks_is_named() -> None:
    blocks = Blocks([BlockFile(path="/b", digest="x", blocks=(_block("digest", _DIGEST), _block("name", "x", 1)))])
    call = replace(_CALL, skills=(replace(_SKILL, digests=()),))
    ((change, after),) = changes_to_allow(Policy(blocks=blocks), call)
    assert change.text == "make the digest of the skill known, or lift the blocks by digest"
    assert after is not None
    assert isinstance(after.decide(call), Allow)


def test_a_policy_that_cannot_be_read_has_to_be_repaired() -> None:
    ((change, after),) = changes_to_allow(Policy(fault="policy.toml:1: x"), _CALL)
    assert (change.kind, after) == ("repair", None)
    assert "policy.toml:1" in change.text


def _block(kind: Any, value: str, number: int = 0) -> Block:  # noqa: ANN401 -- a kind of block
    return Block(id=f"block-{number}", kind=kind, value=value, reason="x", by="ada", at="")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("PROWESS_HOME", str(home))
    monkeypatch.chdir(tmp_path)
    write_skill(tmp_path / "skills" / "deploy", extra="allowed-tools: Read\n")
    write_skill(tmp_path / "skills" / "scoped", extra="scope:\n  tenants: acme\n")
    return home


def _access(capfd: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capfd.readouterr()
    assert run(["access", *words, "--root", "skills", "--json"]) == exit_codes.OK
    return cast("dict[str, Any]", json.loads(capfd.readouterr().out))


def test_each_step_has_its_own_answer(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    allowed = _access(capfd, "deploy", "--user", "ada")
    assert (allowed["effect"], allowed["user"]) == ("allow", "ada")
    assert [step["step"] for step in allowed["steps"]] == _STEPS
    assert {step["effect"] for step in allowed["steps"]} == {"allow"}
    assert allowed["steps"][-1]["reason"] == "while it is active, only these tools may be called: Read"
    assert allowed["change"]["turns_to"] == "deny"
    block = BlockedSkills().add("name", "deploy", "It leaks.", "user").block
    (home / "policy.toml").write_text(
        'default = "allow"\n[roles]\nothers = "viewer"\n[[rule]]\neffect = "ask"\ntool = "skills.load"\n'
        'match = { who.team = "web" }\n',
        encoding="utf-8",
    )
    denied = _access(capfd, "deploy", "--user", "ada", "--team", "web")
    assert (denied["effect"], denied["rule"]) == ("deny", "block name deploy")
    effects = {step["step"]: step["effect"] for step in denied["steps"] if step["effect"] != "allow"}
    assert effects == {"block": "deny", "role": "deny", "rule": "ask"}
    assert [change["kind"] for change in denied["change"]["acts"]] == ["unblock", "role", "remove_rule"]
    assert block.id in denied["change"]["acts"][0]["text"]
    other = _access(capfd, "deploy", "--user", "ada", "--team", "ops")
    assert [change["kind"] for change in other["change"]["acts"]] == ["unblock", "role"]
    run(["access", "deploy", "--root", "skills", "--user", "ada", "--team", "ops"])
    told = capfd.readouterr().out
    assert told.startswith("ada may not use deploy: the skill 'deploy' is blocked by its name deploy: It leaks.\n")
    assert f"To allow it:\n  run `prowess unblock {block.id}`" in told


def test_what_the_command_names_can_be_done_and_turns_the_decision(
    home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (home / "policy.toml").write_text('default = "deny"\n', encoding="utf-8")
    BlockedSkills().add("source", str(home.parent / "skills"), "x", "user")
    acts = _access(capfd, "deploy")["change"]["acts"]
    assert [act["kind"] for act in acts] == ["unblock", "add_rule"]
    assert run(acts[0]["text"].partition("`prowess ")[2].partition("`")[0].split()) == exit_codes.OK
    effect, tool, match = acts[1]["text"].partition("[[rule]] ")[2].split(", ", 2)
    (home / "policy.toml").write_text(f'default = "deny"\n[[rule]]\n{effect}\n{tool}\n{match}\n', encoding="utf-8")
    assert _access(capfd, "deploy")["effect"] == "allow"
    assert run(["load", "deploy", "--root", "skills", "--json"]) in {exit_codes.OK, exit_codes.DENIED}


def test_a_skill_that_the_catalog_hides_is_explained(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    del home
    hidden = _access(capfd, "scoped")
    assert hidden["effect"] == "deny"
    (step,) = hidden["steps"]
    assert (step["step"], step["effect"], step["rule"]) == ("scope", "deny", "catalog.scope")
    assert "tenant" in hidden["change"]["acts"][0]["text"]
    assert _access(capfd, "scoped", "--tenant", "acme")["effect"] == "allow"
    assert run(["access", "nothing", "--root", "skills"]) == exit_codes.FAILED
