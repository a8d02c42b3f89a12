from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from prowess.compat.skills_ref import validate
from prowess.compat.skills_ref.validator import validate_metadata

if TYPE_CHECKING:
    from collections.abc import Callable

    MakeSkill = Callable[..., Path]

ONLY = "Only ['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name'] are allowed."
LETTERS = "Only letters, digits, and hyphens are allowed."

EMPTY_NAME, EMPTY_DESCRIPTION = (f"Field '{key}' must be a non-empty string" for key in ("name", "description"))
NO_NAME, NO_DESCRIPTION = (f"Missing required field in frontmatter: {key}" for key in ("name", "description"))


@pytest.mark.proves("tooling.api.validate")
@pytest.mark.parametrize("kind", [str, Path])
def test_a_valid_skill_gives_an_empty_list_whether_the_path_is_text_or_path(
    make_skill: MakeSkill, kind: Callable[[Path], Path]
) -> None:
    directory = make_skill("name: my-skill\ndescription: d")
    assert validate(kind(directory)) == []
    assert validate(kind(directory / "SKILL.md")) == [f"Not a directory: {directory / 'SKILL.md'}"]


@pytest.mark.proves("tooling.api.prechecks")
def test_what_stands_before_the_fields_is_one_message(tmp_path: Path, make_skill: MakeSkill) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert validate(tmp_path / "absent") == [f"Path does not exist: {tmp_path / 'absent'}"]
    assert validate(empty) == ["Missing required file: SKILL.md"]
    (empty / "SKILL.md").write_text("no front matter")
    assert validate(empty) == ["SKILL.md must start with YAML frontmatter (---)"]
    (empty / "SKILL.md").write_text("---\nname: a\n")
    assert validate(empty) == ["SKILL.md frontmatter not properly closed with ---"]
    [message] = validate(make_skill("name: my-skill\ndescription: a: b"))
    assert message.startswith("Invalid YAML in frontmatter: ")


@pytest.mark.proves("tooling.api.messages")
def test_all_faults_come_in_the_order_of_the_reference(make_skill: MakeSkill) -> None:
    name = "-Bad__" + "x" * 60 + "--"
    directory = make_skill(
        f"zeta: 1\nname: {name}\nalpha: 2\ndescription: {'y' * 1025}\ncompatibility: {'z' * 501}", directory="other"
    )
    assert validate(directory) == [
        f"Unexpected fields in frontmatter: alpha, zeta. {ONLY}",
        f"Skill name '{name}' exceeds 64 character limit (68 chars)",
        f"Skill name '{name}' must be lowercase",
        "Skill name cannot start or end with a hyphen",
        "Skill name cannot contain consecutive hyphens",
        f"Skill name '{name}' contains invalid characters. {LETTERS}",
        f"Directory name 'other' must match skill name '{name}'",
        "Description exceeds 1024 character limit (1025 chars)",
        "Compatibility exceeds 500 character limit (501 chars)",
    ]


@pytest.mark.proves("tooling.api.messages")
@pytest.mark.parametrize(
    ("front_matter", "messages"),
    [
        (
            "license: MIT",
            [NO_NAME, NO_DESCRIPTION],
        ),
        (
            "name:\ndescription: ''",
            [EMPTY_NAME, EMPTY_DESCRIPTION],
        ),
        (
            "name:\n- a\ndescription:\n  a: b",
            [EMPTY_NAME, EMPTY_DESCRIPTION],
        ),
        ("name: my-skill\ndescription: d\ncompatibility:\n- a", ["Field 'compatibility' must be a string"]),
        ("name: ｍy-skill\ndescription: d", []),
        ("name: ' my-skill '\ndescription: d", []),
        ("name: my-skill\ndescription: d\nName: x", [f"Unexpected fields in frontmatter: Name. {ONLY}"]),
    ],
)
def test_field_messages_equal_those_of_the_reference(
    make_skill: MakeSkill, front_matter: str, messages: list[str]
) -> None:
    assert validate(make_skill(front_matter)) == messages


def test_the_description_is_measured_with_its_last_line_break(make_skill: MakeSkill) -> None:
    directory = make_skill(f"name: my-skill\ndescription: >\n  {'x' * 1024}")
    assert validate(directory) == ["Description exceeds 1024 character limit (1025 chars)"]


@pytest.mark.parametrize(
    "line",
    ["license:\n- MIT", "metadata: text", "allowed-tools:\n- Read", "compatibility:", "metadata:\n  a:\n    b: c"],
)
def test_what_the_reference_does_not_check_is_not_reported(make_skill: MakeSkill, line: str) -> None:
    assert validate(make_skill(f"name: my-skill\ndescription: d\n{line}")) == []


@pytest.mark.parametrize("name", ["数据分析", "данные", "٣٤", "ﬁle", "ⅷ", "x²"])
def test_letters_and_digits_of_every_script_are_accepted(make_skill: MakeSkill, name: str) -> None:
    assert validate(make_skill(f"name: {name}\ndescription: d", directory=name)) == []


@pytest.mark.parametrize("name", ["हिन्दी", "a😀", "a\u00adb", "a\u2011b", "a b", "a.b"])
def test_marks_and_symbols_are_not(make_skill: MakeSkill, name: str) -> None:
    [message] = validate(make_skill(f"name: {name}\ndescription: d", directory=name))
    assert message.endswith(f"contains invalid characters. {LETTERS}")


def test_a_relative_path_is_resolved_before_its_name_is_compared(
    make_skill: MakeSkill, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = make_skill("name: my-skill\ndescription: d")
    (directory / "scripts").mkdir()
    monkeypatch.chdir(directory)
    assert validate(".") == []
    assert validate("./") == []
    assert validate("scripts/..") == []
    monkeypatch.chdir(directory / "scripts")
    assert validate("..") == []


def test_a_linked_directory_is_judged_by_the_name_of_the_link(make_skill: MakeSkill, tmp_path: Path) -> None:
    link = tmp_path / "linked"
    link.symlink_to(make_skill("name: my-skill\ndescription: d"))
    assert validate(link) == ["Directory name 'linked' must match skill name 'my-skill'"]


@pytest.mark.proves("tooling.api.validate-metadata")
def test_a_mapping_is_judged_by_the_same_rules() -> None:
    assert validate_metadata({"name": "a", "description": "d"}) == []
    assert validate_metadata({"name": "a", "description": "d"}, Path("/skills/a")) == []
    assert validate_metadata({"name": "a", "description": "d"}, Path("/skills/b")) == [
        "Directory name 'b' must match skill name 'a'"
    ]
    assert validate_metadata({"name": "A b", "x": "y", "compatibility": "c" * 501}) == [
        f"Unexpected fields in frontmatter: x. {ONLY}",
        "Skill name 'A b' must be lowercase",
        f"Skill name 'A b' contains invalid characters. {LETTERS}",
        NO_DESCRIPTION,
        "Compatibility exceeds 500 character limit (501 chars)",
    ]


@pytest.mark.proves("tooling.api.validate-metadata")
@pytest.mark.parametrize("value", [None, 5, 1.5, True, ["a"], {"a": "b"}, "", "  "])
def test_a_value_that_is_no_text_is_named(value: object) -> None:
    assert validate_metadata({"name": value, "description": value}) == [
        EMPTY_NAME,
        EMPTY_DESCRIPTION,
    ]


def test_values_that_yaml_could_not_hold_are_judged_too() -> None:
    assert validate_metadata({"name": "a", "description": "bell \x07 and \ud800", "metadata": {"k": 1}}) == []
    assert validate_metadata({"name": "a", "description": "d", "compatibility": 3}) == [
        "Field 'compatibility' must be a string"
    ]
