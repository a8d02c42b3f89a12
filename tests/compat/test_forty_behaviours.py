"""The forty things that the reference library's own tests check, one test of ours for each.

They are written from the list of behaviours, so that they run without a checkout of that library; where one is at
hand, `test_reference_tests.py` runs the originals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.compat.skills_ref import to_prompt
from prowess.compat.skills_ref.parser import (
    ParseError,
    ValidationError,
    find_skill_md,
    parse_frontmatter,
    read_properties,
)
from prowess.compat.skills_ref.validator import validate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    MakeSkill = Callable[..., Path]

pytestmark = pytest.mark.proves("tooling.api.upstream-tests")

FIELDS = "name: my-skill\ndescription: A test skill"


# ── parser: fifteen ──────────────────────────────────────────────────────────────────────────────────────────


def test_front_matter_gives_its_fields_and_the_body() -> None:
    fields, body = parse_frontmatter(f"---\n{FIELDS}\n---\n# My Skill\n\nDo it.\n")
    assert fields == {"name": "my-skill", "description": "A test skill"}
    assert body == "# My Skill\n\nDo it."


def test_a_text_without_front_matter_is_refused() -> None:
    with pytest.raises(ParseError, match="must start with YAML frontmatter"):
        parse_frontmatter("# Only a heading\n")


def test_front_matter_without_an_end_is_refused() -> None:
    with pytest.raises(ParseError, match="not properly closed"):
        parse_frontmatter(f"---\n{FIELDS}\n")


def test_an_unclosed_flow_list_is_invalid_yaml() -> None:
    with pytest.raises(ParseError, match="Invalid YAML"):
        parse_frontmatter("---\nname: [open\n---\nBody\n")


def test_a_list_is_no_mapping() -> None:
    with pytest.raises(ParseError, match="must be a YAML mapping"):
        parse_frontmatter("---\n- one\n- two\n---\nBody\n")


def test_properties_are_read_from_a_directory(make_skill: MakeSkill) -> None:
    properties = read_properties(make_skill(f"{FIELDS}\nlicense: MIT"))
    assert (properties.name, properties.description, properties.license) == ("my-skill", "A test skill", "MIT")


def test_an_unquoted_version_in_metadata_stays_text(make_skill: MakeSkill) -> None:
    properties = read_properties(make_skill(f"{FIELDS}\nmetadata:\n  author: someone\n  version: 1.0"))
    assert properties.metadata == {"author": "someone", "version": "1.0"}


def test_reading_a_directory_without_the_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match=r"SKILL\.md not found"):
        read_properties(tmp_path)


def test_reading_without_a_name_fails(make_skill: MakeSkill) -> None:
    with pytest.raises(ValidationError, match=r"Missing required field.*name"):
        read_properties(make_skill("description: A test skill"))


def test_reading_without_a_description_fails(make_skill: MakeSkill) -> None:
    with pytest.raises(ValidationError, match=r"Missing required field.*description"):
        read_properties(make_skill("name: my-skill"))


def test_the_upper_case_file_wins(make_skill: MakeSkill) -> None:
    make_skill(FIELDS, file="skill.md")
    directory = make_skill(FIELDS)
    assert find_skill_md(directory) == directory / "SKILL.md"


def test_the_lower_case_file_is_found(make_skill: MakeSkill) -> None:
    found = find_skill_md(make_skill(FIELDS, file="skill.md"))
    assert found is not None
    assert found.name.lower() == "skill.md"


def test_an_empty_directory_has_no_skill_file(tmp_path: Path) -> None:
    assert find_skill_md(tmp_path) is None


def test_properties_are_read_from_the_lower_case_file(make_skill: MakeSkill) -> None:
    assert read_properties(make_skill(FIELDS, file="skill.md")).name == "my-skill"


def test_allowed_tools_stay_as_written_and_get_their_own_key_back(make_skill: MakeSkill) -> None:
    properties = read_properties(make_skill(f"{FIELDS}\nallowed-tools: Bash(jq:*) Bash(git:*)"))
    assert properties.allowed_tools == "Bash(jq:*) Bash(git:*)"
    assert properties.to_dict()["allowed-tools"] == "Bash(jq:*) Bash(git:*)"


# ── prompt: four ─────────────────────────────────────────────────────────────────────────────────────────────


def test_no_skills_give_both_tags() -> None:
    assert to_prompt([]) == "<available_skills>\n</available_skills>"


def test_one_skill_has_its_name_description_and_location(make_skill: MakeSkill) -> None:
    block = to_prompt([make_skill(FIELDS)])
    assert "<name>\nmy-skill\n</name>" in block
    assert "<description>\nA test skill\n</description>" in block
    assert "SKILL.md\n</location>" in block


def test_two_skills_give_two_elements(make_skill: MakeSkill) -> None:
    first = make_skill("name: skill-a\ndescription: First", directory="skill-a")
    second = make_skill("name: skill-b\ndescription: Second", directory="skill-b")
    block = to_prompt([first, second])
    assert block.count("<skill>") == block.count("</skill>") == 2


def test_angle_brackets_and_ampersands_are_escaped(make_skill: MakeSkill) -> None:
    block = to_prompt([make_skill("name: my-skill\ndescription: Use <b> & </b>")])
    assert "Use &lt;b&gt; &amp; &lt;/b&gt;" in block


# ── validator: twenty-one ────────────────────────────────────────────────────────────────────────────────────


def test_a_valid_skill_has_no_messages(make_skill: MakeSkill) -> None:
    assert validate(make_skill(FIELDS)) == []


def test_a_path_that_does_not_exist_is_one_message(tmp_path: Path) -> None:
    assert validate(tmp_path / "absent") == [f"Path does not exist: {tmp_path / 'absent'}"]


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    file = tmp_path / "file.txt"
    file.touch()
    assert validate(file) == [f"Not a directory: {file}"]


def test_a_directory_without_the_file_is_one_message(tmp_path: Path) -> None:
    assert validate(tmp_path) == ["Missing required file: SKILL.md"]


def test_an_upper_case_name_is_refused(make_skill: MakeSkill) -> None:
    directory = make_skill("name: MySkill\ndescription: d", directory="MySkill")
    assert validate(directory) == ["Skill name 'MySkill' must be lowercase"]


def test_a_name_of_seventy_characters_is_refused(make_skill: MakeSkill) -> None:
    name = "a" * 70
    directory = make_skill(f"name: {name}\ndescription: d", directory=name)
    assert validate(directory) == [f"Skill name '{name}' exceeds 64 character limit (70 chars)"]


def test_a_leading_hyphen_is_refused(make_skill: MakeSkill) -> None:
    directory = make_skill("name: -my-skill\ndescription: d", directory="-my-skill")
    assert validate(directory) == ["Skill name cannot start or end with a hyphen"]


def test_consecutive_hyphens_are_refused(make_skill: MakeSkill) -> None:
    directory = make_skill("name: my--skill\ndescription: d", directory="my--skill")
    assert validate(directory) == ["Skill name cannot contain consecutive hyphens"]


def test_an_underscore_is_an_invalid_character(make_skill: MakeSkill) -> None:
    directory = make_skill("name: my_skill\ndescription: d", directory="my_skill")
    assert validate(directory) == [
        "Skill name 'my_skill' contains invalid characters. Only letters, digits, and hyphens are allowed."
    ]


def test_another_directory_name_is_a_mismatch(make_skill: MakeSkill) -> None:
    directory = make_skill("name: right\ndescription: d", directory="wrong")
    assert validate(directory) == ["Directory name 'wrong' must match skill name 'right'"]


def test_an_unknown_field_is_refused(make_skill: MakeSkill) -> None:
    assert validate(make_skill(f"{FIELDS}\nunknown: x")) == [
        (
            "Unexpected fields in frontmatter: unknown. "
            "Only ['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name'] are allowed."
        )
    ]


def test_all_fields_together_are_valid(make_skill: MakeSkill) -> None:
    assert validate(make_skill(f"{FIELDS}\nlicense: MIT\nmetadata:\n  author: someone")) == []


def test_allowed_tools_are_accepted(make_skill: MakeSkill) -> None:
    assert validate(make_skill(f"{FIELDS}\nallowed-tools: Bash(jq:*) Bash(git:*)")) == []


def test_a_chinese_name_is_valid(make_skill: MakeSkill) -> None:
    assert validate(make_skill("name: 技能\ndescription: d", directory="技能")) == []


def test_a_russian_name_with_a_hyphen_is_valid(make_skill: MakeSkill) -> None:
    assert validate(make_skill("name: мой-навык\ndescription: d", directory="мой-навык")) == []


def test_a_russian_lower_case_name_is_valid(make_skill: MakeSkill) -> None:
    assert validate(make_skill("name: навык\ndescription: d", directory="навык")) == []


def test_a_russian_upper_case_name_is_refused(make_skill: MakeSkill) -> None:
    directory = make_skill("name: НАВЫК\ndescription: d", directory="НАВЫК")
    assert validate(directory) == ["Skill name 'НАВЫК' must be lowercase"]


def test_a_description_of_eleven_hundred_characters_is_refused(make_skill: MakeSkill) -> None:
    directory = make_skill(f"name: my-skill\ndescription: {'x' * 1100}")
    assert validate(directory) == ["Description exceeds 1024 character limit (1100 chars)"]


def test_a_compatibility_text_is_valid(make_skill: MakeSkill) -> None:
    assert validate(make_skill(f"{FIELDS}\ncompatibility: Requires Python 3.11+")) == []


def test_a_compatibility_text_of_550_characters_is_refused(make_skill: MakeSkill) -> None:
    directory = make_skill(f"{FIELDS}\ncompatibility: {'x' * 550}")
    assert validate(directory) == ["Compatibility exceeds 500 character limit (550 chars)"]


def test_a_decomposed_name_matches_a_composed_directory(make_skill: MakeSkill) -> None:
    assert validate(make_skill("name: cafe\u0301\ndescription: d", directory="caf\u00e9")) == []
