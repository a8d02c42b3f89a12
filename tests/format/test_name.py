from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.diagnostics import Severity
from prowess.format import PROFILES, SkillName, name_faults, parse_document, validate_skill
from prowess.format.name import is_portable, normalise


@pytest.mark.parametrize(
    "name",
    [
        "pdf", "pdf-processing", "data-analysis", "code-review", "xlsx", "skill-creator",
        "data-validation",
        "7zip",
        "test-generator", "my-skill-v2", "nome-da-skill", "pdf-processing-and-analysis-suite", "a" * 64,
        "数据分析", "1",
    ],
)  # fmt: skip
@pytest.mark.proves(
    "format.name.valid-000", "format.name.valid-001", "format.name.valid-004", "format.name.sample-33",
    "format.name.digits",
)  # fmt: skip
def test_a_good_name_has_no_faults(name: str) -> None:
    assert name_faults(normalise(name)) == []
    text = f"---\nname: '{name}'\ndescription: d\n---\n"
    for profile in PROFILES if name.isascii() else ("spec",):
        found = validate_skill(parse_document(text), profile=profile)
        assert {one.rule for one in found} <= {"name.ascii"}, profile


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("PDF-Processing", ["case"]), ("-pdf", ["edge"]), ("pdf-", ["edge"]), ("pdf--processing", ["double"]),
        ("pdf_processing", ["character"]), ("a" * 65, ["length"]), ("-", ["edge"]), ("--", ["edge", "edge", "double"]),
        ("Ж", ["case"]), ("a b", ["character"]), ("a\n", []), ("a\nb", ["character"]), ("ǅ", ["case"]),
        ("हिन्दी", ["character"]),
        ("A--_", ["case", "double", "character"]), ("a\u00adb", ["character"]),
    ],
)  # fmt: skip
@pytest.mark.proves(
    "format.name.invalid-000", "format.name.invalid-001", "format.name.invalid-004", "format.name.uppercase",
    "format.name.charset-spec",
)  # fmt: skip
def test_a_bad_name_has_every_fault_in_order(name: str, kinds: list[str]) -> None:
    assert [fault.kind for fault in name_faults(normalise(name))] == kinds


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("PDF-Processing", "name.format"), ("-pdf", "name.format"), ("pdf-", "name.format"),
        ("pdf--processing", "name.format"), ("pdf_processing", "name.format"), ("", "name.required"),
        ("Code-Review", "name.format"), ("-my-skill", "name.format"), ("my--skill", "name.format"),
        ("my_skill", "name.format"),
    ],
)  # fmt: skip
@pytest.mark.proves("format.name.invalid-000", "format.name.invalid-001", "format.name.invalid-004")
def test_the_bad_names_of_the_texts_are_errors_in_every_profile_and_warnings_in_lenient(name: str, rule: str) -> None:
    for profile in PROFILES:
        found = validate_skill(parse_document(f"---\nname: '{name}'\ndescription: d\n---\n"), profile=profile)
        severity = Severity.WARNING if profile == "lenient" else Severity.ERROR
        assert [(one.rule, one.severity) for one in found] == [(rule, severity)], profile


@pytest.mark.proves("format.name.length")
@pytest.mark.parametrize(
    ("name", "long"),
    [
        ("a", False),
        ("a" * 64, False),
        ("a" * 65, True),
        ("e\u0301" * 64, False),
        ("\ufb00" * 32, False),
        ("\ufb00" * 33, True),
    ],
)
def test_64_code_points_are_counted_after_nfkc(name: str, *, long: bool) -> None:
    found = validate_skill(parse_document(f"---\nname: {name}\ndescription: d\n---\n"))
    errors = [one.rule for one in found if one.severity is Severity.ERROR]
    assert errors == (["name.maxLength"] if long else [])


@pytest.mark.proves("format.name.charset-spec")
@pytest.mark.parametrize(
    ("name", "valid"),
    [
        ("données-2", True),
        ("数据-分析", True),
        ("ж٣", True),
        ("don\u00a0n", False),
        ("a.b", False),
        ("a\u2010b", False),
        ("☃", False),
    ],
)
def test_in_the_official_text_letters_and_digits_of_any_script_make_a_name(name: str, *, valid: bool) -> None:
    document = parse_document(f"---\nname: {name}\ndescription: d\n---\n")
    assert {one.rule for one in validate_skill(document)} == ({"name.ascii"} if valid else {"name.format"})
    assert {one.rule for one in validate_skill(document, profile="boxxy")} == {"name.format"}


@pytest.mark.proves("format.name.format")
def test_a_fault_names_the_character_and_its_place() -> None:
    fault = name_faults("code_review")[0]
    assert (fault.rule, fault.offset, fault.character) == ("name.format", 4, "_")
    assert fault.message.startswith("character 5 of name is '_'")


@pytest.mark.proves("format.name.nfkc", "format.name.length")
def test_two_spellings_with_one_normal_form_are_one_name() -> None:
    assert SkillName.of(" cafe\u0301 ") == SkillName.of("café")
    assert str(SkillName.of("ｐｄｆ")) == "pdf"
    assert [fault.kind for fault in name_faults(normalise("ﬀ" * 33))] == ["length"]


@pytest.mark.unmeasured  # coverage makes it several times slower
def test_a_run_of_combining_marks_costs_no_time() -> None:
    begin = time.process_time()
    name = normalise("a" + "\u0301\u0316" * 30_000)
    assert name_faults(name)[0].kind == "length"
    assert time.process_time() - begin < 0.5


@given(st.text(max_size=40))
def test_normalising_twice_changes_nothing(raw: str) -> None:
    assert normalise(normalise(raw)) == normalise(raw)


def test_only_ascii_is_portable() -> None:
    assert is_portable("a-1")
    assert not is_portable("é")
