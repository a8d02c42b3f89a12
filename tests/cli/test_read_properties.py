from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from prowess.cli.dispatch import run

if TYPE_CHECKING:
    from pathlib import Path

    Capture = pytest.CaptureFixture[str]


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    folder = tmp_path / "my-skill"
    (folder / "scripts").mkdir(parents=True)
    (folder / "scripts" / "run.py").write_text("print()\n")
    (folder / "SKILL.md").write_text(
        "---\nname: my-skill\ndescription: |\n  naïve\nmetadata:\n  version: 1.0\n  tags:\n  - a\nallowed-tools: Read\n"
        "---\nBody\n",
        encoding="utf-8",
    )
    return folder


@pytest.mark.proves("tooling.skills-ref.read-properties", "tooling.skills-ref.names")
def test_the_properties_are_printed_as_the_reference_tool_prints_them(skill: Path, capsys: Capture) -> None:
    assert run(["read-properties", str(skill / "SKILL.md")]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out == (
        '{\n  "name": "my-skill",\n  "description": "na\\u00efve",\n  "allowed-tools": "Read",\n'
        '  "metadata": {\n    "version": "1.0",\n    "tags": "[\'a\']"\n  }\n}\n'
    )


@pytest.mark.proves("tooling.skills-ref.errors")
def test_a_failure_is_one_line_on_standard_error(tmp_path: Path, capsys: Capture) -> None:
    assert run(["read-properties", str(tmp_path)]) == 1
    assert capsys.readouterr() == ("", f"Error: SKILL.md not found in {tmp_path}\n")


def test_all_that_a_profile_reads_is_printed_on_request(skill: Path, capsys: Capture) -> None:
    assert run(["read-properties", "--profile", "lenient", "--json-full", str(skill)]) == 0
    everything = json.loads(capsys.readouterr().out)
    assert list(everything) == [
        "loads",
        "name",
        "description",
        "license",
        "compatibility",
        "allowed_tools",
        "metadata",
        "metadata_raw",
        "extended",
        "manifest",
        "body",
        "location",
        "digest",
        "diagnostics",
    ]
    assert everything["loads"] is True
    assert (everything["name"], everything["description"], everything["body"]) == ("my-skill", "naïve", "Body\n")
    assert (everything["license"], everything["allowed_tools"]) == (None, ["Read"])
    assert everything["metadata_raw"] == {"version": "1.0", "tags": ["a"]}
    assert everything["metadata"]["version"] == "1.0"
    assert everything["location"] == str(skill.resolve() / "SKILL.md")
    assert everything["digest"].startswith("sha256:")
    assert [found["rule"] for found in everything["diagnostics"]] == ["metadata.valueType"]


def test_a_skill_that_names_no_tools_is_told_apart_from_one_that_permits_none(skill: Path, capsys: Capture) -> None:
    for line, expected in (("license: MIT", None), ("allowed-tools:", [])):
        (skill / "SKILL.md").write_text(f"---\nname: my-skill\ndescription: d\n{line}\n---\n")
        assert run(["read-properties", "--profile", "lenient", "--json-full", str(skill)]) == 0
        assert json.loads(capsys.readouterr().out)["allowed_tools"] == expected


def test_a_skill_that_does_not_load_says_so_in_json(skill: Path, capsys: Capture) -> None:
    (skill / "SKILL.md").write_text("---\nname: my-skill\n---\n")
    assert run(["read-properties", "--profile", "lenient", "--json-full", str(skill)]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert list(answer) == ["loads", "diagnostics"]
    assert answer["loads"] is False
    assert [found["rule"] for found in answer["diagnostics"]] == ["description.required"]


def test_everything_without_a_profile_is_read_as_the_reference_reads(skill: Path, capsys: Capture) -> None:
    (skill / "SKILL.md").write_text("---\nname: my-skill\ndescription: d\nlicense: [MIT]\n---\n")
    assert run(["read-properties", "--json-full", str(skill)]) == 1
    [found] = json.loads(capsys.readouterr().out)["diagnostics"]
    assert found["message"].startswith("Invalid YAML in frontmatter: ")


def test_a_profile_alone_gives_the_six_fields_as_it_reads_them(skill: Path, capsys: Capture) -> None:
    (skill / "SKILL.md").write_text("---\nname: other\ndescription: a: b\nextra: x\nallowed-tools: [Read]\n---\n")
    assert run(["read-properties", "--profile", "lenient", str(skill)]) == 0
    assert json.loads(capsys.readouterr().out) == {"name": "other", "description": "a: b", "allowed-tools": ["Read"]}
    assert run(["read-properties", "--profile", "spec", str(skill)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Error: ")


def test_a_wrong_profile_is_a_usage_error(skill: Path, capsys: Capture) -> None:
    assert run(["read-properties", "--profile", "speck", str(skill)]) == 2
    assert capsys.readouterr().err.startswith("Usage: ")
