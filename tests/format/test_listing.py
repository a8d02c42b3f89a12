from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.catalog import Catalog
from prowess.cli.dispatch import run
from prowess.diagnostics import Severity
from prowess.format import PROFILES, parse_document, validate_skill
from prowess.runtime import Session

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.proves("runtime.fields.required")
@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ("description: d", "name.required"),
        ("name: Code-Review\ndescription: d", "name.format"),
        ("name: code_review\ndescription: d", "name.format"),
        ("name: code review\ndescription: d", "name.format"),
        ("name: code--review\ndescription: d", "name.format"),
        ("name: code-review", "description.required"),
        ("name: code-review\ndescription: |\n  \n", "description.required"),
    ],
)
def test_no_profile_is_silent_on_a_missing_description_or_a_name_that_is_not_kebab_case(fields: str, rule: str) -> None:
    for profile in PROFILES:
        found = {
            one.rule: one.severity for one in validate_skill(parse_document(f"---\n{fields}\n---\n"), profile=profile)
        }
        mild = profile == "lenient" and rule.startswith("name")
        assert found.get(rule) == (Severity.WARNING if mild else Severity.ERROR), profile


@pytest.mark.proves("runtime.fields.required")
@pytest.mark.parametrize("block", ["|", "|+", ">", ">-"])
def test_a_description_of_several_lines_is_one_line_wherever_skills_are_listed(
    block: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    directory = tmp_path / "folded"
    directory.mkdir()
    text = f"---\nname: folded\ndescription: {block}\n  Counts words.\n\n  Use when\n    asked.\n\n\n---\nBody\n"
    (directory / "SKILL.md").write_text(text, encoding="utf-8")
    one_line = "Counts words. Use when asked."
    assert validate_skill(directory) == []
    assert f"<description>{one_line}</description>" in Session(Catalog(tmp_path)).instructions()
    assert run(["list", "--root", str(tmp_path)]) == 0
    (listed,) = capfd.readouterr().out.splitlines()
    assert listed.endswith(f"  {one_line}")
    for form in ("xml", "tool", "markdown", "attributes"):
        assert run(["to-prompt", "--form", form, str(directory)]) == 0
        assert one_line in capfd.readouterr().out, form
