"""Restrictions compose by intersection, never take the skill tools away, and say what refuses and why."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.policy import tool_names
from prowess.policy.decision import Allow, Deny
from prowess.policy.restriction import Restriction, decide
from prowess.tools.spec import spellings

_CALLS: list[tuple[str, dict[str, object]]] = [
    ("Read", {"file_path": "docs/a.md"}),
    ("Read", {"file_path": "a.md"}),
    ("Write", {"file_path": "a.md"}),
    ("Bash", {"command": "git status"}),
    ("Bash", {"command": "git status; id"}),
    ("Bash", {"command": "id & ls"}),
    ("Grep", {"pattern": "x", "path": "docs"}),
    ("WebFetch", {"url": "x"}),
    ("skills.load", {"names": ["a"]}),
]
_FIELDS = [None, "", "Read", "Read Bash", "Bash(git:*)", "Bash(git:*) Read(docs/**)", "Read(", "Grep(docs/**) Bash(id)"]


def _allowed(tool: str, arguments: dict[str, object], *fields: object) -> bool:
    active = [Restriction.of_field(f"s{place}", field) for place, field in enumerate(fields)]
    return isinstance(decide(tool, arguments, active, "/nowhere"), Allow)


def test_the_refusal_names_the_skill_and_the_reason() -> None:
    active = [Restriction.of_field("code-review", "Read Bash(git:*)")]
    decision = decide("Bash", {"command": "git diff & rm -rf ."}, active)
    assert decision == Deny(
        rule="allowed-tools:background", reason="'&' runs a command in the background", skill="code-review"
    )


@pytest.mark.proves("runtime.restrict.allowlist", "runtime.restrict.absent", "runtime.restrict.empty")
@pytest.mark.parametrize(
    ("field", "rule", "reason"),
    [
        ("Read Bash(git:*)", "allowed-tools:tool", "it permits Read, Bash(git:*)"),
        ("", "allowed-tools:empty", "its allowed-tools is empty, so it permits nothing"),
        ([], "allowed-tools:empty", "its allowed-tools is empty, so it permits nothing"),
        ("Read(", "allowed-tools:unreadable", "cannot be read (this parenthesis is never closed), so it permits noth"),
        (7, "allowed-tools:unreadable", "it is neither a text nor a list of texts"),
        (None, None, None),
    ],
)
def test_a_tool_outside_of_the_list_is_refused(field: object, rule: str | None, reason: str | None) -> None:
    decision = decide("Write", {"file_path": "a"}, [Restriction.of_field("s", field)])
    if rule is None or reason is None:
        assert isinstance(decision, Allow)
    else:
        assert isinstance(decision, Deny)
        assert decision.rule == rule
        assert reason in decision.reason


def test_what_a_skill_writes_cannot_draw_on_a_screen() -> None:
    decision = decide("Write", {}, [Restriction.of_field("s", "Read(\x1b[31m" + "x" * 5000 + ")")])
    assert isinstance(decision, Deny)
    assert "\x1b" not in decision.reason
    assert len(decision.reason) < 500


@pytest.mark.proves("runtime.restrict.no-widening", "client.safety.never-widens")
@given(st.lists(st.sampled_from(_FIELDS), max_size=4), st.sampled_from(_FIELDS), st.sampled_from(_CALLS))
def test_a_further_skill_never_permits_what_another_forbids(
    fields: list[str | None], further: str | None, call: tuple[str, dict[str, object]]
) -> None:
    before = _allowed(*call, *fields)
    after = _allowed(*call, *fields, further)
    assert after == (before and _allowed(*call, further))
    assert not (after and not before)


def test_the_order_of_loading_does_not_matter() -> None:
    for tool, arguments in _CALLS:
        answers = {_allowed(tool, arguments, *fields) for fields in permutations(["Read", "Bash(git:*) Read", None])}
        assert len(answers) == 1


@pytest.mark.parametrize("field", _FIELDS)
@pytest.mark.parametrize("name", sorted(tool_names.SESSION_TOOLS))
def test_no_spelling_of_the_skill_tools_is_ever_refused(name: str, field: str | None) -> None:
    assert all(_allowed(spelling, {}, field) for spelling in (*spellings(name), "skill", "Skill"))


def test_the_table_has_every_spelling_that_the_executor_takes_and_no_other() -> None:
    ours = {spelling for spelling, name in tool_names.ALIASES.items() if name in tool_names.SESSION_TOOLS}
    theirs = {spelling for name in tool_names.SESSION_TOOLS for spelling in spellings(name)}
    assert ours | tool_names.SESSION_TOOLS == theirs


@pytest.mark.proves("client.safety.preapprove")
def test_in_the_mode_preapprove_a_match_needs_no_asking_and_nothing_is_refused() -> None:
    active = [Restriction.of_field("s", "Bash(git:*)", mode="preapprove")]
    listed = decide("Bash", {"command": "git status"}, active)
    other = decide("Bash", {"command": "id"}, active)
    assert isinstance(listed, Allow)
    assert listed.preapproved_by == "s"
    assert isinstance(other, Allow)
    assert other.preapproved_by is None


def test_a_restricting_skill_refuses_what_another_pre_approves() -> None:
    active = [Restriction.of_field("a", "Bash", mode="preapprove"), Restriction.of_field("b", "Read")]
    decision = decide("Bash", {"command": "id"}, active)
    assert isinstance(decision, Deny)
    assert decision.skill == "b"


def test_a_skill_without_the_field_or_with_an_unreadable_one_pre_approves_nothing() -> None:
    for field in (None, "", "Bash("):
        decision = decide("Bash", {"command": "id"}, [Restriction.of_field("a", field, mode="preapprove")])
        assert isinstance(decision, Allow)
        assert decision.preapproved_by is None


@pytest.mark.parametrize("unreadable", ["disallowed-tools", "disallowedTools", "disallowed_tools"])
def test_of_several_fields_that_refuse_each_unreadable_one_refuses_everything(unreadable: str) -> None:
    fields = dict.fromkeys(("disallowed-tools", "disallowedTools", "disallowed_tools"), "WebSearch")
    active = [Restriction.of_properties("s", {**fields, unreadable: "Bash("})]
    decision = decide("Read", {"file_path": "/workspace/a"}, active)
    assert isinstance(decision, Deny)
    assert decision.rule == "disallowed-tools:unreadable"
