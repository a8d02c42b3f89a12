from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.runtime import disclosure
from prowess.runtime.disclosure import ActiveBody, ListedSkill
from prowess.runtime.forging import SECTION_TAGS, escaped, neutral

_TAG = re.compile(
    r"<\s*(/?)\s*(available_skills|active_skills|skill_content|skill_resources|skill)(?![\w.:-])", re.IGNORECASE
)

# Pieces from which a forger would build, so that random texts come close to our tags.
_PIECES = st.sampled_from(
    [
        "<",
        ">",
        "/",
        "</",
        "skill",
        "skill>",
        "skills",
        "available_skills",
        "active_skills>",
        "skill_content",
        "SKILL",
        " ",
        "\n",
        "\u200b",
        '"',
        "'",
        "&",
        "&lt;",
        "]]>",
        "<![CDATA[",
        "<!--",
        "name",
        "</name>",
        "<description>",
        "ü",
        ">>>",
    ]
)
_TEXT = st.lists(_PIECES, max_size=25).map("".join)


def _tags(text: str) -> list[str]:
    return [closing + name for closing, name in _TAG.findall(text)]


@given(st.lists(st.tuples(_TEXT, _TEXT, _TEXT), min_size=1, max_size=3), st.lists(st.tuples(_TEXT, _TEXT), max_size=3))
def test_no_name_description_path_or_body_opens_or_closes_a_section(
    listed: list[tuple[str, str, str]], active: list[tuple[str, str]]
) -> None:
    text = disclosure.instructions(
        [ListedSkill(name=name, description=words, location=place) for name, words, place in listed],
        [ActiveBody(name=name, body=body) for name, body in active],
        bodies_in_results=False,
    ).text

    expected = ["available_skills", *["skill", "/skill"] * len(listed), "/available_skills"]
    if active:
        expected += ["active_skills", *["skill", "/skill"] * len(active), "/active_skills"]
    assert _tags(text) == expected


@given(_TEXT, _TEXT, st.lists(_TEXT, max_size=3))
def test_no_body_or_path_leaves_its_place_in_a_load_result(name: str, body: str, paths: list[str]) -> None:
    text = disclosure.skill_content(name, body, directory="/x", resources=paths)

    resources = ["skill_resources", "/skill_resources"] if paths else []
    assert _tags(text) == ["skill_content", *resources, "/skill_content"]


@pytest.mark.parametrize("tag", SECTION_TAGS)
@pytest.mark.parametrize("form", ["<{}>", "</{}>", "< /{} >", '<{} name="x">', "<\n/ {}>", "<\u200b/{}>"])
def test_every_tag_of_ours_is_made_text_in_a_body_whatever_its_form(tag: str, form: str) -> None:
    for spelled in (tag, tag.upper()):
        forged = form.format(spelled)
        assert neutral(f"a {forged} b") == f"a &lt;{forged[1:]} b"


@pytest.mark.parametrize(
    "body",
    ["<b>x</b>", "<skill-name>", "if a < b", "<skills>", "<description>d</description>", "List<Skill.x>", "&lt;skill>"],
)
def test_a_body_that_holds_no_tag_of_ours_stays_as_it_was_written(body: str) -> None:
    assert neutral(body) == body


def test_short_texts_are_escaped_and_stand_on_one_line() -> None:
    assert escaped(" a\n<b> & \"c\" 'd' ") == "a &lt;b&gt; &amp; &quot;c&quot; &#x27;d&#x27;"
