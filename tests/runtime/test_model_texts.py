from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.runtime.disclosure import model_texts
from prowess.runtime.disclosure.model_texts import (
    DEFAULT_BUDGET,
    ActiveBody,
    ListedSkill,
    estimate_tokens,
    instructions,
)

_TWO = [
    ListedSkill(name="a", description="Does a.", location="/s/a/SKILL.md"),
    ListedSkill(name="b", description="Does b."),
]


def _instructions(
    listed: list[ListedSkill], active: list[ActiveBody], budget: int | None = None
) -> model_texts.Disclosure:
    return model_texts.instructions(listed, active, bodies_in_results=False, budget=budget)


@pytest.mark.proves("runtime.prompt.available", "runtime.prompt.load-rule")
def test_the_instructions_list_every_skill_and_demand_that_it_is_loaded_first() -> None:
    text = _instructions(_TWO, []).text

    assert (
        "<skill>\n<name>a</name>\n<description>Does a.</description>\n<location>/s/a/SKILL.md</location>\n</skill>"
        in text
    )
    assert "<skill>\n<name>b</name>\n<description>Does b.</description>\n</skill>" in text
    assert "you MUST call skills.load" in text[: text.index("<available_skills>")]


@pytest.mark.proves("runtime.prompt.order", "runtime.prompt.active", "runtime.prompt.active.order")
def test_rules_come_first_then_what_is_available_then_what_is_active_in_order() -> None:
    text = _instructions(_TWO, [ActiveBody(name="b", body="Body B\n"), ActiveBody(name="a", body="Body A")]).text

    places = [
        text.index(part)
        for part in (
            "MUST call",
            "<available_skills>",
            "</available_skills>",
            "<active_skills>",
            '<skill name="b">\nBody B\n</skill>',
        )
    ]
    places += [text.index('<skill name="a">\nBody A\n</skill>'), text.index("</active_skills>")]
    assert places == sorted(places)
    assert text.count("<active_skills>") == 1


@pytest.mark.proves("runtime.prompt.active.precedence", "runtime.prompt.active.absent")
def test_the_later_skill_wins_and_without_active_skills_there_is_no_such_section() -> None:
    text = _instructions(_TWO, []).text

    assert "the one loaded later wins" in text
    assert "active_skills" not in text
    assert "skill_content" not in text


@pytest.mark.proves("runtime.prompt.no-skills")
def test_without_skills_there_is_nothing_to_say() -> None:
    found = _instructions([], [])

    assert found.text == ""
    assert set(found.tokens.values()) == {0}


def test_the_beginning_stays_the_same_when_skills_are_loaded() -> None:
    before = _instructions(_TWO, []).text
    after = _instructions(_TWO, [ActiveBody(name="a", body="A")]).text

    assert after.startswith(before)


def test_an_edited_body_is_replaced_by_the_advice_to_load_it_again() -> None:
    text = _instructions(_TWO, [ActiveBody(name="a", body=None)]).text

    assert "edited after it was loaded. Load a again" in text


def test_every_section_is_measured() -> None:
    found = _instructions(_TWO, [ActiveBody(name="a", body="A" * 400)])

    assert estimate_tokens("abcde") == 2
    assert found.tokens["active"] > 100
    assert found.tokens["total"] == estimate_tokens(found.text)
    assert abs(found.tokens["total"] - sum(found.tokens[part] for part in ("base", "available", "active"))) <= 3


@given(
    st.lists(st.text(max_size=300), min_size=1, max_size=12),
    st.integers(0, 1200),
)
def test_a_budget_keeps_every_name_and_cuts_descriptions_to_one_common_length(words: list[str], budget: int) -> None:
    listed = [ListedSkill(name=f"skill-{number}", description=text) for number, text in enumerate(words)]

    found = _instructions(listed, [], budget)

    assert all(f"<name>{skill.name}</name>" in found.text for skill in listed)
    assert found.over_budget == (found.tokens["available"] > budget)
    names_alone = [ListedSkill(name=skill.name, description="") for skill in listed]
    if budget >= estimate_tokens(model_texts.available_skills(names_alone)):
        assert not found.over_budget
    else:
        assert "<description>" not in found.text
    assert found == _instructions(listed, [], budget)


def test_short_descriptions_stay_whole_while_long_ones_give_way() -> None:
    listed = [
        ListedSkill(name="a", description="Short."),
        ListedSkill(name="b", description="long " * 200),
        ListedSkill(name="c", description="x" * 900),
    ]

    found = _instructions(listed, [], 200)

    assert "<description>Short.</description>" in found.text
    assert found.shortened == ("b", "c")
    assert found.tokens["available"] <= 200
    assert _instructions(listed, [], 10_000).shortened == ()


def test_a_load_result_lists_the_directory_and_at_most_fifty_files() -> None:
    text = model_texts.skill_content("a", "Body", directory="/s/a", resources=[f"f{n}" for n in range(60)])

    assert text.startswith('<skill_content name="a">\nBody\n')
    assert "/s/a" in text
    assert text.count("<file>") == 50
    assert "and 10 more" in text
    assert "Directory" not in model_texts.skill_content("a", "Body", directory=None, resources=())


def test_without_a_budget_a_long_list_is_bounded_and_the_cut_is_reported() -> None:
    many = [ListedSkill(name=f"skill-{number}", description="Does it. " * 50) for number in range(200)]
    found = instructions(many, [], bodies_in_results=False)
    assert found.tokens["available"] <= DEFAULT_BUDGET
    assert all(f"<name>skill-{number}</name>" in found.text for number in range(200))
    assert len(found.shortened) == 200
    assert not found.over_budget
    assert found.notice is not None
    assert found.notice.startswith("200 descriptions of skills were shortened")
    whole = instructions(many, [], bodies_in_results=False, budget=1_000_000)
    assert (whole.shortened, whole.notice) == ((), None)


def test_names_are_kept_where_they_alone_are_too_long() -> None:
    many = [ListedSkill(name=f"skill-{number}", description="Does it.") for number in range(2000)]
    found = instructions(many, [], bodies_in_results=False)
    assert found.over_budget
    assert found.text.count("<name>") == 2000
    assert "the names alone exceed it" in str(found.notice)


def test_the_default_budget_of_the_list_of_skills_is_4000_tokens() -> None:
    assert DEFAULT_BUDGET == 4000
