from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from prowess.diagnostics import Severity
from prowess.format import PROFILES, RULES, parse_document, read_document, validate_skill
from prowess.format.parsing import parse_source
from prowess.format.skill import frontmatter_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.diagnostics import Diagnostic, Fix

_CASES = Path(__file__).parents[1] / "conformance"


def found(front: str, *, body: str = "", directory: str | None = None, profile: str = "spec") -> list[Diagnostic]:
    document = parse_source(f"---\n{front}---\n{body}", path="SKILL.md", directory=directory)
    return validate_skill(document, profile=profile)


def fix_of(front: str, rule: str, directory: str | None = None) -> Fix | None:
    return next(one for one in found(front, directory=directory) if one.rule == rule).fix


def _texts() -> list[Any]:
    texts = []
    for name in ("format-cases.json", "format-cases-more.json"):
        for case in json.loads((_CASES / name).read_text(encoding="utf-8"))["cases"]:
            content = case["files"].get("SKILL.md")
            if isinstance(content, dict):
                content = base64.b64decode(content["base64"]).decode("utf-8", "replace")
            if case["id"] == "k2-two-boms":
                continue  # the fix removes one; the other is a fault of its own
            if content is not None and "\r" not in content and not set(content) & set("\x85\u2028\u2029\x07"):
                texts.append(pytest.param(content, case["dir"], id=case["id"]))
    return texts


@pytest.mark.parametrize(("text", "directory"), _texts())
def test_a_fix_removes_its_fault_and_brings_no_other(
    text: str, directory: str, applied: Callable[[str, Fix], str]
) -> None:
    before = validate_skill(parse_source(text, path="S", directory=f"/skills/{directory}"))
    for fault in before:
        if fault.fix is None:
            continue
        mended = applied(text, fault.fix)
        after = validate_skill(parse_source(mended, path="S", directory=f"/skills/{directory}"))
        remaining = [one.rule for one in after]
        assert remaining.count(fault.rule) == [one.rule for one in before].count(fault.rule) - 1, mended
        hidden = fault.rule in {"frontmatter.syntax", "frontmatter.notFirst"}  # its mending lets more be judged
        assert hidden or set(remaining) <= {one.rule for one in before}, mended


@pytest.mark.parametrize(
    ("front", "mended"),
    [
        ("version: 1 # c\nname: a\n", "metadata:\n  version: 1 # c\nname: a\n"),
        ("metadata:\n    k: v # c\nversion: 'x'\nname: a\n", "metadata:\n    k: v # c\n    version: 'x'\nname: a\n"),
        ("version: >-\n  a\n  b: c\nmetadata:\n", 'metadata:\n  version: "a b: c"\n'),
        (
            "version: a\n  b\nmetadata:\n  k:\n    l: m\n\nname: a\n",
            'metadata:\n  k:\n    l: m\n  version: "a b"\n\nname: a\n',
        ),
        ("version:\nname: a\n", "metadata:\n  version:\nname: a\n"),
    ],
)
@pytest.mark.proves("format.fields.unknown-fix")
def test_an_unknown_field_moves_under_metadata_whole(
    front: str, mended: str, applied: Callable[[str, Fix], str]
) -> None:
    fix = fix_of(front, "frontmatter.unknownField")
    assert fix is not None
    assert applied(f"---\n{front}---\n", fix) == f"---\n{mended}---\n"


@pytest.mark.parametrize(
    "front",
    [
        "version: [1]\n", "version: 1\nmetadata: {a: b}\n", "version: 1\nmetadata:\n  version: 2\n", "[a]: b\n",
        "  version: 1\n", "version: 1\nmetadata: x\n", "version: a: b\n",
    ],
)  # fmt: skip
def test_an_unknown_field_stays_where_moving_is_not_obvious(front: str) -> None:
    assert fix_of(front, "frontmatter.unknownField") is None


@pytest.mark.parametrize("field", ["argument-hint", "model", "when_to_use"])
def test_a_field_of_a_host_is_not_sent_under_metadata_without_naming_its_profile(field: str) -> None:
    (one,) = found(f"name: a\ndescription: d\n{field}: x\n")
    assert one.message == (
        f"unknown field {field!r}; some hosts know it (--profile claude-code); for all others, move it under metadata"
    )


@pytest.mark.proves("format.fields.case")
def test_a_misspelt_field_is_recognised(applied: Callable[[str, Fix], str]) -> None:
    front = "name: a\ndescription: d\nAllowed_Tools: Read\n"
    fix = fix_of(front, "frontmatter.unknownField")
    assert fix is not None
    assert "allowed-tools: Read" in applied(f"---\n{front}---\n", fix)
    assert fix_of("Name: b\nname: a\n", "frontmatter.unknownField") is None
    for profile in PROFILES:
        rules = [one.rule for one in found("Name: a\nDescription: d\n", profile=profile)]
        assert sorted(rules) == [
            "description.required", "frontmatter.unknownField", "frontmatter.unknownField", "name.required"
        ] or (profile, rules.count("frontmatter.unknownField")) == ("skills-ref", 1), profile  # fmt: skip


def test_a_name_can_be_taken_from_the_directory(applied: Callable[[str, Fix], str]) -> None:
    fix = fix_of("description: d\n", "name.required", "/x/my-skill")
    assert fix is not None
    assert applied("---\ndescription: d\n---\n", fix) == "---\nname: my-skill\ndescription: d\n---\n"
    assert fix_of("description: d\n", "name.required", "/x/My Skill") is None
    assert fix_of("description: d\n", "name.required") is None
    rename = fix_of("name: a\n", "name.matchesDirectory", "/x/b")
    assert rename is not None
    assert rename.safety == "unsafe"
    assert fix_of("name: a\n", "name.matchesDirectory", "/x/B") is None


@pytest.mark.proves("format.allowed-tools.type")
def test_a_list_of_tools_is_written_as_a_text(applied: Callable[[str, Fix], str]) -> None:
    front = "allowed-tools:\n  - Read\n  - Bash(git:*)\nname: a\n"
    for wrong in (front, "allowed-tools: {a: b}\nname: a\n"):
        assert [(one.rule, one.severity) for one in found(f"{wrong}description: d\n")] == [
            ("allowed-tools.type", Severity.ERROR)
        ]
    fix = fix_of(front, "allowed-tools.type")
    assert fix is not None
    assert applied(f"---\n{front}---\n", fix) == "---\nallowed-tools: Read Bash(git:*)\nname: a\n---\n"
    assert fix_of("allowed-tools: [Bash(]\n", "allowed-tools.type") is None
    assert fix_of("allowed-tools: {a: b}\n", "allowed-tools.type") is None


def test_a_fault_in_a_list_of_tools_is_found_in_its_item() -> None:
    fault = next(one for one in found("allowed-tools:\n  - Read\n  - 'Bash(x'\n") if one.rule == "allowed-tools.syntax")
    assert (fault.location.line, fault.location.column) == (4, 10)


def test_a_fault_in_a_folded_text_is_found_at_its_start() -> None:
    fault = next(one for one in found("allowed-tools: >-\n  Read\n  Bash(x\n") if one.rule == "allowed-tools.syntax")
    assert (fault.location.line, fault.location.column) == (2, 16)


@pytest.mark.proves("format.name.format")
def test_the_place_of_a_character_is_that_in_the_file() -> None:
    def column(front: str) -> int:
        return next(one for one in found(front) if one.rule == "name.format").location.column

    assert column("name: code_review\n") == 11
    assert column("name: ' code_review'\n") == 13
    assert column("name: ｃode_review\n") == 7


@pytest.mark.proves("format.name.directory-comparison", "format.name.directory")
def test_the_directory_is_compared_after_nfkc_and_with_case() -> None:
    same = found("name: café\ndescription: d\n", directory="/x/cafe\u0301")
    assert [one.rule for one in same] == ["name.ascii"]
    for profile in PROFILES:
        for directory in ("/x/A", "/x/b"):
            different = found("name: a\ndescription: d\n", directory=directory, profile=profile)
            severity = Severity.WARNING if profile == "lenient" else Severity.ERROR
            assert [(one.rule, one.severity) for one in different] == [("name.matchesDirectory", severity)], profile
        assert found("name: a\ndescription: d\n", directory="/x/a", profile=profile) == []


@pytest.mark.proves("format.repair.strict-first")
def test_a_value_that_had_to_be_mended_is_judged_only_where_it_is_used() -> None:
    front = "name: A: b\ndescription: d: " + "x" * 1100 + "\n"
    assert [one.rule for one in found(front)] == ["frontmatter.syntax"] * 2
    assert {one.rule for one in found(front, profile="lenient")} >= {"name.format", "description.maxLength"}
    assert {one.severity for one in found(front, profile="lenient")} == {"warning"}


@pytest.mark.proves("format.parse.accumulate")
def test_every_fault_is_reported_at_once_in_the_order_of_the_file() -> None:
    front = "own: 1\nname: A\ndescription: ''\nlicense: []\nmetadata: {a: [], ? [b] : c}\ncompatibility: ''\n"
    lines = [(one.location.line, one.rule) for one in found(front)]
    assert lines == [
        (2, "frontmatter.unknownField"),
        (3, "name.format"),
        (4, "description.required"),
        (5, "license.type"),
        (6, "metadata.valueType"),
        (6, "metadata.keyType"),
        (7, "compatibility.empty"),
    ]


def test_a_body_full_of_bad_links_gives_a_bounded_report() -> None:
    faults = found("name: a\ndescription: d\n", body="[x](/y) " * 500 + f"[x](/{'y' * 200})")
    assert len(faults) == 100


def test_a_link_that_is_not_written_in_place_is_shown_as_a_whole() -> None:
    fault = found("name: a\ndescription: d\n", body="See [a][b].\n\n[b]: </x y>\n")[0]
    assert (fault.location.line, fault.location.column, fault.location.end_column) == (5, 5, 11)


def test_placeholders_in_targets_are_left_alone() -> None:
    assert found("name: a\ndescription: d\n", body="[a](${SKILL_DIR}/x) [b]({{url}}/../..) [c](?q) [d]()") == []


def test_the_string_view_of_metadata_takes_the_first_of_two() -> None:
    front = frontmatter_of(parse_document("---\nmetadata: {a: b, a: c, ? [k] : {l: m}}\n---\n"))
    assert dict(front.metadata) == {"a": "b", "[k]": "{l: m}"}
    assert dict(front.metadata_raw) == {"a": "b", "[k]": {"l": "m"}}
    assert front.name == ""
    assert frontmatter_of(parse_document("---\n---\n"), name_hint="x").name == "x"


@pytest.mark.proves("format.profile.table", "format.rules.ids")
def test_every_profile_has_a_severity_or_none_for_every_rule() -> None:
    for profile in PROFILES.values():
        assert set(profile.severities) == set(RULES)
    validation = [
        "name.required", "name.type", "name.maxLength", "name.format", "name.matchesDirectory", "description.required",
        "description.type", "description.maxLength", "compatibility.type", "compatibility.maxLength", "metadata.type",
        "metadata.valueType", "license.type", "allowed-tools.type", "frontmatter.unknownField",
    ]  # fmt: skip
    assert set(validation) <= set(RULES)


def test_the_reference_tool_looks_at_nul_in_the_frontmatter_alone(tmp_path: Path) -> None:
    skill = tmp_path / "a"
    skill.mkdir()
    (skill / "SKILL.md").write_bytes(b"---\nname: a\ndescription: d\n---\n\0")
    assert validate_skill(read_document(skill), profile="skills-ref") == []
    (skill / "SKILL.md").write_bytes(b"---\nname: a\0\ndescription: d\n---\n")
    assert validate_skill(skill, profile="skills-ref")[0].message.startswith("Invalid YAML in frontmatter: line 2")


def test_the_reference_tool_names_a_path_that_is_not_there(tmp_path: Path) -> None:
    missing = tmp_path / "no"
    assert [one.message for one in validate_skill(missing, profile="skills-ref")] == [f"Path does not exist: {missing}"]
    missing.write_text("x")
    assert [one.message for one in validate_skill(missing, profile="skills-ref")] == [f"Not a directory: {missing}"]
