from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.compat.skills_ref import ParseError, ValidationError
from prowess.compat.skills_ref.parser import find_skill_md, parse_frontmatter, read_properties

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    MakeSkill = Callable[..., Path]

FIELDS = "name: my-skill\ndescription: A test skill"


@pytest.mark.proves("tooling.api.find-skill-md")
def test_the_skill_file_is_the_upper_case_one_else_the_lower_case_one_else_none(tmp_path: Path) -> None:
    assert find_skill_md(tmp_path) is None
    (tmp_path / "skill.md").touch()
    assert find_skill_md(tmp_path) == tmp_path / "skill.md"
    (tmp_path / "SKILL.md").touch()
    assert find_skill_md(tmp_path) == tmp_path / "SKILL.md"


def test_no_other_casing_is_a_skill_file(tmp_path: Path) -> None:
    (tmp_path / "Skill.md").touch()
    found = find_skill_md(tmp_path)
    assert found is None or found.samefile(tmp_path / "Skill.md")  # a file system may fold case


@pytest.mark.proves("tooling.api.parse-frontmatter")
def test_the_body_is_trimmed_and_every_scalar_is_text() -> None:
    fields, body = parse_frontmatter("---\nversion: 1.10\nflag: yes\nnothing:\nnull: ~\n---\n\n\n  Body\n\n")
    assert fields == {"version": "1.10", "flag": "yes", "nothing": "", "null": "~"}
    assert body == "Body"


@pytest.mark.proves("tooling.api.parse-frontmatter")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "SKILL.md must start with YAML frontmatter (---)"),
        ("\n---\nname: a\n---\n", "SKILL.md must start with YAML frontmatter (---)"),
        ("---\nname: a\n", "SKILL.md frontmatter not properly closed with ---"),
        ("---\n---\n", "SKILL.md frontmatter must be a YAML mapping"),
        ("---\n\n# only a comment\n---\n", "SKILL.md frontmatter must be a YAML mapping"),
        ("---\njust text\n---\n", "SKILL.md frontmatter must be a YAML mapping"),
    ],
)
def test_front_matter_that_cannot_be_read_has_the_reference_message(text: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_frontmatter(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "line",
    [
        "x: [a, b]",
        "x: {}",
        "x: &anchor y",
        "x: *alias",
        "x: !!str y",
        "x: !own y",
        "x: 1\nx: 2",
        "m:\n  k: 1\n  k: 2",
        "<<: y",
        "x: a: b",
        "x: 'a' b",
        "x:\n\t- y",
        "x: @at",
        'x: "open',
        "m:\n  k: v\nn:\n    k: v",
        "m:\n  a:\n    k: v\n  b:\n      k: v",
    ],
)
def test_what_the_reference_calls_invalid_yaml_is_invalid_yaml_here(line: str) -> None:
    with pytest.raises(ParseError, match=r"^Invalid YAML in frontmatter: \S"):
        parse_frontmatter(f"---\n{FIELDS}\n{line}\n---\nBody\n")


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("x:\n- a\n- b", ["a", "b"]),
        ("x:\n  - a\n  - k: v", ["a", {"k": "v"}]),
        ("x: |\n  one\n  two", "one\ntwo\n"),
        ("x: >-\n  one\n  two", "one two"),
        ("x:\n  one\n  two", "one two"),
        ("x: 'it''s'", "it's"),
        ('x: "a\\tb"', "a\tb"),
        ("x: a # comment", "a"),
        ("x: '{}'", "{}"),
        ("x: 2026-01-02", "2026-01-02"),
    ],
)
def test_what_the_reference_accepts_reads_alike(line: str, value: object) -> None:
    fields, _ = parse_frontmatter(f"---\n{line}\n---\n")
    assert fields == {"x": value}


def test_metadata_values_become_texts_as_the_reference_writes_them() -> None:
    fields, _ = parse_frontmatter("---\nmetadata:\n  k: 1.0\n  list:\n  - a\n  map:\n    x: y\n---\n")
    assert fields["metadata"] == {"k": "1.0", "list": "['a']", "map": "{'x': 'y'}"}


def test_dashes_inside_a_value_do_not_end_the_front_matter() -> None:
    fields, body = parse_frontmatter("---\nname: a\ndescription: one --- two\nlicense: MIT\n---\nB\n")
    assert fields == {"name": "a", "description": "one --- two", "license": "MIT"}
    assert body == "B"


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_end_reads_alike(line_end: str) -> None:
    text = "---\nname: a\ndescription: >\n  one\n  two\n---\nB\n".replace("\n", line_end)
    assert parse_frontmatter(text) == ({"name": "a", "description": "one two\n"}, "B")


@pytest.mark.proves("tooling.api.read-properties")
@pytest.mark.parametrize("kind", [str, lambda path: path])
def test_properties_are_attributes_whether_the_path_is_text_or_path(
    make_skill: MakeSkill, kind: Callable[[Path], Path]
) -> None:
    directory = make_skill(f"{FIELDS}\nlicense: MIT\ncompatibility: Linux\nallowed-tools: Read\nmetadata:\n  k: v")
    properties = read_properties(kind(directory))
    assert (properties.name, properties.description) == ("my-skill", "A test skill")
    assert (properties.license, properties.compatibility, properties.allowed_tools) == ("MIT", "Linux", "Read")
    assert properties.metadata == {"k": "v"}


@pytest.mark.proves("tooling.api.read-properties-values")
def test_name_and_description_are_trimmed_and_the_rest_is_as_written(make_skill: MakeSkill) -> None:
    properties = read_properties(
        make_skill("name: ' cafe\u0301 '\ndescription: |\n  text\nlicense: |\n  MIT\nallowed-tools: ' Read,  Bash'")
    )
    assert properties.name == "cafe\u0301"
    assert properties.description == "text"
    assert properties.license == "MIT\n"
    assert properties.allowed_tools == " Read,  Bash"
    assert properties.compatibility is None
    assert properties.metadata is None


@pytest.mark.proves("tooling.api.read-properties-values")
def test_lists_pass_through_and_empty_values_are_empty_texts(make_skill: MakeSkill) -> None:
    properties = read_properties(make_skill(f"{FIELDS}\nallowed-tools:\n- Read\n- Bash\nlicense:\nmetadata: text"))
    assert properties.to_dict() == {
        "name": "my-skill",
        "description": "A test skill",
        "license": "",
        "allowed-tools": ["Read", "Bash"],
        "metadata": "text",
    }


@pytest.mark.proves("tooling.skills-ref.read-properties-lax")
def test_reading_is_no_check_beyond_name_and_description(make_skill: MakeSkill) -> None:
    directory = make_skill(f"name: Not_Valid--\ndescription: {'x' * 2000}\nunknown: y", directory="other")
    assert read_properties(directory).name == "Not_Valid--"


@pytest.mark.proves("tooling.skills-ref.read-properties-lax")
@pytest.mark.parametrize(
    ("front_matter", "message"),
    [
        ("description: d", "Missing required field in frontmatter: name"),
        ("name: a", "Missing required field in frontmatter: description"),
        ("license: MIT", "Missing required field in frontmatter: name"),
        ("name:\ndescription: d", "Field 'name' must be a non-empty string"),
        ("name: '  '\ndescription: d", "Field 'name' must be a non-empty string"),
        ("name:\n- a\ndescription: d", "Field 'name' must be a non-empty string"),
        ("name: a\ndescription:", "Field 'description' must be a non-empty string"),
        ("name: a\ndescription:\n  k: v", "Field 'description' must be a non-empty string"),
    ],
)
def test_a_missing_or_empty_property_is_a_validation_error(
    make_skill: MakeSkill, front_matter: str, message: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        read_properties(make_skill(front_matter))
    assert caught.value.errors == [message]


def test_a_skill_file_that_is_a_link_is_refused_as_it_is_everywhere_in_prowess(
    make_skill: MakeSkill, tmp_path: Path
) -> None:
    target = make_skill(FIELDS)
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "SKILL.md").symlink_to(target / "SKILL.md")
    with pytest.raises(ParseError):
        read_properties(linked)


def test_the_real_parent_is_read_where_a_path_goes_through_a_link(make_skill: MakeSkill, tmp_path: Path) -> None:
    directory = make_skill(FIELDS)
    (directory / "scripts").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "link").symlink_to(directory / "scripts")
    assert read_properties(tmp_path / "elsewhere" / "link" / "..").name == "my-skill"


@pytest.mark.parametrize(
    "text", ["--- \nname: a\ndescription: b\n---\n", "---\nname: a\ndescription: b\n---\t\nBody\n"]
)
def test_a_doubtful_fence_is_no_fault_to_the_reference(text: str) -> None:
    assert parse_frontmatter(text)[0] == {"name": "a", "description": "b"}
