from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from prowess.compat.skills_ref import SkillError, to_prompt

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    MakeSkill = Callable[..., Path]


@pytest.mark.proves("tooling.api.to-prompt", "tooling.api.xml-bytes")
def test_no_directories_give_the_two_tags() -> None:
    assert to_prompt([]) == "<available_skills>\n</available_skills>"


@pytest.mark.proves("tooling.api.to-prompt", "tooling.api.xml-bytes", "tooling.api.to-prompt-is-catalog")
def test_the_block_is_one_tag_or_text_a_line_with_a_raw_location_and_no_body(
    make_skill: MakeSkill, tmp_path: Path
) -> None:
    directory = make_skill(
        'name: a\ndescription: |\n  <one> & "two"\n  it\'s', directory="R&D", body="The secret body\n"
    )
    assert to_prompt([str(directory)]) == (
        "<available_skills>\n"
        "<skill>\n"
        "<name>\n"
        "a\n"
        "</name>\n"
        "<description>\n"
        "&lt;one&gt; &amp; &quot;two&quot;\n"
        "it&#x27;s\n"
        "</description>\n"
        "<location>\n"
        f"{tmp_path.resolve()}/R&D/SKILL.md\n"
        "</location>\n"
        "</skill>\n"
        "</available_skills>"
    )


@pytest.mark.proves("tooling.api.to-prompt")
def test_order_and_repeats_are_kept(make_skill: MakeSkill) -> None:
    b = make_skill("name: b\ndescription: d", directory="b")
    a = make_skill("name: a\ndescription: d", directory="a")
    lines = to_prompt([b, a, b]).split("\n")
    assert [text for tag, text in pairwise(lines) if tag == "<name>"] == ["b", "a", "b"]


def test_a_linked_directory_is_named_by_its_target(make_skill: MakeSkill, tmp_path: Path) -> None:
    directory = make_skill("name: a\ndescription: d", directory="a")
    (tmp_path / "link").symlink_to(directory)
    assert f"{directory.resolve()}/SKILL.md" in to_prompt([tmp_path / "link"])


def test_one_bad_skill_fails_the_whole_call(make_skill: MakeSkill, tmp_path: Path) -> None:
    with pytest.raises(SkillError, match=r"SKILL\.md not found"):
        to_prompt([make_skill("name: a\ndescription: d"), tmp_path])
