from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.diagnostics import Severity
from prowess.format import (
    HOOK_EVENTS,
    PROFILES,
    RULES,
    Argument,
    Execution,
    ExtendedFields,
    Hook,
    Hooks,
    Scope,
    parse_document,
    read_skill,
    validate_skill,
)
from prowess.format.fields.extended_fields import extended_fields
from prowess.format.fields.value_readers import Faults, FieldFault, named, read_seconds
from prowess.format.limits import EXTENDED_FIELDS, MAX_TAG_LENGTH, MAX_TAGS
from prowess.format.parsing import parse_source
from prowess.format.reading import raw_findings
from prowess.format.rules.body_rules import place_of
from prowess.rule_engine import Judgement, Selection

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.diagnostics import Diagnostic

UNKNOWN = "frontmatter.unknownField"


def read(front: str) -> ExtendedFields:
    """The fields as a runtime gets them from a listing: from the properties alone."""
    return extended_fields(parse_document(f"---\n{front}---\n").mapping())


def found(front: str, *, profile: str = "lenient") -> list[Diagnostic]:
    document = parse_source(f"---\nname: a\ndescription: d\n{front}---\n", path="SKILL.md")
    return [one for one in validate_skill(document, profile=profile) if one.rule != UNKNOWN]


def faults(front: str) -> list[tuple[str, int, int]]:
    """Rule, line and column of each finding; the first line of `front` is line 4 of the file."""
    return [(one.rule, one.location.line, one.location.column) for one in found(front)]


def test_a_skill_without_such_fields_has_the_defaults() -> None:
    fields = read("name: a\ndescription: d\n")
    assert fields == ExtendedFields()
    assert fields is extended_fields({})
    assert (fields.context, fields.priority, fields.user_invocable, fields.disable_model_invocation) == (
        "inherit", 0, True, False,
    )  # fmt: skip
    assert (fields.model, fields.agent, fields.argument_hint, fields.paths) == (None, None, None, None)
    assert (fields.tags, fields.arguments, fields.hooks, fields.scope) == ((), (), Hooks(), Scope())
    assert fields.unreadable == frozenset()


@pytest.mark.proves("runtime.fields.extended")
def test_every_field_is_read_from_a_skill_that_uses_all_of_them(tmp_path: Path) -> None:
    folder = tmp_path / "deploy"
    folder.mkdir()
    (folder / "SKILL.md").write_text(
        "---\nname: deploy\ndescription: d\nallowed-tools: [Read, Bash]\nmodel: small\ncontext: fork\nagent: tester\n"
        "hooks:\n  pre: scripts/pre.sh\n  post: [scripts/post.sh]\npriority: -7\ntags: [ops, ci]\n"
        "scope:\n  agents: [coder]\n  environments: production\nexecution:\n  mode: autonomous\n  max-iterations: 20\n"
        "disable-model-invocation: true\nuser-invocable: 'false'\narguments: cluster region\n"
        "argument-hint: '[cluster]'\npaths: 'src/*.{ts,tsx}, docs/**'\n---\n",
        encoding="utf-8",
    )
    skill = read_skill(folder)
    assert [one.rule for one in skill.diagnostics if one.rule not in {UNKNOWN, "allowed-tools.type"}] == []
    assert [str(token) for token in skill.frontmatter.allowed_tools or ()] == ["Read", "Bash"]
    assert skill.frontmatter.extended == ExtendedFields(
        model="small",
        context="fork",
        agent="tester",
        hooks=Hooks(entries=(Hook(event="pre", script="scripts/pre.sh"), Hook(event="post", script="scripts/post.sh"))),
        priority=-7,
        tags=("ops", "ci"),
        scope=Scope(agents=("coder",), environments=("production",)),
        execution=Execution(mode="autonomous", max_iterations=20),
        disable_model_invocation=True,
        user_invocable=False,
        arguments=(Argument(name="cluster"), Argument(name="region")),
        argument_hint="[cluster]",
        paths=("src/*.{ts,tsx}", "docs/**"),
    )
    assert skill.frontmatter.properties()["priority"] == "-7"
    assert extended_fields(skill.frontmatter.properties()) == skill.frontmatter.extended


# ── wrong values: where they are reported, and what they are read as ──────────────────────────────────────


@pytest.mark.parametrize(
    ("front", "expected"),
    [
        ("model: [a]\n", [("model.type", 4, 8)]),
        ("context: forked\n", [("context.value", 4, 10)]),
        ("context: fork\nagent: {a: b}\n", [("agent.type", 5, 8)]),
        ("hooks: [a]\n", [("hooks.type", 4, 8)]),
        ("hooks:\n  pre: {}\n", [("hooks.type", 5, 8)]),
        ("hooks:\n  Stop:\n  - script: a\n  - script: ../b\n", [("hooks.path", 7, 13)]),
        ("hooks:\n  Stopp: a\n", [("hooks.event", 5, 3)]),
        ("priority: high\n", [("priority.type", 4, 11)]),
        ("tags: [a, [b]]\n", [("tags.type", 4, 11)]),
        ("scope:\n  teams: [a]\n", [("scope.type", 5, 3)]),
        ("scope:\n  agents: [a, {}]\n", [("scope.type", 5, 15)]),
        ("execution:\n  max-iterations: 0\n", [("execution.type", 5, 19)]),
        ("execution:\n  turbo: on\n", [("execution.type", 5, 3)]),
        ("user-invocable: maybe\n", [("invocation.type", 4, 17)]),
        ("disable-model-invocation:\n", [("invocation.type", 4, 26)]),
        ("arguments:\n- name: a\n- name: a\n", [("arguments.type", 6, 3)]),
        ("arguments: a 1\n", [("arguments.type", 4, 12)]),
        ("argument-hint: [file]\n", [("argument-hint.type", 4, 16)]),
        ("paths: {a: b}\n", [("paths.type", 4, 8)]),
    ],
)
@pytest.mark.proves("runtime.fields.extended")
def test_a_wrong_value_is_reported_where_it_stands(front: str, expected: list[tuple[str, int, int]]) -> None:
    assert faults(front) == expected
    assert {one.severity for one in found(front)} == {Severity.WARNING}
    assert read(front).unreadable == {"agent" if "agent: {" in front else front.partition(":")[0]}


@pytest.mark.parametrize("value", ["forked", "Fork", "[fork]", "{a: b}", "''", "", "null", "inherit,fork", "isolated"])
def test_a_context_that_cannot_be_read_isolates_the_skill(value: str) -> None:
    assert read(f"context: {value}\n").context == "fork"
    assert [one.rule for one in found(f"context: {value}\n")] == ["context.value"]


@pytest.mark.parametrize("value", ["inherit", "'inherit'"])
@pytest.mark.proves("runtime.fork.default")
def test_a_skill_joins_the_conversation_unless_it_asks_to_fork(value: str) -> None:
    assert read(f"context: {value}\n").context == "inherit"
    assert read("name: a\n").context == "inherit"
    assert read("context: fork\n").context == "fork"
    assert faults(f"context: {value}\n") == faults("context: fork\n") == []


@pytest.mark.parametrize(
    "value",
    ["maybe", "y", "N", "oui", "2", "01", "1.0", "yes no", "~", "", "''", "[true]", "{yes: no}", "'true;'", "null"],
)
def test_a_flag_that_is_neither_true_nor_false_closes(value: str) -> None:
    fields = read(f"disable-model-invocation: {value}\nuser-invocable: {value}\n")
    assert (fields.disable_model_invocation, fields.user_invocable) == (True, False)
    assert fields.unreadable == {"disable-model-invocation", "user-invocable"}


def test_a_real_boolean_from_elsewhere_is_no_text_and_closes() -> None:
    assert extended_fields({"user-invocable": True}).user_invocable is False


@pytest.mark.proves("runtime.fields.extended")
@pytest.mark.parametrize("quote", ["", "'", '"'])
@pytest.mark.parametrize(
    ("word", "value"),
    [
        *((word, True) for word in ("true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "oN", "1", " yes ")),
        *((word, False) for word in ("false", "False", "FALSE", "no", "No", "NO", "off", "Off", "oFF", "0", " no ")),
    ],
)
def test_a_switch_takes_the_words_that_claude_code_takes(word: str, quote: str, *, value: bool) -> None:
    front = f"user-invocable: {quote}{word}{quote}\ndisable-model-invocation: {quote}{word}{quote}\n"
    fields = read(front)
    assert (fields.user_invocable, fields.disable_model_invocation) == (value, value)
    assert found(front) == []


@pytest.mark.parametrize("key", ["model", "agent", "hooks", "execution", "priority", "tags", "arguments", "paths"])
def test_an_empty_value_counts_as_absent_where_nothing_is_narrowed(key: str) -> None:
    assert read(f"{key}:\n") == ExtendedFields()


def test_inherit_names_no_model() -> None:
    assert read("model: inherit\n").model is None
    assert read("model: ' vendor:large '\n").model == "vendor:large"


@pytest.mark.proves("runtime.fork.agent-needs-fork")
def test_an_agent_without_a_fork_is_reported() -> None:
    assert faults("agent: tester\n") == [("agent.needsFork", 4, 8)]
    assert faults("agent: tester\ncontext: inherit\n") == [("agent.needsFork", 4, 8)]
    assert faults("agent: tester\ncontext: fork\n") == []


@pytest.mark.parametrize("value", ["1.5", "1e3", "0x10", "1_000", "٣", "1000000000000", "[1]", "1 2", "--1"])
def test_a_priority_is_a_whole_number_in_plain_digits(value: str) -> None:
    assert read(f"priority: {value}\n").priority == 0
    assert [one.rule for one in found(f"priority: {value}\n")] == ["priority.type"]


@pytest.mark.parametrize(("value", "number"), [("1000", 1000), ("-3", -3), ("+4", 4), ("007", 7), ("'5'", 5)])
def test_a_priority_is_read_from_its_text(value: str, number: int) -> None:
    assert read(f"priority: {value}\n").priority == number


@pytest.mark.proves("runtime.fields.tags")
def test_tags_are_short_texts_and_one_that_is_wrong_costs_only_itself() -> None:
    assert read("tags: [a, ' b ', a]\n").tags == ("a", "b")
    assert read(f"tags: [a, [b], '', {'x' * (MAX_TAG_LENGTH + 1)}, c]\n").tags == ("a", "c")
    assert len(found(f"tags: [a, [b], '', {'x' * (MAX_TAG_LENGTH + 1)}, c]\n")) == 3
    assert read("tags: one, two\n").tags == ("one", "two")
    assert [one.rule for one in found("tags: one, two\n")] == ["tags.type"]
    assert read("tags: {a: b}\n").tags == ()
    many = ", ".join(f"t{number}" for number in range(MAX_TAGS + 1))
    assert len(read(f"tags: [{many}]\n").tags) == MAX_TAGS
    assert read(f"tags: [{many}]\n").unreadable == {"tags"}


def test_tags_below_metadata_count_if_there_is_no_field_tags() -> None:
    assert read("metadata:\n  tags: [a, b]\n").tags == ("a", "b")
    assert read("metadata:\n  tags: one, two\npriority: 1\n").tags == ("one", "two")
    assert read("metadata:\n  tags: [a]\ntags: [b]\n").tags == ("b",)
    assert read("metadata:\n  tags: {a: b}\n").faults == ()
    assert read("metadata: tags\n").tags == ()


# ── scope ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("governance.scope.combined")
def test_every_dimension_of_a_scope_must_match() -> None:
    scope = read("scope:\n  agents: [a, b]\n  environments: [production]\n").scope
    assert scope.admits(agent="b", environment="production", tenant="any")
    assert not scope.admits(agent="b", environment="staging")
    assert not scope.admits(agent="c", environment="production")
    assert not scope.admits(environment="production")
    assert Scope().admits()
    assert not read("scope: {tenants: []}\n").scope.admits(tenant="t")


@pytest.mark.parametrize(
    "value", ["", "production", "[production]", "{teams: [a]}", "{agents: {}}", "{agents: }", "{agents: [a, []]}"]
)
def test_a_scope_that_cannot_be_read_whole_is_visible_nowhere(value: str) -> None:
    scope = read(f"scope: {value}\n").scope
    assert scope.closed
    assert not scope.admits(agent="a", tenant="a", environment="production")
    assert [one.rule for one in found(f"scope: {value}\n")] == ["scope.type"]


# ── execution ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("setting", "name", "value", "wrong"),
    [
        ("mode: simple", "mode", "simple", False),
        ("mode: fast", "mode", None, True),
        ("mode: [simple]", "mode", None, True),
        ("max-iterations: 100", "max_iterations", 100, False),
        ("max-iterations: 101", "max_iterations", 100, True),
        ("max-iterations: 0", "max_iterations", 1, True),
        ("max-iterations: ten", "max_iterations", None, True),
        ("max-retries-per-tool: 0", "max_retries_per_tool", 0, False),
        ("max-retries-per-tool: 11", "max_retries_per_tool", 10, True),
        ("max-retries-per-tool: -1", "max_retries_per_tool", 0, True),
        ("timeout-per-iteration: 30", "timeout_per_iteration", 30.0, False),
        ("timeout-per-iteration: 500ms", "timeout_per_iteration", 0.5, False),
        ("timeout-per-iteration: 2m", "timeout_per_iteration", 120.0, False),
        ("timeout-per-iteration: 0", "timeout_per_iteration", None, True),
        ("timeout-per-iteration: 1h", "timeout_per_iteration", None, True),
        ("timeout-per-iteration: 99999", "timeout_per_iteration", 3600.0, True),
        ("early-termination: false", "early_termination", False, False),
        ("early-termination: no", "early_termination", False, False),
        ("early-termination: never", "early_termination", None, True),
        ("sandbox: false", "sandbox", False, False),
        ("sandbox: off", "sandbox", False, False),
        ("sandbox: none", "sandbox", True, True),
        ("allowed-paths: [/project, /tmp]", "allowed_paths", ("/project", "/tmp"), False),
        ("allowed-paths: /project", "allowed_paths", (), True),
        ("network: restricted", "network", "restricted", False),
        ("network: []", "network", "none", True),
    ],
)
def test_a_setting_of_execution_is_read_within_its_bounds(
    setting: str, name: str, value: object, *, wrong: bool
) -> None:
    front = f"execution:\n  {setting}\n"
    assert getattr(read(front).execution, name) == value
    assert [one.rule for one in found(front)] == ["execution.type"] * wrong


def test_execution_that_is_no_mapping_leaves_all_to_the_host() -> None:
    assert read("execution: fast\n").execution == Execution()
    assert faults("execution: fast\n") == [("execution.type", 4, 12)]


@pytest.mark.parametrize("text", ["", "x", "1.1234567", "-1", "1s1", " 1", "1 s", "٣", "inf", "nan", "0.0"])
def test_a_duration_that_is_none_is_refused(text: str) -> None:
    reported = Faults()
    assert read_seconds(text, "execution.type", ("a",), reported, most=10.0) is None
    assert [fault.rule for fault in reported.found] == ["execution.type"]


# ── hooks ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_hooks_around_an_activation_are_scripts_in_their_order() -> None:
    hooks = read("hooks:\n  pre: [./scripts/a.sh, {script: scripts//b.sh, timeout: 5s}]\n  post: scripts/c.sh\n").hooks
    assert [hook.script for hook in hooks.pre] == ["scripts/a.sh", "scripts/b.sh"]
    assert hooks.pre[1].timeout == 5.0
    assert [hook.argv for hook in hooks.post] == [("scripts/c.sh",)]
    assert hooks.complete


_NESTED = """\
hooks:
  PreToolUse:
  - matcher: Bash|mcp__.*
    once: "true"
    hooks:
    - type: command
      command: python scripts/check.py --strict "a b"
      timeout: 10
    - script: scripts/second.sh
      once: "false"
  - command: echo $HOME
  Stop: scripts/stop.sh
"""


def test_event_hooks_are_read_in_both_writings_in_use() -> None:
    hooks = read(_NESTED).hooks
    assert hooks.complete
    assert found(_NESTED) == []
    first, second, third = hooks.of("PreToolUse")
    assert first == Hook(
        event="PreToolUse",
        command='python scripts/check.py --strict "a b"',
        matcher="Bash|mcp__*",
        once=True,
        timeout=10.0,
    )
    assert first.argv == ("python", "scripts/check.py", "--strict", "a b")
    assert (second.script, second.once, second.matcher) == ("scripts/second.sh", False, "Bash|mcp__*")
    assert (third.argv, third.matcher) == (None, None)
    assert hooks.of("PreToolUse", "Bash") == (first, second, third)
    assert hooks.of("PreToolUse", "Read") == (third,)
    assert [hook.script for hook in hooks.of("Stop")] == ["scripts/stop.sh"]
    assert hooks.of("SessionStart") == ()


def test_an_event_without_a_value_has_no_hooks() -> None:
    assert read("hooks:\n  pre:\n  post: []\n  Stop: a.sh\n").hooks == Hooks(
        entries=(Hook(event="Stop", script="a.sh"),)
    )


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        ("[a]", "hooks.type"),
        ("a.sh", "hooks.type"),
        ("{pre: [[a]]}", "hooks.type"),
        ("{pre: ['']}", "hooks.type"),
        ("{Pre: a}", "hooks.event"),
        ("{pretooluse: a}", "hooks.event"),
        ("{pre: /bin/true}", "hooks.path"),
        ("{pre: ../a}", "hooks.path"),
        ("{pre: ./}", "hooks.path"),
        ("{Stop: [{type: prompt, prompt: x}]}", "hooks.type"),
        ("{Stop: [{script: a, command: b}]}", "hooks.type"),
        ("{Stop: [{command: []}]}", "hooks.type"),
        ("{Stop: [{hooks: a}]}", "hooks.type"),
        ("{Stop: [{hooks: [{}]}]}", "hooks.type"),
    ],
)
def test_a_hook_that_cannot_be_read_leaves_the_hooks_incomplete(value: str, rule: str) -> None:
    hooks = read(f"hooks: {value}\n").hooks
    assert not hooks.complete
    assert hooks.entries == ()
    assert rule in [one.rule for one in found(f"hooks: {value}\n")]


@pytest.mark.parametrize(
    "setting", ["once: y", "once: 2", "timeout: never", "matcher: 'Bash(git *)'", "matcher: [Bash]", "if: x"]
)
def test_a_setting_that_cannot_be_read_makes_a_hook_run_more_often_not_less(setting: str) -> None:
    front = f"hooks:\n  PreToolUse:\n  - script: a.sh\n    {setting}\n"
    assert read(front).hooks == Hooks(entries=(Hook(event="PreToolUse", script="a.sh"),))
    assert [one.rule for one in found(front)] == ["hooks.value"]


def test_a_hook_never_waits_longer_than_ten_minutes() -> None:
    front = "hooks:\n  Stop: [{script: a.sh, timeout: 20m}]\n"
    assert read(front).hooks.of("Stop")[0].timeout == 600.0
    assert faults(front) == [("hooks.value", 5, 34)]


@pytest.mark.parametrize("matcher", ["''", "'*'", "'.*'", ""])
def test_a_matcher_for_everything_is_no_matcher(matcher: str) -> None:
    (hook,) = read(f"hooks:\n  PreToolUse: [{{script: a.sh, matcher: {matcher}}}]\n").hooks.entries
    assert hook.matcher is None
    assert hook.matches("Bash")


@pytest.mark.parametrize(
    ("matcher", "tool", "fits"),
    [
        ("Bash", "Bash", True), ("Bash", "Bash2", False), ("Bash", "bash", True), ("edit|write", "Edit", True),
        ("Edit | Write", "Write", True),
        ("mcp__.*", "mcp__memory__read", True), ("mcp__*", "mcp_", False), ("*a*a*", "banana", True),
        ("*a*b*", "banana", False), ("ab*ba", "aba", False), ("skills.load", "skillsXload", False),
    ],
)  # fmt: skip
def test_a_matcher_compares_whole_names(matcher: str, tool: str, *, fits: bool) -> None:
    (hook,) = read(f"hooks:\n  PreToolUse: [{{script: a.sh, matcher: {matcher!r}}}]\n").hooks.entries
    assert hook.matches(tool) is fits


@pytest.mark.parametrize("command", ["a | b", "a; b", "$X", "`a`", "a 'b", "a > b", "a\\nb", "a & b"])
def test_a_command_that_needs_a_shell_has_no_words(command: str) -> None:
    assert Hook(event="Stop", command=command.replace("\\n", "\n")).argv is None


def test_every_event_is_spelled_once() -> None:
    assert len({event.lower() for event in HOOK_EVENTS}) == len(HOOK_EVENTS)


# ── arguments ─────────────────────────────────────────────────────────────────────────────────────────────


def test_arguments_are_names_or_mappings_in_their_order() -> None:
    assert [one.name for one in read("arguments: [issue, branch-name]\n").arguments] == ["issue", "branch-name"]
    front = "arguments:\n- issue\n- name: branch\n  description: where\n  default: main\n  required: 'true'\n"
    assert read(front).arguments == (
        Argument(name="issue"),
        Argument(name="branch", description="where", default="main", required=True),
    )
    assert found(front) == []
    assert read("arguments: [{name: a, description: '', default: ''}]\n").arguments == (Argument(name="a", default=""),)


@pytest.mark.parametrize(
    "value",
    [
        "{a: b}", "[a, 1b]", "[a, a]", "a a", "[a, {}]", "[a, {name: []}]", "[ARGUMENTS]", "[a, '']",
        "[{name: b, x: y}]",
        "[{name: b, required: y}]", "[{name: b, default: []}]", "[{name: b, description: []}]", "[a b]",
        f"[{{name: b, default: {'x' * 4097}}}]", f"[{', '.join(f'a{n}' for n in range(65))}]",
    ],
)  # fmt: skip
def test_arguments_that_cannot_be_read_whole_are_none_so_that_no_value_moves(value: str) -> None:
    assert read(f"arguments: {value}\n").arguments == ()
    assert {one.rule for one in found(f"arguments: {value}\n")} == {"arguments.type"}


def test_hint_and_paths_stay_text_and_list() -> None:
    fields = read("argument-hint: [file, format]\npaths: [a/**, b]\n")
    assert (fields.argument_hint, fields.paths) == ("[file, format]", ("a/**", "b"))
    assert read("argument-hint: {a: b}\n").argument_hint is None
    assert read("paths: {a: b}\n").paths == ()
    assert read("paths: 'a}, {b,c}'\n").paths == ("a}", "{b,c}")


# ── profiles, positions and hostile data ──────────────────────────────────────────────────────────────────

_WRONG = "context: forked\npriority: high\n"


@pytest.mark.parametrize("profile", ["spec", "skills-ref"])
def test_profiles_that_do_not_know_the_fields_report_them_as_unknown_and_no_more(profile: str) -> None:
    document = parse_source(f"---\nname: a\ndescription: d\n{_WRONG}---\n", path="SKILL.md")
    assert {one.rule for one in validate_skill(document, profile=profile)} == {UNKNOWN}


def test_a_rule_that_the_profile_switches_off_can_be_selected() -> None:
    document = parse_source(f"---\nname: a\ndescription: d\n{_WRONG}---\n", path="SKILL.md")
    spec = PROFILES["spec"]
    chosen = Selection.checked(("context",), (), RULES)
    (one,) = Judgement(profile=spec, selection=chosen).judge(raw_findings(document, spec))
    assert (one.rule, one.severity) == ("context.value", Severity.WARNING)


def test_each_rule_of_these_fields_is_silent_in_the_official_profile_and_warns_where_skills_load() -> None:
    keys = {*EXTENDED_FIELDS, "invocation"}
    rows = [row for row in RULES.values() if row.family == "spec" and row.id.partition(".")[0] in keys]
    assert len(rows) == 16
    by_profile = {(row.severity_in("spec"), row.severity_in("skills-ref"), row.severity_in("lenient")) for row in rows}
    assert by_profile == {(None, None, Severity.WARNING)}
    assert {(row.family, row.severity) for row in rows} == {("spec", Severity.WARNING)}


def test_a_value_that_had_to_be_mended_is_judged_only_where_it_is_used() -> None:
    front = "context: fork: yes\n"
    assert "context.value" in [one.rule for one in found(front)]
    document = parse_source(f"---\nname: a\ndescription: d\n{front}---\n")
    assert {one.rule for one in validate_skill(document)} == {"frontmatter.syntax", UNKNOWN}


def test_of_a_key_written_twice_the_first_counts_and_is_shown() -> None:
    front = "scope:\n  agents: {}\n  agents: [a]\n"
    assert read(front).scope.closed
    assert faults(front) == [("scope.type", 5, 11)]


def test_thousands_of_faults_are_cut_and_still_close() -> None:
    front = f"scope: {{agents: [{', '.join(['[]'] * 5000)}]}}\n"
    assert len(found(front)) == 100
    assert read(front).scope.closed


def test_a_fault_stands_at_the_innermost_value_that_its_path_finds() -> None:
    (field,) = parse_document("---\nscope:\n  agents: [a]\n---\n").fields
    for path in (("scope", "agents", 0), ("scope", "agents", 0, "x")):
        assert (place_of(field, FieldFault(rule="scope.type", message="", path=path)).line, field.location.line) == (
            3,
            3,
        )
        assert place_of(field, FieldFault(rule="scope.type", message="", path=path)).column == 12
    assert place_of(field, FieldFault(rule="scope.type", message="", path=("scope", "x", "y"))) == field.location


def test_a_path_is_spelled_as_an_author_would() -> None:
    assert named(("hooks", "Stop", 0, "x" * 70)) == f"hooks.Stop[0].{'x' * 60}..."


def test_the_fields_are_plain_data_for_json() -> None:
    data = json.loads(json.dumps(read(f"{_NESTED}tags: [a]\ncontext: forked\n").as_dict()))
    assert (data["tags"], data["context"], data["hooks"]["complete"]) == (["a"], "fork", True)
    assert "faults" not in data


_SETTINGS = [
    "pre", "Stop", "hooks", "script", "command", "matcher", "once", "timeout", "type", "name", "default", "agents",
    "teams", "mode", "max-iterations", "sandbox", "network", "required", "description",
]  # fmt: skip
_PLAIN: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from(["", " ", "true", "fork", "a", "1", "scripts/a.sh", "../x", "Bash", "\0", "\ud800"])
    | st.text(max_size=8)
    | st.none()
    | st.booleans()
    | st.integers()
    | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(_SETTINGS) | st.text(max_size=4) | st.integers(),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.mark.unmeasured
@given(st.dictionaries(st.sampled_from(sorted(EXTENDED_FIELDS)), _PLAIN, min_size=1, max_size=6))
def test_reading_raises_for_nothing_and_every_fault_names_a_rule(properties: dict[str, object]) -> None:
    fields = extended_fields(properties)
    hash(fields)
    assert {fault.rule for fault in fields.faults} <= set(RULES)
    assert fields.unreadable <= set(properties)
    assert fields.context in ("inherit", "fork")
    if "scope" in fields.unreadable:
        assert not fields.scope.admits(agent="a", tenant="a", environment="a")
    if "hooks" not in fields.unreadable:
        assert fields.hooks.complete
    for hook in fields.hooks.entries:
        assert (hook.script is None) is not (hook.command is None)
        assert hook.matches("Bash") in (True, False)


@given(st.text("abx:{}[],-\n '\"#&*!|>%", max_size=60), st.sampled_from(sorted(EXTENDED_FIELDS)))
def test_any_text_as_a_value_gives_findings_with_places(text: str, key: str) -> None:
    document = parse_document(f"---\nname: a\ndescription: d\n{key}: {text}\n---\n")
    for one in validate_skill(document, profile="lenient"):
        assert one.location.line >= 1
        assert one.location.column >= 1
