"""Every case of the conformance files, read and judged in all six profiles by the library."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from prowess.catalog import Catalog
from prowess.diagnostics import Severity
from prowess.errors import SkillParseError
from prowess.format import PROFILES as KNOWN
from prowess.format import Skill, read_skill, validate_skill
from prowess.lint import lint_skill
from tests.conformance.format_cases import CASES, PROFILES, lay_out, parameters

_ROOT = Path(__file__).parents[2]
# What a case says nothing on is the quality of its text.
_ABOUT_FILES = {"body", "directory", "hooks", "reference", "testing"}


@pytest.mark.proves("format.profile.names", "format.fields.unknown", "format.fields.unknown-vendor")
@pytest.mark.parametrize("case", parameters())
def test_a_case_is_judged_as_expected_in_every_profile(case: dict[str, Any], tmp_path: Path) -> None:
    skill = lay_out(case, tmp_path)
    for profile in PROFILES:
        expected = case[profile]
        advice = [found for found in lint_skill(skill, profile=profile) if found.rule.partition(".")[0] in _ABOUT_FILES]
        found = [*validate_skill(skill, profile=profile), *advice]
        errors = [fault for fault in found if fault.severity is Severity.ERROR]
        notes = {fault.rule for fault in found if fault.severity is not Severity.ERROR}

        assert (not errors) is expected["valid"], profile
        assert {fault.rule for fault in errors} == set(expected.get("rules", ())), profile
        assert set(expected.get("notes", ())) <= notes, profile
        if "only" in expected:
            assert sorted(fault.rule for fault in found) == sorted(expected["only"]), profile
        for key in ("line", "column"):
            if key in expected:
                first = next(fault for fault in errors if fault.rule == expected["rules"][0])
                assert getattr(first.location, key) == expected[key], profile
        if "messages" in expected:
            assert [fault.message for fault in errors] == expected["messages"], profile


@pytest.mark.parametrize("case", parameters())
def test_a_case_is_read_as_expected_in_every_profile(case: dict[str, Any], tmp_path: Path) -> None:
    directory = lay_out(case, tmp_path)
    for profile in PROFILES:
        expected = case[profile]
        if not expected.get("loads", expected["valid"]):
            with pytest.raises(SkillParseError) as refusal:
                read_skill(directory, profile=profile)
            assert refusal.value.diagnostics, profile
            continue
        skill = read_skill(directory, profile=profile)
        for key in ("name", "description", "license", "body", "allowed_tools", "metadata", "metadata_raw"):
            if key in expected:
                assert _value(skill, key) == expected[key], (profile, key)


def _value(skill: Skill, key: str) -> object:
    front = skill.frontmatter
    match key:
        case "body":
            return skill.body.strip()
        case "allowed_tools":
            return None if front.allowed_tools is None else [str(token) for token in front.allowed_tools]
        case "metadata" | "metadata_raw":
            return dict(getattr(front, key))
        case _:
            return getattr(front, key)


@pytest.mark.parametrize("case", parameters("discovered"))
def test_a_case_is_found_and_offered_as_expected(case: dict[str, Any], tmp_path: Path) -> None:
    lay_out(case, tmp_path)
    catalog = Catalog(str(tmp_path / case.get("root", ".")))
    assert [entry.name for entry in catalog.entries()] == case["discovered"]
    skipped = [found for found in catalog.diagnostics if found.severity is Severity.ERROR]
    assert bool(skipped) is (case["id"] in {"k22-beside-a-broken-one", "k23-without-description"})


@pytest.mark.parametrize("case", parameters("inside"))
def test_a_case_is_judged_alike_from_inside(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lay_out(case, tmp_path))
    for profile in PROFILES:
        assert validate_skill(".", profile=profile) == [], profile


def test_every_known_failure_is_a_case_and_says_where_the_rest_of_it_is_shown() -> None:
    assert {case["k"] for case in CASES if "k" in case} == {f"K{number}" for number in range(1, 43)}
    assert len({case["id"] for case in CASES}) == len(CASES)
    for test in {case["behaviour"] for case in CASES if "behaviour" in case}:
        file, _, name = test.partition("::")
        assert re.search(rf"^(async )?def {name}\(", (_ROOT / file).read_text(encoding="utf-8"), re.MULTILINE), test
    assert {case["k"] for case in CASES if "open" in case} == {"K38", "K39"}


def test_every_case_says_what_each_profile_makes_of_it() -> None:
    assert tuple(KNOWN) == PROFILES
    for case in CASES:
        assert all("valid" in case[profile] for profile in PROFILES), case["id"]
        assert case["lenient"]["loads"] is case["lenient"]["valid"], case["id"]
