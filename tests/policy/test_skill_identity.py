"""Rules match what a skill is, not only what it is called; what is not known is possible, and never certain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.errors import PolicyError
from prowess.policy import Policy, PolicyCall, read_policy_file
from prowess.policy.decision import effect_of
from prowess.policy.expectations import check_expectations
from prowess.policy.facts.skill_identity import SkillIdentity

if TYPE_CHECKING:
    from pathlib import Path

_DIGEST = f"sha256:{'0a' * 32}"
_KNOWN = SkillIdentity(
    name="deploy", digests=(_DIGEST,), sources=("acme", "/srv/skills/deploy", "/srv/skills", "/srv"), layer="plugin"
)


def _file(place: Path, text: str) -> str:
    path = place / "policy.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def _rule(effect: str, tool: str, match: str) -> str:
    return f'default = "ask"\n[[rule]]\neffect = "{effect}"\ntool = "{tool}"\nmatch = {{ {match} }}\n'


def _effect(place: Path, text: str, call: PolicyCall) -> str:
    return effect_of(Policy(files=(read_policy_file(_file(place, text)),)).decide(call))


def _load(*skills: SkillIdentity, name: str = "deploy", tool: str = "skills.load") -> PolicyCall:
    arguments = {"names": [name]} if tool == "skills.load" else {"skill": name}
    return PolicyCall(tool=tool, arguments=arguments, skills=skills)


@pytest.mark.proves("governance.policy.match-identity")
@pytest.mark.parametrize(
    "match",
    [
        'skill.name = "deploy"',
        '"skill.name" = "deploy"',
        'skill = { name = "dep*" }',
        f'skill.digest = "{_DIGEST}"',
        'skill.source = "acme"',
        'skill.source = "/srv/skills"',
        'skill.layer = "plugin"',
        'skill.layer = ["project", "plugin"]',
        'skill.name = "deploy", skill.source = "/srv/*"',
    ],
)
@pytest.mark.parametrize("tool", ["skills.load", "skill", "Skill", "skills.invoke", "skills.read", "skills.run_script"])
def test_a_rule_matches_a_fact_of_the_skill_under_every_tool(match: str, tool: str, tmp_path: Path) -> None:
    for effect in ("deny", "ask", "allow"):
        text = _rule(effect, "*", match)
        assert _effect(tmp_path, text, _load(_KNOWN, tool=tool)) == effect
    other = SkillIdentity(name="other", digests=("sha256:00",), sources=("elsewhere", "/opt"), layer="personal")
    for effect in ("deny", "allow"):
        assert _effect(tmp_path, _rule(effect, "*", match), _load(other, name="other", tool=tool)) == "ask"


@pytest.mark.parametrize("fact", ["digest", "source", "layer", "publisher"])
def test_what_is_not_known_is_possible_and_never_certain(fact: str, tmp_path: Path) -> None:
    pattern = {"digest": _DIGEST, "layer": "plugin"}.get(fact, "acme")
    for skills in ((SkillIdentity(name="deploy"),), None):
        call = PolicyCall(tool="skills.load", arguments={"names": ["deploy"]}, skills=skills)
        assert _effect(tmp_path, _rule("deny", "skills.load", f'skill.{fact} = "{pattern}"'), call) == "deny"
        assert _effect(tmp_path, _rule("allow", "skills.load", f'skill.{fact} = "{pattern}"'), call) == "ask"


def test_a_name_among_the_arguments_is_known_without_a_session(tmp_path: Path) -> None:
    for tool, arguments in (
        ("skills.load", {"names": ["a", "deploy"]}),
        ("skill", {"skill_name": "deploy"}),
        ("skills.invoke", {"skill": "/deploy to production"}),
    ):
        call = PolicyCall(tool=tool, arguments=arguments)
        assert _effect(tmp_path, _rule("deny", "*", 'skill.name = "deploy"'), call) == "deny"
        assert _effect(tmp_path, _rule("deny", "*", 'skill.name = "other"'), call) == "ask"


def test_one_skill_must_meet_all_facts_of_a_rule(tmp_path: Path) -> None:
    call = _load(
        SkillIdentity(name="a", sources=("good",), layer="project"),
        SkillIdentity(name="b", sources=("bad",), layer="plugin"),
    )
    assert _effect(tmp_path, _rule("deny", "*", 'skill.name = "a", skill.source = "bad"'), call) == "ask"
    assert _effect(tmp_path, _rule("deny", "*", 'skill.name = "b", skill.source = "bad"'), call) == "deny"
    assert _effect(tmp_path, _rule("allow", "*", 'skill.name = "b", skill.source = "bad"'), call) == "ask"


def test_a_tool_that_names_no_skill_is_called_under_the_active_ones(tmp_path: Path) -> None:
    rule = _rule("deny", "Bash", 'skill.source = "acme"')
    arguments = {"command": "make"}
    assert _effect(tmp_path, rule, PolicyCall(tool="Bash", arguments=arguments, skills=(_KNOWN,))) == "deny"
    assert _effect(tmp_path, rule, PolicyCall(tool="Bash", arguments=arguments, skills=())) == "ask"
    assert _effect(tmp_path, rule, PolicyCall(tool="Bash", arguments=arguments)) == "deny"  # nobody knows
    allowed = _rule("allow", "Bash", 'skill.layer = "plugin"')
    assert _effect(tmp_path, allowed, PolicyCall(tool="Bash", arguments=arguments, skills=())) == "ask"
    assert _effect(tmp_path, allowed, PolicyCall(tool="Bash", arguments=arguments, skills=(_KNOWN,))) == "allow"


@pytest.mark.parametrize("pattern", ["caf\u00e9", "cafe\u0301", "\uff43af\u00e9"])
@pytest.mark.parametrize("key", ["names", "skill.name"])
@pytest.mark.parametrize("asked", ["caf\u00e9", "cafe\u0301"])
def test_names_in_rules_are_compared_as_the_catalog_compares_them(
    asked: str, key: str, pattern: str, tmp_path: Path
) -> None:
    call = _load(SkillIdentity(name=asked), name=asked)
    assert _effect(tmp_path, _rule("deny", "skills.load", f'{key} = "{pattern}"'), call) == "deny"


def test_a_rule_about_a_plugins_copy_holds_under_the_bare_name(tmp_path: Path) -> None:
    copy = SkillIdentity(name="deploy", layer="plugin", sources=("acme",), copies=("deploy@acme",))
    rule = _rule("deny", "skills.load", 'names = "deploy@acme"')
    assert _effect(tmp_path, rule, _load(copy)) == "deny"
    assert _effect(tmp_path, rule, _load(copy, name="deploy@acme")) == "deny"
    assert _effect(tmp_path, rule, _load(SkillIdentity(name="deploy", layer="project"))) == "ask"


@pytest.mark.proves("governance.policy.match-identity")
@pytest.mark.parametrize("written", ["link", "link/", "real/", "./real", "other/../real", "link/*", "link/**", "a[b]"])
def test_a_source_is_the_same_directory_however_a_rule_writes_it(written: str, tmp_path: Path) -> None:
    real = tmp_path / ("a[b]" if written == "a[b]" else "real")
    (real / "deploy").mkdir(parents=True)
    (tmp_path / "link").symlink_to(real)
    places = tuple(str(place) for place in (real / "deploy", real, tmp_path))
    call = _load(SkillIdentity(name="deploy", sources=("label", *places)))
    assert _effect(tmp_path, _rule("deny", "*", f'skill.source = "{tmp_path}/{written}"'), call) == "deny"
    elsewhere = _load(SkillIdentity(name="deploy", sources=("label", str(tmp_path / "realm"), str(tmp_path))))
    assert _effect(tmp_path, _rule("deny", "*", f'skill.source = "{tmp_path}/{written}"'), elsewhere) == "ask"


@pytest.mark.parametrize(
    ("match", "said"),
    [
        ('skill.nme = "a"', "did you mean 'name'"),
        ('"skill.digst" = "a"', "did you mean 'digest'"),
        ('skill.digest = "0a0a"', "is not a digest"),
        ('skill.layer = "enterprize"', "is not a layer"),
        ('skill.name = ""', "a pattern is empty"),
        ("skill.name = 3", "must be a pattern"),
    ],
)
def test_a_fact_that_could_never_fit_is_a_fault_with_its_line(match: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"policy\.toml:5") as caught:
        read_policy_file(_file(tmp_path, _rule("deny", "skills.load", match)))
    assert said in str(caught.value)


def test_an_expectation_may_say_what_is_known_of_the_skill(tmp_path: Path) -> None:
    text = _rule("deny", "skills.load", 'skill.source = "/srv/evil"') + (
        '[[expect]]\ncall = { tool = "skills.load", arguments = { names = ["a"] }, skill = { source = "/srv/evil" } }\n'
        'effect = "deny"\n'
        '[[expect]]\ncall = { tool = "skills.load", arguments = { names = ["a"] }, skill = { source = "/srv/good" } }\n'
        'effect = "ask"\n'
    )
    outcomes = check_expectations(read_policy_file(_file(tmp_path, text)), None)
    assert [outcome.holds for outcome in outcomes] == [True, True]
    with pytest.raises(PolicyError, match="did you mean 'source'"):
        read_policy_file(_file(tmp_path, text.replace("source", "sorce")))
