from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from prowess.cli.dispatch import run
from prowess.compat.skills_ref import to_prompt

if TYPE_CHECKING:
    from pathlib import Path

    Capture = pytest.CaptureFixture[str]


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    folder = tmp_path / "R&D <x>"
    folder.mkdir()
    (folder / "SKILL.md").write_text('---\nname: a\ndescription: "<skill> & \\a bell"\n---\nThe body\n')
    return folder


@pytest.mark.proves("tooling.skills-ref.to-prompt", "tooling.skills-ref.names")
def test_the_block_is_that_of_the_library_with_a_line_break(skill: Path, capsys: Capture) -> None:
    assert run(["to-prompt", str(skill), str(skill / "SKILL.md")]) == 0
    assert capsys.readouterr() == (to_prompt([skill, skill]) + "\n", "")


@pytest.mark.proves("tooling.skills-ref.errors")
@pytest.mark.parametrize("form", ["skills-ref", "xml"])
def test_one_unreadable_skill_prints_nothing_but_the_reason(
    skill: Path, tmp_path: Path, capsys: Capture, form: str
) -> None:
    assert run(["to-prompt", "--form", form, str(skill), str(tmp_path)]) == 1
    assert capsys.readouterr() == ("", f"Error: SKILL.md not found in {tmp_path.resolve()}\n")


def test_the_form_xml_is_well_formed_whatever_the_skill_says(skill: Path, capsys: Capture) -> None:
    assert run(["to-prompt", "--form", "xml", str(skill)]) == 0
    root = ET.fromstring(capsys.readouterr().out)  # noqa: S314 -- our own output
    assert root.tag == "available_skills"
    assert [(element.tag, element.text) for element in root[0]] == [
        ("name", "a"),
        ("description", "<skill> & \ufffd bell"),
        ("location", f"{skill.resolve()}/SKILL.md"),
    ]
