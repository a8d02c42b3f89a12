"""Keys of rules: `id`, `until`, `mode`, and `who.*`, `skill.file` and `skill.capability` under `match`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.errors import PolicyError
from prowess.policy import Ask, Deny, Policy, PolicyCall, read_policy_file
from prowess.policy.decision import effect_of, rule_of, would_be
from prowess.policy.expectations import check_expectations
from prowess.policy.facts.skill_identity import SkillIdentity
from prowess.policy.policy_in_force import PolicyInForce

if TYPE_CHECKING:
    from pathlib import Path

_LOAD = PolicyCall(tool="skills.load", arguments={"names": ["deploy"]}, skills=(SkillIdentity(name="deploy"),))


def _file(place: Path, text: str, name: str = "policy.toml") -> str:
    path = place / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def _policy(place: Path, text: str, **who: tuple[str, ...]) -> Policy:
    return Policy(files=(read_policy_file(_file(place, text)),), who=who)


def _rule(effect: str, further: str = "", match: str = "") -> str:
    matches = f"match = {{ {match} }}\n" if match else ""
    return f'default = "ask"\n[[rule]]\neffect = "{effect}"\ntool = "skills.load"\n{further}{matches}'


def _effect(policy: Policy, call: PolicyCall = _LOAD) -> str:
    return effect_of(policy.decide(call))


@pytest.mark.parametrize("effect", ["allow", "deny"])
@pytest.mark.parametrize(
    ("until", "holds"),
    [
        ("2000-01-01", False),
        ('"2000-01-01T12:00Z"', False),
        ("2999-12-31", True),
        ('"2999-12-31"', True),
        ("2999-12-31T10:00:00+02:00", True),
    ],
)
def test_a_rule_ends_whatever_its_effect(until: str, holds: bool, effect: str, tmp_path: Path) -> None:  # noqa: FBT001
    assert _effect(_policy(tmp_path, _rule(effect, f"until = {until}\n"))) == (effect if holds else "ask")


def test_a_day_is_included_in_utc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = _policy(tmp_path, _rule("deny", "until = 2026-12-31\n"))
    for seconds, effect in ((1798761599, "deny"), (1798761600, "ask")):  # 2026-12-31T23:59:59Z and a second later
        monkeypatch.setattr("prowess.policy.rule.time.time", lambda seconds=seconds: seconds)
        assert _effect(policy) == effect


def test_the_end_of_a_rule_is_a_generation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROWESS_HOME", str(tmp_path / "home"))
    machine = _file(tmp_path, _rule("deny", "until = 2999-12-31\n"))
    in_force = PolicyInForce(enterprise_file=machine)
    first = in_force.now()
    assert in_force.now() is first
    monkeypatch.setattr("prowess.policy.policy_in_force.time.time", lambda: 4e10)
    second = in_force.now()
    assert (second.generation, second.version, _effect(second)) == (first.generation + 1, first.version, "ask")
    assert in_force.now() is second


@pytest.mark.parametrize(
    ("further", "said"),
    [
        ('until = "tomorrow"\n', "must be a day"),
        ("until = 3\n", "must be a day"),
        ('id = "a b"\n', "must be 1 to 80"),
        ('mode = "watch"\n', "must be one of enforce, monitor"),
        ('match = { who.rloe = "a" }\n', "did you mean 'role'"),
        ('match = { skill.file = "abc" }\n', "is not a digest"),
    ],
)
def test_a_wrong_value_is_a_fault_with_its_line(further: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"policy\.toml:5") as caught:
        read_policy_file(_file(tmp_path, _rule("deny", further)))
    assert said in str(caught.value)


def test_an_id_names_the_rule_in_records_and_is_unique(tmp_path: Path) -> None:
    decision = _policy(tmp_path, _rule("deny", 'id = "no-deploy"\n')).decide(_LOAD)
    assert isinstance(decision, Deny)
    assert (rule_of(decision), decision.id, str(decision.origin).endswith(":2")) == ("no-deploy", "no-deploy", True)
    twice = _rule("deny", 'id = "a"\n') + '[[rule]]\neffect = "ask"\ntool = "*"\nid = "a"\n'
    with pytest.raises(PolicyError, match="'a' is the id of another rule"):
        read_policy_file(_file(tmp_path, twice))


def test_a_monitored_rule_is_named_and_not_enforced(tmp_path: Path) -> None:
    text = 'default = "allow"\n' + "".join(
        f'[[rule]]\neffect = "{effect}"\ntool = "skills.*"\nmode = "monitor"\nid = "{effect}-it"\n'
        for effect in ("ask", "deny")
    )
    decision = _policy(tmp_path, text).decide(_LOAD)
    assert effect_of(decision) == "allow"
    assert would_be(decision) == {"would_deny": ["deny-it"], "would_ask": ["ask-it"]}
    assert would_be(_policy(tmp_path, text).decide(PolicyCall(tool="Bash", arguments={}))) == {}
    enforced = _policy(tmp_path, text + '[[rule]]\neffect = "deny"\ntool = "*"\n').decide(_LOAD)
    assert (effect_of(enforced), would_be(enforced)["would_deny"]) == ("deny", ["deny-it"])
    with pytest.raises(PolicyError, match="only rules that deny or ask can be monitored"):
        read_policy_file(_file(tmp_path, _rule("allow", 'mode = "monitor"\n')))


@pytest.mark.parametrize("fact", ["role", "team", "user", "agent", "tenant", "environment", "client", "host"])
def test_a_rule_matches_who_asks_and_what_is_unknown_is_possible(fact: str, tmp_path: Path) -> None:
    match = f'who.{fact} = ["red", "blue-*"]'
    for effect in ("deny", "ask", "allow"):
        text = _rule(effect, match=match).replace('default = "ask"', 'default = "deny"' if effect == "ask" else "")
        assert _effect(_policy(tmp_path, text, **{fact: ("blue-1",)})) == effect
    assert _effect(_policy(tmp_path, _rule("deny", match=match), **{fact: ("green",)})) == "ask"
    assert _effect(_policy(tmp_path, _rule("deny", match=match))) == "deny"
    assert _effect(_policy(tmp_path, _rule("allow", match=match))) == "ask"


def test_a_user_of_a_host_is_also_the_user_of_its_process(tmp_path: Path) -> None:
    both = ("ada", "service")
    for user, denied, allowed in (("ada", "deny", "allow"), ("service", "deny", "ask"), ("eve", "ask", "ask")):
        assert _effect(_policy(tmp_path, _rule("deny", match=f'who.user = "{user}"'), user=both)) == denied
        assert _effect(_policy(tmp_path, _rule("allow", match=f'who.user = "{user}"'), user=both)) == allowed
    roles = ("author", "approver")  # of the roles each one counts
    assert _effect(_policy(tmp_path, _rule("allow", match='who.role = "approver"'), role=roles)) == "allow"
    assert _effect(_policy(tmp_path, _rule("deny", match='who.role = "author"'), role=())) == "ask"


@pytest.mark.parametrize("key", ["file", "capability"])
def test_a_rule_matches_a_file_and_a_capability(key: str, tmp_path: Path) -> None:
    digits = "0a" * 32
    pattern, value = (digits, f"sha256:{digits}") if key == "file" else ("file:*", "file:write")
    files, capabilities = (frozenset({value, "sha256:00"}), None) if key == "file" else (None, ("scripts", value))
    known = SkillIdentity(name="deploy", files=files, capabilities=capabilities)
    other = SkillIdentity(name="deploy", files=frozenset({"sha256:00"}), capabilities=())
    rule = _rule("deny", match=f'skill.{key} = "{pattern}"')
    for skill, effect in ((known, "deny"), (other, "ask"), (SkillIdentity(name="deploy"), "deny")):
        call = PolicyCall(tool="skills.load", arguments={"names": ["deploy"]}, skills=(skill,))
        assert _effect(_policy(tmp_path, rule), call) == effect


def test_an_expectation_may_say_who_asks(tmp_path: Path) -> None:
    text = _rule("deny", match='who.team = "sales"') + "".join(
        f'[[expect]]\ncall = {{ tool = "skills.load", who = {{ team = "{team}" }} }}\neffect = "{effect}"\n'
        for team, effect in (("sales", "deny"), ("research", "ask"))
    )
    outcomes = check_expectations(read_policy_file(_file(tmp_path, text)), None)
    assert [outcome.holds for outcome in outcomes] == [True, True]


_BLOCK = "skill-policy:\n  require-approval-for:\n    - scripts\n    - network-tools\n    - file-write\n"


@pytest.mark.proves("governance.approval.triggers", "governance.policy.file")
@pytest.mark.parametrize("word", ["scripts", "network-tools", "file-write"])
def test_the_block_of_a_yaml_file_asks_for_each_word_alone(word: str, tmp_path: Path) -> None:
    policy = Policy(files=(read_policy_file(_file(tmp_path, _BLOCK, "policy.yaml")),))
    for capabilities in ((word,), ("file:read",)):
        skill = SkillIdentity(name="deploy", capabilities=capabilities)
        for tool, arguments in (("skills.load", {"names": ["deploy"]}), ("skill", {"skill": "deploy"})):
            decision = policy.decide(PolicyCall(tool=tool, arguments=arguments, skills=(skill,)))
            assert isinstance(decision, Ask) == (capabilities == (word,))
            if isinstance(decision, Ask):
                line = 3 + ("scripts", "network-tools", "file-write").index(word)
                assert (str(decision.origin), decision.by_default) == (f"{tmp_path}/policy.yaml:{line}", False)
    for tool, effect in (("Bash", "ask"), ("Read", "allow"), ("Write", "ask")):  # as without any file
        assert effect_of(policy.decide(PolicyCall(tool=tool, arguments={}, skills=()))) == effect


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("skill-policy:\n  require-approval-for:\n    - script\n", "policy.yaml:3: require-approval-for: 'script'"),
        ("skill-policy:\n  require-aproval-for: [scripts]\n", "policy.yaml:2: the only key here is"),
        ("default: allow\n", "policy.yaml:1: the only key here is skill-policy"),
        (
            "skill-policy:\n  require-approval-for: scripts\n",
            "policy.yaml:2: skill-policy.require-approval-for must be",
        ),
        ("- a\n", "policy.yaml:1: must be a mapping"),
        ("", "policy.yaml:1: must be a mapping"),
        ("a: [", "policy.yaml:1: "),
    ],
)
def test_a_yaml_file_with_anything_else_is_refused(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(PolicyError) as caught:
        read_policy_file(_file(tmp_path, text, "policy.yaml"))
    assert said in str(caught.value)


def test_a_yaml_file_holds_beside_each_policy_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROWESS_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    skill = SkillIdentity(name="deploy", capabilities=("scripts",))
    call = PolicyCall(tool="skills.load", arguments={"names": ["deploy"]}, skills=(skill,))
    in_force = PolicyInForce(enterprise_file=str(tmp_path / "policy.toml"))
    assert _effect(in_force.now(), call) == "allow"
    for place in (tmp_path, tmp_path / "home"):
        path = _file(place, _BLOCK, "policy.yaml")
        assert _effect(in_force.now(), call) == "ask"
        _file(place, "skill-policy: 1\n", "policy.yaml")
        assert path in str(in_force.now().fault)
        (place / "policy.yaml").unlink()
    assert _effect(in_force.now(), call) == "allow"
