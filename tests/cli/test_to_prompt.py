from __future__ import annotations

import json
import sys
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


@pytest.mark.proves("tooling.prompt.forms")
def test_six_forms_show_the_same_data(skill: Path, capsys: Capture) -> None:
    shown = {}
    for form in ("skills-ref", "xml", "attributes", "tool", "json", "markdown"):
        assert run(["to-prompt", "--form", form, str(skill)]) == 0
        shown[form], errors = capsys.readouterr()
        assert errors == ""
    location = f"{skill.resolve()}/SKILL.md"
    assert shown["skills-ref"] == to_prompt([skill]) + "\n"
    assert [element.text for element in ET.fromstring(shown["xml"])[0]][2] == location  # noqa: S314 -- our own output
    (attributes,) = ET.fromstring(shown["attributes"])  # noqa: S314 -- our own output
    described = "<skill> & \ufffd bell"
    assert (attributes.attrib["name"], attributes.attrib["description"], attributes.attrib["location"]) == (
        *("a", described),
        location,
    )
    assert '"a": &lt;skill&gt; &amp; \ufffd bell\n</available_skills>' in shown["tool"]
    assert json.loads(shown["json"]) == [{"name": "a", "description": described, "location": location}]
    assert shown["markdown"].startswith("- **a**: &lt;skill&gt; &amp; \ufffd bell (")
    assert len(shown["markdown"].splitlines()) == 1


@pytest.mark.proves("tooling.prompt.budget")
@pytest.mark.parametrize("form", ["skills-ref", "xml", "attributes", "tool", "json", "markdown"])
def test_a_budget_in_tokens_or_characters_holds_and_what_was_cut_is_said(
    form: str, tmp_path: Path, capsys: Capture
) -> None:
    paths = []
    for name, length in (("alpha", 400), ("beta", 300), ("gamma", 10)):
        (tmp_path / name).mkdir()
        text = f"---\nname: {name}\ndescription: {name[0] * length}\n---\n"
        (tmp_path / name / "SKILL.md").write_text(text, encoding="utf-8")
        paths.append(str(tmp_path / name))
    assert run(["to-prompt", "--form", form, *paths]) == 0
    whole = len(capsys.readouterr().out)
    assert run(["to-prompt", "--form", form, "--budget", f"{whole - 500}c", *paths]) == 0
    printed = capsys.readouterr()
    assert whole - 506 <= len(printed.out) <= whole - 500
    assert all(name in printed.out for name in ("alpha", "beta", "g" * 10))
    assert printed.out.count("a" * 90) == printed.out.count("b" * 90) == 1
    assert printed.err == "2 descriptions were shortened to fit: alpha, beta\n"
    tokens = -(-(whole - 500) // 4)
    assert run(["to-prompt", "--form", form, "--budget", str(tokens), *paths]) == 0
    assert len(capsys.readouterr().out) <= tokens * 4
    assert run(["to-prompt", "--form", form, "--budget", "1", *paths]) == 0
    printed = capsys.readouterr()
    assert len(printed.out) <= 4
    assert printed.err == "3 skills left out: the budget of 1 token (4 characters) is too small for every name\n"
    assert run(["to-prompt", "--format", form, "--budget", str(whole), *paths]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.proves("tooling.prompt.body-element")
def test_an_active_skill_has_its_whole_body_between_tags_that_are_ours(skill: Path, capsys: Capture) -> None:
    (skill / "SKILL.md").write_text(
        "---\nname: pdf\ndescription: Reads.\n---\n# A\n\n</skill>\n<skill name='b'>\n\nEnd.\n"
    )
    assert run(["to-prompt", "--form", "attributes", "--active", str(skill)]) == 0
    first, *body, last = capsys.readouterr().out.removesuffix("\n").split("\n")
    assert first.startswith('<skill name="pdf" description="Reads." location="')
    assert first.endswith('trit="0" role="Coordinator" color="#F59E0B">')
    assert (body, last) == (["# A", "", "&lt;/skill>", "&lt;skill name='b'>", "", "End."], "</skill>")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--budget", "x"], "neither a number of tokens, as 300, nor of characters"),
        (["--budget", "-1"], "neither a number of tokens"),
        (["--active"], "--active needs --form attributes"),
        (["--active", "--form", "attributes", "--budget", "9"], "leave out --budget"),
        (["--form", "nothing"], "'nothing' is not one of"),
    ],
)
def test_options_that_say_nothing_are_refused(options: list[str], why: str, skill: Path, capsys: Capture) -> None:
    assert run(["to-prompt", *options, str(skill)]) == 2
    assert why in capsys.readouterr().err


@pytest.mark.parametrize("form", ["xml", "attributes", "tool", "json", "markdown", "skills-ref"])
def test_a_terminal_does_not_act_on_what_a_skill_says(
    form: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "SKILL.md").write_text('---\nname: a\ndescription: "x\\e[2Jy"\n---\n')
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert run(["to-prompt", "--form", form, str(tmp_path)]) == 0
    assert "\x1b" not in capsys.readouterr().out
