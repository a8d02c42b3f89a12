"""Five forms of one list: the same data in each, whatever skills say, and within a budget."""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from prowess.runtime.disclosure.model_texts import ActiveBody
from prowess.runtime.disclosure.prompts import FORMS, Form, active, prompt
from prowess.runtime.disclosure.skill_list import ListedSkill
from tests.runtime.making import instructions_of

if TYPE_CHECKING:
    from collections.abc import Sequence

# Pieces from which a forger would build: ends of every form, control characters, and what XML cannot hold.
_PIECES = st.sampled_from(
    [
        *(
            "</skill>",
            "</skills>",
            "</available_skills>",
            "<skill name='x'>",
            "</name>",
            "<description>",
            "/>",
            '" x="',
        ),
        *("\x00", "\x0b", "\x1b[31m", "\r\n", "\n", "\n\n# Heading\n", "\n- **x**: y", "\u2028", "\ufffe", "\ud800"),
        *("]]>", "<!--", "-->", "&lt;", "&", "'", '"', "`", "**", "](http://x)", "![a](b)", "\\", '"}, {"', "<b>"),
        *("\uff1cskill\uff1e", "<\u200bskill>", "\u202e", "name", " ", "a", "\u00fc", "\U0001f600"),
    ]
)
_TEXT = st.lists(_PIECES, max_size=8).map("".join)
_NAME = _TEXT.filter(lambda text: bool(text.strip()))  # a skill without a name cannot be read
_SKILLS = st.lists(st.builds(ListedSkill, name=_NAME, description=_TEXT, location=_TEXT), min_size=1, max_size=3)


def _seen(text: str | None) -> str:
    """What a reader has of a text: one line, with a sign for what no XML can hold or no UTF-8 encode."""
    legal = re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text or "")
    return " ".join(legal.split())


def _folded(text: str | None) -> str:
    """As `_seen`; a `<` that only looks like one is one, because that is what it is made plain as."""
    return re.sub("[\uff1c<]", "<", _seen(text))


def _data(skills: Sequence[ListedSkill]) -> list[tuple[str, str, str]]:
    return [(_folded(skill.name), _folded(skill.description), _folded(skill.location)) for skill in skills]


def _from_xml(text: str) -> list[tuple[str, str, str]]:
    root = ET.fromstring(text)  # noqa: S314 -- our own output
    assert root.tag == "available_skills"
    found = []
    for element in root:
        assert element.tag == "skill"
        values = {child.tag: _folded(child.text) for child in element}
        assert set(values) <= {"name", "description", "location"}
        found.append((values["name"], values.get("description", ""), values["location"]))
    return found


def _from_attributes(text: str) -> list[tuple[str, str, str]]:
    root = ET.fromstring(text)  # noqa: S314 -- our own output
    assert root.tag == "skills"
    assert root.attrib == {"count": str(len(root))}
    assert text.count("\n") == len(root) + 2
    for element in root:
        assert (element.tag, len(element), element.text) == ("skill", 0, None)
        assert list(element.attrib) == ["name", "description", "location", "trit", "role", "color"]
    return [tuple(_folded(element.attrib[key]) for key in ("name", "description", "location")) for element in root]  # type: ignore[misc]


def _from_json(text: str) -> list[tuple[str, str, str]]:
    assert "<" not in text
    assert text.count("\n") == text.count('{"name"') + 2
    return [tuple(map(_folded, (item["name"], item["description"], item["location"]))) for item in json.loads(text)]  # type: ignore[misc]


def _from_markdown(text: str) -> list[str]:
    """The texts of the items; anything but one list of plain items fails."""
    tokens = MarkdownIt().parse(text)
    kinds = {token.type for token in tokens}
    assert kinds <= {"bullet_list_open", "list_item_open", "paragraph_open", "inline"} | {
        "paragraph_close",
        "list_item_close",
        "bullet_list_close",
    }
    items = []
    for token in tokens:
        if token.type == "inline":
            inner = token.children or []
            assert {child.type for child in inner} <= {"text", "strong_open", "strong_close", "text_special"}
            items.append(_folded("".join(child.content for child in inner)))
    return items


@pytest.mark.proves("tooling.prompt.xml", "tooling.prompt.attributes", "client.safety.text-is-data")
@given(_SKILLS)
def test_two_forms_are_xml_that_holds_the_data_and_nothing_else_whatever_skills_say(skills: list[ListedSkill]) -> None:
    assert _from_xml(prompt("xml", skills).text) == _data(skills)
    assert _from_attributes(prompt("attributes", skills).text) == _data(skills)


@pytest.mark.proves("client.safety.text-is-data")
@given(_SKILLS)
def test_json_markdown_and_the_tool_hold_the_data_and_nothing_else_whatever_skills_say(
    skills: list[ListedSkill],
) -> None:
    assert _from_json(prompt("json", skills).text) == _data(skills)
    items = _from_markdown(prompt("markdown", skills).text)
    assert len(items) == len(skills)
    for item, (name, description, location) in zip(items, _data(skills), strict=True):
        assert " ".join(item.split()) == " ".join(f"{name}: {description} ({location})".split())
    tool = prompt("tool", skills).text
    assert (tool.count("<available_skills>"), tool.count("</available_skills>")) == (1, 1)
    lines = tool.partition("<available_skills>\n")[2].partition("</available_skills>")[0].split("\n")[:-1]
    assert [html.unescape(line) for line in lines] == [
        f'"{name}": {description}'
        for name, description, _ in ((_folded(s.name), _folded(s.description), 0) for s in skills)
    ]


@given(_SKILLS, st.lists(_PIECES, max_size=20).map("".join))
@pytest.mark.proves("tooling.prompt.body-element", "client.safety.text-is-data")
def test_an_active_skill_is_one_element_around_its_whole_body_that_no_body_can_end(
    skills: list[ListedSkill], body: str
) -> None:
    text = active(skills[0], body)
    opening, _, rest = text.partition("\n")
    (attributes,) = ET.fromstring(f"<all>{opening}</skill></all>")  # noqa: S314 -- our own output
    listed = ET.fromstring(prompt("attributes", skills[:1]).text)[0]  # noqa: S314 -- our own output
    assert (attributes.tag, attributes.attrib) == ("skill", listed.attrib)
    assert rest.endswith("\n</skill>\n")
    inner = rest.removesuffix("\n</skill>\n")
    assert re.search(r"<\s*/?\s*(skills?|available_skills|active_skills)\b", inner) is None
    # Whole: undoing what was made plain gives what was written.
    plain = re.sub("[\ud800-\udfff]", "\ufffd", body).strip("\r\n")
    assert inner.replace("&lt;", "<") == re.sub("\uff1c(?=skill)", "<", plain).replace("&lt;", "<")


def test_a_body_without_tags_of_ours_stays_as_it_was_written() -> None:
    body = '\n# Title\n\n<details>`a < b` & "c"</details>\n\n    code\n'
    skill = ListedSkill(name="pdf", description="Reads.", location="/s/pdf/SKILL.md")
    assert active(skill, body) == (
        '<skill name="pdf" description="Reads." location="/s/pdf/SKILL.md" trit="0" role="Coordinator" '
        f'color="#F59E0B">\n{body.strip(chr(10))}\n</skill>\n'
    )


@given(st.lists(_TEXT, min_size=1, max_size=6), st.integers(0, 4000), st.sampled_from(sorted(FORMS)))
@pytest.mark.proves("tooling.prompt.budget")
def test_a_budget_is_kept_with_every_name_or_the_number_left_out(texts: list[str], characters: int, form: Form) -> None:
    skills = [ListedSkill(name=f"skill-{number}", description=text) for number, text in enumerate(texts)]
    found = prompt(form, skills, characters)
    assert len(found.text) <= characters
    assert found == prompt(form, skills, characters)
    least = prompt(form, [ListedSkill(name=skill.name, description="") for skill in skills]).text
    assert (found.left_out == 0) == (len(least) <= characters)
    shown = len(skills) - found.left_out
    assert all((skill.name in found.text) == (number < shown) for number, skill in enumerate(skills))
    whole = prompt(form, skills)
    assert (found.left_out == 0 and found.shortened == ()) == (found.text == whole.text)
    assert (whole.shortened, whole.left_out) == ((), 0)


_TOLD = {
    "xml": "</skill>\nand {} more skills\n</available_skills>\n",
    "attributes": ' left_out="{}">\n',
    "tool": "\nand {} more skills\n</available_skills>\n",
    "json": ',\n{{"left_out": {}}}\n]\n',
    "markdown": "\n- and {} more skills\n",
}


@pytest.mark.proves("tooling.prompt.budget")
@pytest.mark.parametrize("form", FORMS)
def test_each_form_tells_how_many_skills_it_leaves_out(form: Form) -> None:
    skills = [ListedSkill(name=f"skill-{number:03}", description="Does it.") for number in range(300)]
    nine = prompt(form, skills[:9], None).text
    found = prompt(form, skills, len(nine) + 45)
    assert 280 < found.left_out < 300
    assert _TOLD[form].format(found.left_out) in found.text
    assert "there are no others" not in found.text


@pytest.mark.proves("tooling.prompt.budget")
@pytest.mark.parametrize("form", FORMS)
def test_short_descriptions_stay_whole_and_long_ones_get_the_same_length(form: Form) -> None:
    skills = [
        ListedSkill(name="a", description="Short."),
        ListedSkill(name="b", description="b" * 900),
        ListedSkill(name="c", description="c" * 700),
    ]
    least = len(prompt(form, [ListedSkill(name=skill.name, description="") for skill in skills]).text)
    found = prompt(form, skills, least + 400)
    assert "Short." in found.text
    assert found.shortened == ("b", "c")
    assert max(map(len, re.findall("b+", found.text))) == max(map(len, re.findall("c+", found.text))) > 100


def test_without_skills_there_is_nothing() -> None:
    assert [prompt(form, []).text for form in FORMS] == [""] * 5


@given(_SKILLS, _TEXT)
@pytest.mark.proves("client.safety.text-is-data")
def test_in_the_instructions_of_a_session_no_text_of_a_skill_ends_or_begins_a_section(
    skills: list[ListedSkill], body: str
) -> None:
    text = instructions_of(skills, [ActiveBody(name=skills[0].name, body=body)], 1_000_000).text
    tags = re.findall(r"<(/?(?:available_skills|active_skills|skill\b))", text)
    listed = ["available_skills", *["skill", "/skill"] * len(skills), "/available_skills"]
    assert tags == [*listed, "active_skills", "skill", "/skill", "/active_skills"]
