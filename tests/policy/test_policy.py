"""Deny beats ask, ask beats allow, whatever the order; layers only tighten; what cannot be read denies everything."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.errors import PolicyError
from prowess.policy.decision import Allow, Ask, Decision, Deny, RuleOrigin, effect_of, strictest
from prowess.policy.packages.package_rules import PackageRules
from prowess.policy.policy import Policy
from prowess.policy.policy_file import PolicyFile
from prowess.policy.rule import ArgumentMatch, Effect, PolicyCall, PolicyRule

_SEVERITY = {"allow": 0, "ask": 1, "deny": 2}


def _rule(effect: Effect, tool: str = "*", line: int = 1, reason: str | None = None, **match: str) -> PolicyRule:
    matches = tuple(ArgumentMatch(argument=name, patterns=tuple(text.split("|"))) for name, text in match.items())
    return PolicyRule(
        effect=effect, tool=tool, matches=matches, reason=reason, origin=RuleOrigin(path="p.toml", line=line)
    )


def _decide(*rules: PolicyRule, default: Effect | None = None, tool: str = "Bash", **arguments: object) -> Decision:
    policy = Policy(files=(PolicyFile(path="p.toml", rules=rules, default=default),))
    return policy.decide(PolicyCall(tool=tool, arguments=arguments), "/nowhere")


def test_deny_beats_ask_and_ask_beats_allow_in_any_order() -> None:
    rules = (_rule("allow"), _rule("ask"), _rule("deny"))
    for order in permutations(rules):
        assert effect_of(_decide(*order)) == "deny"
        assert effect_of(_decide(*(rule for rule in order if rule.effect != "deny"))) == "ask"
    assert effect_of(_decide(_rule("allow"))) == "allow"


@pytest.mark.parametrize(("default", "effect"), [(None, "ask"), ("allow", "allow"), ("ask", "ask"), ("deny", "deny")])
def test_where_no_rule_is_about_the_call_the_default_decides(default: Effect | None, effect: str) -> None:
    decision = _decide(_rule("deny", "Read"), default=default)
    assert effect_of(decision) == effect
    assert not isinstance(decision, Ask) or decision.by_default


@pytest.mark.parametrize(
    ("tool", "effect"),
    [
        *((name, "allow") for name in ("skills.load", "skills_run_script", "skill", "Read", "Glob", "Grep", "analyze")),
        *((name, "ask") for name in ("Write", "Edit", "Bash", "bash_exec", "write_file")),
    ],
)
def test_without_any_file_reading_is_allowed_and_changing_asks(tool: str, effect: str) -> None:
    assert effect_of(Policy().decide(PolicyCall(tool=tool, arguments={}))) == effect


def test_without_any_file_what_nobody_registered_asks() -> None:
    decision = Policy().decide(PolicyCall(tool="analyze", arguments={}, registered=False))
    assert isinstance(decision, Ask)
    assert decision.by_default


@pytest.mark.proves("governance.policy.explains")
def test_each_decision_names_rule_reason_and_place() -> None:
    allow = _decide(_rule("allow", "Bash", line=7, command="git status:*"), command="git status")
    assert allow == Allow(
        rule="allow Bash(command: git status:*)",
        reason="the rule is 'allow Bash(command: git status:*)'",
        origin=RuleOrigin(path="p.toml", line=7),
    )
    deny = _decide(_rule("deny", "Bash", line=9, reason="people push", command="git push:*"), command="git push")
    assert isinstance(deny, Deny)
    assert (deny.reason, str(deny.origin)) == ("people push", "p.toml:9")
    ask = _decide()
    assert isinstance(ask, Ask)
    assert ask.reason == "p.toml: no rule matches the call and the file sets no default"


@pytest.mark.parametrize(
    "line", ["git push", "git status && git push", "git $x", "git push &", "/bin/git push", "git *"]
)
def test_a_rule_that_denies_denies_what_may_be_meant(line: str) -> None:
    rules = (_rule("deny", "Bash", reason="people push", command="git push:*"), _rule("allow", "Bash"))
    decision = _decide(*rules, command=line)
    assert isinstance(decision, Deny)
    assert decision.reason.startswith("people push")


def test_the_doubt_is_explained_so_that_the_line_can_be_written_plainly() -> None:
    decision = _decide(_rule("deny", "Bash", reason="people push", command="git push:*"), command="git log $x")
    assert isinstance(decision, Deny)
    assert decision.reason == (
        "people push (a match cannot be ruled out: '$' is replaced by the value of a variable; "
        "write the value itself, or put it in single quotes)"
    )


@pytest.mark.parametrize("line", ["git log & id", "git log | id", "git log $x", "id"])
def test_a_rule_that_allows_allows_only_what_is_certain(line: str) -> None:
    assert effect_of(_decide(_rule("allow", "Bash", command="git log:*"), command=line)) == "ask"
    assert effect_of(_decide(_rule("allow", "Bash", command="git log:*"), command="git log -1")) == "allow"


def test_several_patterns_of_one_rule_permit_a_line_of_several_programs() -> None:
    rule = _rule("allow", "Bash", command="git log:*|head:*")
    assert effect_of(_decide(rule, command="git log | head -3")) == "allow"
    assert effect_of(_decide(rule, command="git log | head -3; id")) == "ask"


def test_file_tools_and_searches_are_matched_by_paths() -> None:
    rule = _rule("deny", "*", path="secrets/**")
    assert effect_of(_decide(rule, tool="Read", path="a/../secrets/key")) == "deny"
    assert effect_of(_decide(rule, tool="Read", path="a")) == "ask"
    assert effect_of(_decide(rule, tool="Grep", pattern="x")) == "deny"
    assert effect_of(_decide(rule, tool="Grep", pattern="x", path="docs")) == "ask"
    named = _rule("deny", "Read", file_path="secrets/**")
    assert effect_of(_decide(named, tool="read_file", path="secrets/key")) == "deny"


def test_other_arguments_are_matched_by_their_whole_value() -> None:
    rule = _rule("allow", "skills.load", names="deploy-*")
    assert effect_of(_decide(rule, tool="skills_load", names=["deploy-a", "deploy-b"])) == "allow"
    assert effect_of(_decide(rule, tool="skills.load", names=["deploy-a", "x"])) == "ask"
    assert effect_of(_decide(rule, tool="skills.load", names=[])) == "ask"
    assert effect_of(_decide(rule, tool="skills.load")) == "ask"
    deny = _rule("deny", "skills.load", names="deploy-*")
    assert effect_of(_decide(deny, tool="skills.load", names=["x", "deploy-a"])) == "deny"
    assert effect_of(_decide(_rule("deny", "f", n="3", on="true"), tool="f", n=3, on=True)) == "deny"
    assert effect_of(_decide(_rule("deny", "f", n="3", on="true"), tool="f", n=3, on=False)) == "ask"


def test_a_glob_names_whole_tools() -> None:
    assert effect_of(_decide(_rule("allow", "skills.*"), tool="skills-run-script")) == "allow"
    assert effect_of(_decide(_rule("allow", "Rea"), tool="Read")) == "ask"
    assert effect_of(_decide(_rule("allow", "read"), tool="Read")) == "ask"
    assert effect_of(_decide(_rule("allow", "read_file"), tool="Read")) == "allow"


def test_a_rule_is_printed_as_it_reads() -> None:
    assert str(_rule("deny", "Bash", command="a|b", x="c")) == "deny Bash(command: a | b, x: c)"
    assert str(_rule("allow", "Read")) == "allow Read"


_EFFECTS: st.SearchStrategy[Effect] = st.sampled_from(["allow", "ask", "deny"])
_RULES = st.builds(_rule, _EFFECTS, st.sampled_from(["*", "Bash", "Read", "skills.*"]))
_FILES = st.builds(
    lambda rules, default: PolicyFile(path="p", rules=tuple(rules), default=default),
    st.lists(_RULES, max_size=3),
    st.none() | _EFFECTS,
)


@pytest.mark.proves("governance.policy.no-bypass")
@given(st.lists(_FILES, min_size=1, max_size=3), _FILES, st.sampled_from(["Bash", "Read", "skills.load", "f"]))
def test_a_further_layer_can_only_tighten(files: list[PolicyFile], further: PolicyFile, tool: str) -> None:
    call = PolicyCall(tool=tool, arguments={})
    before = effect_of(Policy(files=tuple(files)).decide(call))
    for layered in ((*files, further), (further, *files)):
        assert _SEVERITY[effect_of(Policy(files=layered).decide(call))] >= _SEVERITY[before]


def test_a_rule_that_asks_is_stricter_than_a_default_that_asks() -> None:
    by_default, by_rule = Ask(rule="default", reason="", by_default=True), Ask(rule="r", reason="")
    assert strictest((by_default, by_rule)) is by_rule
    assert strictest((by_rule, by_default)) is by_rule


def test_settings_of_layers_tighten_each_other() -> None:
    assert Policy().allowed_tools == "restrict"
    assert (Policy().dynamic_commands, Policy().audit_required) == (False, False)
    assert (Policy().script_dirs, Policy().env_allow) == (("scripts",), ())
    loose = PolicyFile(
        path="a",
        allowed_tools="preapprove",
        dynamic_commands=True,
        script_dirs=("scripts", "bin"),
        env_allow=("A", "B"),
    )
    policy = Policy(files=(loose, PolicyFile(path="b")))
    assert (policy.allowed_tools, policy.dynamic_commands) == ("preapprove", True)
    assert (policy.script_dirs, policy.env_allow) == (("scripts", "bin"), ("A", "B"))
    tight = PolicyFile(
        path="c", allowed_tools="restrict", dynamic_commands=False, script_dirs=("bin",), env_allow=("B", "C"),
        audit_required=True,
    )  # fmt: skip
    for files in ((loose, tight), (tight, loose)):
        policy = Policy(files=files)
        assert (policy.allowed_tools, policy.dynamic_commands, policy.audit_required) == ("restrict", False, True)
        assert (policy.script_dirs, policy.env_allow) == (("bin",), ("B",))


@pytest.mark.parametrize(
    ("high", "low", "left"),
    [
        (("scripts",), ("scripts/safe",), ("scripts/safe",)),
        (("scripts/safe", "bin"), ("scripts",), ("scripts/safe",)),
        (("scripts",), ("scripts-of-mine", "bin"), ()),
        (("scripts",), (), ()),
        ((), ("scripts",), ()),
    ],
)
def test_of_nested_script_directories_the_inner_one_is_left(
    high: tuple[str, ...], low: tuple[str, ...], left: tuple[str, ...]
) -> None:
    for files in (high, low), (low, high):
        policy = Policy(files=tuple(PolicyFile(path=str(at), script_dirs=dirs) for at, dirs in enumerate(files)))
        assert policy.script_dirs == left


@pytest.mark.parametrize("files", [(), (PolicyFile(path="a", default="deny"),), (PolicyFile(path="a"),)])
@pytest.mark.parametrize("tool", ["skills.unload", "skills_unload", "skills-unload"])
@pytest.mark.proves("runtime.restrict.give-up")
def test_giving_a_skill_up_is_allowed_whatever_the_rules_say(files: tuple[PolicyFile, ...], tool: str) -> None:
    everything = PolicyRule(effect="deny", tool="*", matches=(), reason=None, origin=RuleOrigin(path="a", line=1))
    for policy in (Policy(files=files), Policy(files=(*files, PolicyFile(path="b", rules=(everything,))))):
        assert isinstance(policy.decide(PolicyCall(tool=tool, arguments={"all": True})), Allow)
        assert not isinstance(policy.decide(PolicyCall(tool="skills.unloaded", arguments={}, registered=False)), Allow)


def test_a_policy_that_cannot_be_read_denies_everything_and_is_as_strict_as_can_be() -> None:
    policy = Policy.closed(PolicyError(("p.toml:1: defualt: is not a key of a policy file",)))
    for tool in ("skills.load", "skills.unload", "Read", "analyze"):
        decision = policy.decide(PolicyCall(tool=tool, arguments={}))
        assert isinstance(decision, Deny)
        assert "p.toml:1" in decision.reason
    assert (policy.audit_required, policy.allowed_tools, policy.dynamic_commands) == (True, "restrict", False)
    assert (policy.script_dirs, policy.env_allow) == ((), ())


def test_of_several_tables_of_packages_the_least_age_and_the_strictest_effect_apply() -> None:
    origin = RuleOrigin(path="p.toml", line=1)
    tables = [PackageRules(max_age=60, too_old="keep", origin=origin), PackageRules(max_age=600, origin=origin)]
    tables += [PackageRules(too_old="hide", origin=origin), PackageRules(too_old="warn", origin=origin)]
    for order in permutations(tables):
        policy = Policy(files=tuple(PolicyFile(path="p.toml", packages=table) for table in order))
        assert (policy.max_age, policy.too_old) == (60, "hide")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("skills.load", {"names": ["deploy"]}),
        ("skills.load", {"names": [" deploy\t"]}),
        ("skills.load", {"names": ["ｄｅｐｌｏｙ"]}),  # fullwidth letters: another spelling of the same name
        ("skills.load", {"names": ["deploy@acme-tools"]}),
        ("skills.load", {"names": ["tables", "deploy"]}),
        ("skill", {"skill": "deploy"}),
        ("Skill", {"skill": " deploy "}),
        ("skills.invoke", {"skill": "deploy"}),
        ("skills.invoke", {"skill": " /deploy to production"}),
        ("skills.invoke", {"skill": "$deploy"}),
        ("skills.read", {"skill": "deploy", "path": "SKILL.md"}),  # as a host that reads resources asks
        ("skills.run_script", {"skill": "deploy", "path": "scripts/go.sh"}),
    ],
)
def test_who_denies_a_skill_denies_every_way_into_force_and_every_spelling(
    tool: str, arguments: dict[str, object]
) -> None:
    of_one = _rule("deny", "skills.load", names="deploy")
    assert effect_of(_decide(of_one, default="allow", tool=tool, **arguments)) == "deny"
    assert effect_of(_decide(_rule("deny", "skills.load"), default="allow", tool=tool, **arguments)) == "deny"
    others = {"names": ["tables"]} if tool == "skills.load" else {"skill": "/tables deploy"}
    assert effect_of(_decide(of_one, default="allow", tool=tool, **others)) == "allow"


def test_who_asks_about_a_load_asks_about_the_one_tool_too_but_not_about_what_a_user_starts() -> None:
    asks = _rule("ask", "skills.load", names="deploy")
    assert effect_of(_decide(asks, default="allow", tool="skills.read", skill="deploy", path="SKILL.md")) == "allow"
    assert effect_of(_decide(asks, default="allow", tool="skill", skill="deploy")) == "ask"
    assert effect_of(_decide(asks, default="allow", tool="skills.invoke", skill="deploy")) == "allow"


def test_allowing_a_load_allows_no_other_way_and_no_other_copy() -> None:
    allows = _rule("allow", "skills.load", names="deploy")
    assert effect_of(_decide(allows, tool="skills.load", names=[" deploy"])) == "allow"
    assert effect_of(_decide(allows, tool="skills.load", names=["deploy@acme-tools"])) == "ask"
    assert effect_of(_decide(allows, tool="skill", skill="deploy")) == "ask"


@pytest.mark.parametrize("effect", ["deny", "ask"])
def test_an_argument_that_a_call_leaves_out_may_have_any_value(effect: Effect) -> None:
    assert effect_of(_decide(_rule(effect, "fetch", url="http:*"), default="allow", tool="fetch")) == effect
    assert effect_of(_decide(_rule(effect, "Read", file_path="secrets/**"), default="allow", tool="Read")) == effect
    assert effect_of(_decide(_rule(effect, "Bash", command="git push:*"), default="allow", tool="Bash")) == effect
    assert effect_of(_decide(_rule("allow", "fetch", url="http:*"), default="deny", tool="fetch")) == "deny"


def test_a_misspelt_argument_refuses_too_much_and_never_too_little() -> None:
    call = PolicyCall(tool="Bash", arguments={"command": "ls"}, accepts=frozenset({"command", "timeout_ms"}))
    misspelt = PolicyFile(path="p.toml", rules=(_rule("deny", "Bash", comand="git push:*"),), default="allow")
    assert effect_of(Policy(files=(misspelt,)).decide(call)) == "deny"
    by_alias = PolicyFile(path="p.toml", rules=(_rule("deny", "bash_exec", comand="git push:*"),), default="allow")
    assert effect_of(Policy(files=(by_alias,)).decide(call)) == "deny"


def test_a_rule_about_tools_of_many_names_is_not_about_those_without_the_argument() -> None:
    rules = PolicyFile(path="p.toml", rules=(_rule("deny", "*", command="git push:*"),), default="allow")
    decide = Policy(files=(rules,)).decide
    takes_paths = PolicyCall(tool="Read", arguments={"file_path": "a"}, accepts=frozenset({"file_path"}))
    assert effect_of(decide(takes_paths)) == "allow"
    takes_commands = PolicyCall(tool="run", arguments={}, accepts=frozenset({"command"}))
    assert effect_of(decide(takes_commands)) == "deny"
