from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.runtime.disclosure import model_texts
from prowess.runtime.disclosure.model_texts import DEFAULT_BUDGET, ActiveBody, estimate_tokens
from prowess.runtime.disclosure.skill_list import ListedSkill, SkillList
from tests.runtime.making import instructions_of

_TWO = [
    ListedSkill(name="a", description="Does a.", location="/s/a/SKILL.md"),
    ListedSkill(name="b", description="Does b."),
]


@pytest.mark.proves("runtime.prompt.available", "runtime.prompt.load-rule")
def test_the_instructions_list_every_skill_and_demand_that_it_is_loaded_first() -> None:
    text = instructions_of(_TWO).text

    assert (
        "<skill>\n<name>a</name>\n<description>Does a.</description>\n<location>/s/a/SKILL.md</location>\n</skill>"
        in text
    )
    assert "<skill>\n<name>b</name>\n<description>Does b.</description>\n</skill>" in text
    assert "you MUST call skills.load" in text[: text.index("<available_skills>")]


@pytest.mark.proves("runtime.prompt.order", "runtime.prompt.active", "runtime.prompt.active.order")
def test_rules_come_first_then_what_is_available_then_what_is_active_in_order() -> None:
    text = instructions_of(_TWO, [ActiveBody(name="b", body="Body B\n"), ActiveBody(name="a", body="Body A")]).text

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
    text = instructions_of(_TWO).text

    assert "the one loaded later wins" in text
    assert "active_skills" not in text
    assert "skill_content" not in text


@pytest.mark.proves("runtime.prompt.no-skills")
def test_without_skills_there_is_nothing_to_say() -> None:
    found = instructions_of([], [])

    assert found.text == ""
    assert set(found.tokens.values()) == {0}


def test_the_beginning_stays_the_same_when_skills_are_loaded() -> None:
    before = instructions_of(_TWO).text
    after = instructions_of(_TWO, [ActiveBody(name="a", body="A")]).text

    assert after.startswith(before)


def test_an_edited_body_is_replaced_by_the_advice_to_load_it_again() -> None:
    text = instructions_of(_TWO, [ActiveBody(name="a", body=None)]).text

    assert "edited after it was loaded. Load a again" in text


def test_every_section_is_measured() -> None:
    found = instructions_of(_TWO, [ActiveBody(name="a", body="A" * 400)])

    assert estimate_tokens("abcde") == 2
    assert found.tokens["active"] > 100
    assert found.tokens["total"] == estimate_tokens(found.text)
    assert abs(found.tokens["total"] - sum(found.tokens[part] for part in ("base", "available", "active"))) <= 3


@given(
    st.lists(st.text(max_size=300), min_size=1, max_size=12),
    st.integers(0, 1200),
)
def test_a_list_keeps_its_budget_and_every_name_as_long_as_all_fit(words: list[str], budget: int) -> None:
    listed = [ListedSkill(name=f"skill-{number}", description=text) for number, text in enumerate(words)]

    found = instructions_of(listed, [], budget)

    assert found.tokens["available"] <= budget
    shown = [skill for skill in listed if f"<name>{skill.name}</name>" in found.text]
    assert (len(shown) + found.left_out, shown) == (len(listed), listed[: len(shown)])
    assert found.over_budget == (found.left_out > 0)
    names_alone = SkillList(shown=tuple(ListedSkill(name=skill.name, description="") for skill in listed))
    assert (found.left_out == 0) == (len(model_texts.available_skills(names_alone)) <= budget * 4)
    assert found == instructions_of(listed, [], budget)


def test_short_descriptions_stay_whole_while_long_ones_give_way() -> None:
    listed = [
        ListedSkill(name="a", description="Short."),
        ListedSkill(name="b", description="long " * 200),
        ListedSkill(name="c", description="x" * 900),
    ]

    found = instructions_of(listed, [], 200)

    assert "<description>Short.</description>" in found.text
    assert found.shortened == ("b", "c")
    assert found.tokens["available"] <= 200
    assert instructions_of(listed, [], 10_000).shortened == ()


def test_a_load_result_lists_the_directory_and_at_most_fifty_files() -> None:
    text = model_texts.skill_content("a", "Body", directory="/s/a", resources=[f"f{n}" for n in range(60)])

    assert text.startswith('<skill_content name="a">\nBody\n')
    assert "/s/a" in text
    assert text.count("<file>") == 50
    assert "and 10 more" in text
    assert "Directory" not in model_texts.skill_content("a", "Body", directory=None, resources=())


def test_without_a_budget_a_long_list_is_bounded_and_the_cut_is_reported() -> None:
    many = [ListedSkill(name=f"skill-{number}", description="Does it. " * 50) for number in range(200)]
    found = instructions_of(many)
    assert found.tokens["available"] <= DEFAULT_BUDGET
    assert all(f"<name>skill-{number}</name>" in found.text for number in range(200))
    assert len(found.shortened) == 200
    assert not found.over_budget
    assert found.notice is not None
    assert found.notice.startswith("200 descriptions of skills were shortened")
    whole = instructions_of(many, [], 1_000_000)
    assert (whole.shortened, whole.notice) == ((), None)


@pytest.mark.proves("tooling.prompt.budget")
def test_skills_are_left_out_and_counted_if_the_names_alone_are_too_long() -> None:
    many = [ListedSkill(name=f"skill-{number:04}", description="Does it, " * 50) for number in range(2000)]
    found = instructions_of(many)
    shown = found.text.count("<name>")
    assert DEFAULT_BUDGET - 50 < found.tokens["available"] <= DEFAULT_BUDGET
    assert (shown + found.left_out, found.over_budget) == (2000, True)
    assert f"\nand {found.left_out} more; skills.list with a query of a few words finds them\n" in found.text
    assert found.text.count("<description>Does it, Does it, ") == shown > 80
    assert str(found.notice).startswith(f"{found.left_out} skills left out and {shown} descriptions of skills were")


@pytest.mark.parametrize("budget", range(0, 60, 3))
def test_no_budget_is_too_small_to_be_kept(budget: int) -> None:
    many = [ListedSkill(name=f"skill-{number}", description="Does it.") for number in range(2000)]
    found = instructions_of(many, [], budget)
    assert found.tokens["available"] <= budget
    assert found.left_out == 2000 - found.text.count("<name>")
    assert ("more; skills.list" in found.text) == (budget >= 27)


def test_the_default_budget_of_the_list_of_skills_is_4000_tokens() -> None:
    assert DEFAULT_BUDGET == 4000
