"""Every case of the conformance files, read and judged in the profiles it names."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from prowess.diagnostics import Severity
from prowess.errors import SkillParseError
from prowess.format import Skill, read_skill, validate_skill
from prowess.lint import lint_skill

_HERE = Path(__file__).parent
_FILES = ("format-cases.json", "format-cases-more.json")
_CASES = [case for name in _FILES for case in json.loads((_HERE / name).read_text(encoding="utf-8"))["cases"]]
_PROFILES = ("spec", "skills-ref", "lenient")


def _those_that_say(*keys: str) -> list[Any]:
    """Every (case, profile) for which the case states one of the keys."""
    return [
        pytest.param(case, profile, id=f"{case['id']}-{profile}")
        for case in _CASES
        for profile in _PROFILES
        if any(key in case.get(profile, {}) for key in keys)
    ]


def lay_out(case: dict[str, Any], root: Path) -> Path:
    """Write the files of a case and return the skill's directory."""
    skill = root / str(case["dir"])
    skill.mkdir()
    for name, content in case["files"].items():
        file = skill / name
        file.parent.mkdir(parents=True, exist_ok=True)
        data = base64.b64decode(content["base64"]) if isinstance(content, dict) else content.encode()
        file.write_bytes(data)
    return skill


@pytest.mark.parametrize(("case", "profile"), _those_that_say("valid"))
def test_a_case_is_judged_as_expected(case: dict[str, Any], profile: str, tmp_path: Path) -> None:
    expected = case[profile]
    skill = lay_out(case, tmp_path)
    found = [*validate_skill(skill, profile=profile), *lint_skill(skill, profile=profile)]
    errors = [fault for fault in found if fault.severity is Severity.ERROR]
    notes = {fault.rule for fault in found if fault.severity is not Severity.ERROR}

    assert (not errors) is expected["valid"]
    assert set(expected.get("rules", ())) <= {fault.rule for fault in errors}
    assert set(expected.get("notes", ())) <= notes
    if "only" in expected:
        assert sorted(fault.rule for fault in found) == sorted(expected["only"])
    if "line" in expected:
        assert next(fault.location.line for fault in errors if fault.rule in expected["rules"]) == expected["line"]
    if "column" in expected:
        assert next(fault.location.column for fault in errors if fault.rule in expected["rules"]) == expected["column"]
    if "messages" in expected:
        assert [fault.message for fault in errors] == expected["messages"]


@pytest.mark.parametrize(("case", "profile"), _those_that_say("valid", "loads"))
def test_a_case_is_read_as_expected(case: dict[str, Any], profile: str, tmp_path: Path) -> None:
    expected = case[profile]
    loads = expected.get("loads", expected.get("valid"))
    directory = lay_out(case, tmp_path)
    if not loads:
        with pytest.raises(SkillParseError) as refusal:
            read_skill(directory, profile=profile)
        assert refusal.value.diagnostics
        return
    skill = read_skill(directory, profile=profile)
    for key in ("name", "description", "license", "body", "allowed_tools", "metadata", "metadata_raw"):
        if key in expected:
            assert _value(skill, key) == expected[key], key


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
