"""What each profile makes of the same text, and that it is data which decides."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from prowess.diagnostics import Severity
from prowess.errors import SkillParseError
from prowess.format import PROFILES, RULES, name_faults, parse_document, read_skill, validate_skill
from prowess.format.limits import (
    FIELDS,
    MAX_BODY_LINES,
    MAX_BODY_TOKENS,
    MAX_COMPATIBILITY_LENGTH,
    MAX_DESCRIPTION_LENGTH,
    MAX_NAME_LENGTH,
    MIN_NAME_LENGTH,
    NAME_PATTERN,
)
from prowess.format.rules.field_rules import field_findings
from prowess.format.source.scalars import type_beside_text
from prowess.lint import lint_skill
from prowess.rule_engine import Selection

if TYPE_CHECKING:
    from pathlib import Path

_BOXXY = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_SKILLSCRAFT = re.compile(r"[a-z0-9](?:[a-z0-9]|-(?=[a-z0-9])){0,62}[a-z0-9]?")
_NAMES = st.one_of(
    st.text(alphabet="ab9-", max_size=70),
    st.text(alphabet="aZ9-_ é\n", max_size=8),
    st.from_regex(_SKILLSCRAFT, fullmatch=True),
    st.from_regex(_BOXXY, fullmatch=True),
)
_LOADS = "---\nname: a\ndescription: d\n"


def severities(text: str, profile: str) -> dict[str, Severity]:
    return {found.rule: found.severity for found in validate_skill(parse_document(text), profile=profile)}


@pytest.mark.proves(
    "format.name.regex-000", "format.name.regex-001", "format.name.regex-equivalence", "format.name.regex-newline"
)
@given(_NAMES)
def test_ascii_profiles_accept_exactly_the_names_of_both_patterns(name: str) -> None:
    accepted = bool(name) and not name_faults(name, ascii_only=True)
    assert accepted is (1 <= len(name) <= 64 and _BOXXY.fullmatch(name) is not None)
    assert accepted is (_SKILLSCRAFT.fullmatch(name) is not None)


@pytest.mark.proves("format.name.regex-000", "format.name.regex-001")
@pytest.mark.parametrize(
    ("name", "valid"), [("a-b-2", True), ("a" * 64, True), ("a" * 65, False), ("café", False), ("a--b", False)]
)
@pytest.mark.parametrize("profile", ["boxxy", "skillscraft"])
def test_the_patterns_hold_in_the_profiles_of_ascii_names(profile: str, name: str, valid: bool) -> None:  # noqa: FBT001 -- a parameter of the table
    found = severities(f"---\nname: {name}\ndescription: d\n---\n", profile)
    assert ({"name.format", "name.maxLength"} & set(found) == set()) is valid


@pytest.mark.proves("format.metadata.written-strings", "format.metadata.untyped-values")
@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("1.0", "a number"),
        ("-3", "a number"),
        ("0x1F", "a number"),
        ("1_000", "a number"),
        ("6.02e23", "a number"),
        (".inf", "a number"),
        ("12:30:45", "a number"),
        ("true", "a boolean"),
        ("Off", "a boolean"),
        ("null", "nothing"),
        ("~", "nothing"),
        ("", "nothing"),
        ("2026-01-02", "a date"),
        ("2026-01-02T03:04:05Z", "a date"),
        ("1.2.3", None),
        ("v1.0", None),
        ("'1.0'", None),
        ('"yes"', None),
        ("one 1", None),
        ("٣", None),
    ],
)
def test_in_skillscraft_what_yaml_would_type_is_a_fault_and_the_fix_quotes_it(written: str, kind: str | None) -> None:
    text = f"{_LOADS}metadata:\n  version: {written}\n---\n"
    document = parse_document(text)
    assert validate_skill(document, profile="spec") == []
    found = validate_skill(document, profile="skillscraft")
    assert [(one.rule, one.severity) for one in found] == ([("metadata.valueType", Severity.ERROR)] if kind else [])
    for fault in found:
        assert str(kind) in fault.message
        assert fault.fix is not None
        (edit,) = fault.fix.edits
        lines = text.split("\n")
        line = lines[edit.line - 1]
        lines[edit.line - 1] = f"{line[: edit.column - 1]}{edit.text}{line[edit.end_column - 1 :]}"
        mended = parse_document("\n".join(lines))
        assert validate_skill(mended, profile="skillscraft") == []
        assert mended.mapping() == document.mapping()


@pytest.mark.proves("format.allowed-tools.list-profiles")
@pytest.mark.parametrize("profile", ["claude-code", "lenient"])
def test_a_list_of_tools_is_read_as_the_same_tokens(profile: str, tmp_path: Path) -> None:
    skill = tmp_path / "a"
    skill.mkdir()
    tokens = []
    for tools in ("[Read, 'Bash(git add *)']", "Read Bash(git add *)"):
        (skill / "SKILL.md").write_text(f"{_LOADS}allowed-tools: {tools}\n---\n")
        read = read_skill(skill, profile=profile).frontmatter.allowed_tools
        assert read is not None
        tokens.append([str(token) for token in read])
    assert tokens == [["Read", "Bash(git add *)"]] * 2
    assert "allowed-tools.type" not in severities(f"{_LOADS}allowed-tools: [Read]\n---\n", "claude-code")
    assert severities(f"{_LOADS}allowed-tools: {{a: b}}\n---\n", "claude-code")["allowed-tools.type"] == "error"


@pytest.mark.proves("format.fields.unknown-vendor")
def test_claude_code_knows_its_fields_and_reports_only_others() -> None:
    fields = "argument-hint: x\nuser-invocable: true\nmodel: m\ncontext: fork\nagent: x\nwhen_to_use: now\nversion: 1\n"
    found = validate_skill(parse_document(f"{_LOADS}{fields}---\n"), profile="claude-code")
    assert [(one.rule, one.location.line) for one in found] == [("frontmatter.unknownField", 10)]


@pytest.mark.proves("format.rules.severities")
def test_in_skillscraft_the_first_fourteen_of_its_rules_are_errors_and_the_last_a_warning() -> None:
    errors = [
        "name.required",
        "name.type",
        "name.maxLength",
        "name.format",
        "name.matchesDirectory",
        "description.required",
        "description.type",
        "description.maxLength",
        "compatibility.type",
        "compatibility.maxLength",
        "metadata.type",
        "metadata.valueType",
        "license.type",
        "allowed-tools.type",
    ]
    assert len(errors) == 14
    table = PROFILES["skillscraft"].severities
    assert {table[rule] for rule in errors} == {Severity.ERROR}
    assert table["frontmatter.unknownField"] is Severity.WARNING


@pytest.mark.proves("format.rules.hard-errors-000", "format.body.max-lines-boxxy", "format.body.line-count")
@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (None, "file.missing"),
        ("---\na: b: c\n---\n", "frontmatter.syntax"),
        ("---\ndescription: d\n---\n", "name.required"),
        ("---\nname: a\n---\n", "description.required"),
        ("---\nname: A\ndescription: d\n---\n", "name.format"),
        ("---\nname: b\ndescription: d\n---\n", "name.matchesDirectory"),
        (f"{_LOADS}version: 1\n---\n", "frontmatter.unknownField"),
        (f"{_LOADS}---\n" + "x\n" * 501, "body.maxLines"),
        (f"{_LOADS}---\n" + "x\n" * 500 + "x", "body.maxLines"),
        (f"{_LOADS}---\n" + "x\n" * 500, None),
        (f"{_LOADS}---\n" + "x\n" * 499 + "x", None),
    ],
)
def test_what_boxxy_calls_a_hard_error_is_one_and_keeps_the_skill_from_being_read(
    text: str | None, rule: str | None, tmp_path: Path
) -> None:
    skill = tmp_path / "a"
    skill.mkdir()
    if text is not None:
        (skill / "SKILL.md").write_text(text)
    errors = {found.rule for found in validate_skill(skill, profile="boxxy") if found.severity is Severity.ERROR}
    assert (rule in errors) if rule else not errors
    if rule:
        with pytest.raises(SkillParseError):
            read_skill(skill, profile="boxxy")
    else:
        assert read_skill(skill, profile="boxxy").name == "a"


@pytest.mark.proves("format.body.max-lines-spec")
def test_in_the_official_text_a_long_body_is_advice() -> None:
    (found,) = validate_skill(parse_document(f"{_LOADS}---\n" + "x\n" * 501), profile="spec")
    assert (found.rule, found.severity, found.location.line) == ("body.maxLines", Severity.WARNING, 505)
    assert "501 lines" in found.message
    assert severities(f"{_LOADS}---\n" + "x\n" * 501, "lenient") == {}


@pytest.mark.proves("format.compatibility.empty")
def test_an_empty_compatibility_is_an_error_where_the_text_sets_a_minimum() -> None:
    found = {name: severities(f"{_LOADS}compatibility:\n---\n", name).get("compatibility.empty") for name in PROFILES}
    assert found == {
        "spec": "error",
        "skills-ref": None,
        "skillscraft": None,
        "boxxy": "error",
        "claude-code": "error",
        "lenient": "warning",
    }


@pytest.mark.proves("format.profile.names")
def test_a_profile_is_data_and_a_changed_copy_judges_otherwise() -> None:
    assert tuple(PROFILES) == ("spec", "skills-ref", "skillscraft", "boxxy", "claude-code", "lenient")
    document = parse_document(f"{_LOADS}version: 1\nmetadata: {{a: 1}}\n---\n")
    assert (
        validate_skill(document)
        == validate_skill(document, profile="spec")
        != validate_skill(document, profile="lenient")
    )
    own = replace(PROFILES["spec"], known_fields=frozenset({*FIELDS, "version"}), metadata_scalars="written as text")
    assert [found.rule for found in field_findings(document, own)] == ["metadata.valueType"]
    assert [found.rule for found in field_findings(document, PROFILES["spec"])] == ["frontmatter.unknownField"]


@pytest.mark.proves("format.name.ascii-note")
def test_a_name_of_another_script_draws_a_note_and_stays_valid() -> None:
    assert severities("---\nname: données\ndescription: d\n---\n", "spec") == {"name.ascii": "info"}
    assert severities("---\nname: donnees\ndescription: d\n---\n", "spec") == {}


@pytest.mark.proves("format.skill.other-entries", "format.body.free")
def test_other_files_and_any_body_are_valid_in_the_official_text(tmp_path: Path) -> None:
    skill = tmp_path / "a"
    (skill / "templates").mkdir(parents=True)
    for name in ("README.md", "templates/x.html", "notes.txt"):
        (skill / name).write_text("x")
    for body in ("", "\n", "no heading, ---\n\n<b>\n", "```\nnever closed"):
        (skill / "SKILL.md").write_text(f"{_LOADS}---\n{body}")
        assert validate_skill(skill) == []
        advice = lint_skill(skill, selection=Selection(select=("body", "directory")))
        assert {found.severity for found in advice} <= {Severity.WARNING, Severity.INFO}
        assert "directory.extraneous" not in {found.rule for found in lint_skill(skill)}


@pytest.mark.proves("format.constants.values")
def test_the_limits_have_names() -> None:
    assert (MIN_NAME_LENGTH, MAX_NAME_LENGTH) == (1, 64)
    assert (MAX_DESCRIPTION_LENGTH, MAX_COMPATIBILITY_LENGTH) == (1024, 500)
    assert (MAX_BODY_TOKENS, MAX_BODY_LINES) == (5000, 500)
    assert _SKILLSCRAFT.pattern == NAME_PATTERN


def test_no_scalar_takes_long_to_be_told_from_a_number() -> None:
    for text in ("1" * 50_000 + "x", "1:" * 20_000, "1_" * 20_000 + "e"):
        type_beside_text(text)
    assert type_beside_text("1" * 50_000 + "x") is None


def test_every_row_has_its_six_severities() -> None:
    for row in RULES.values():
        assert len({name: row.severity_in(name) for name in PROFILES}) == 6
        assert row.severity is not None
