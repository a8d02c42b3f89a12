"""The lint rules on the size of the body, on nested references, and on files for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.diagnostics import Severity
from prowess.format import PROFILES, parse_document
from prowess.lint import lint_skill
from prowess.runtime.disclosure.model_texts import estimate_tokens

if TYPE_CHECKING:
    from pathlib import Path

_HEAD = "---\nname: a\ndescription: Writes d. Use when asked for d.\nmetadata: {version: '1'}\n---\n"


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    root = tmp_path / "a"
    root.mkdir()
    (root / "SKILL.md").write_text(f"{_HEAD}x\n")
    return root


@pytest.mark.proves("format.body.max-tokens", "format.body.token-estimate")
@pytest.mark.parametrize(("characters", "tokens"), [(20_000, None), (20_001, 5001), (20_004, 5001), (20_005, 5002)])
def test_more_than_5000_estimated_tokens_are_a_warning_that_names_its_method(
    characters: int, tokens: int | None
) -> None:
    found = lint_skill(parse_document(f"{_HEAD}{'x' * characters}"), profile="boxxy")
    assert [(one.rule, one.severity, one.location.line - 1) for one in found] == (
        [] if tokens is None else [("body.tokens", Severity.WARNING, 5)]
    )
    assert all(f"about {tokens} tokens (characters / 4)" in one.message for one in found)
    assert estimate_tokens("x" * characters) == (tokens or 5000)


@pytest.mark.proves("format.reference.depth")
def test_a_reference_deeper_than_one_level_is_an_error_in_boxxy_and_advice_in_the_official_text(skill: Path) -> None:
    (skill / "references" / "api").mkdir(parents=True)
    (skill / "references" / "old").mkdir()
    for name in ("api/x.md", "old/y.md", "flat.md"):
        (skill / "references" / name).write_text("x")
    (skill / "SKILL.md").write_text(f"{_HEAD}[x](references/api/x.md) [f](references/flat.md) [s](scripts/a/b.py)\n")
    severities = {"spec": "info", "skills-ref": None, "skillscraft": "info", "boxxy": "error", "lenient": None}
    for profile, severity in severities.items():
        found = [one for one in lint_skill(skill, profile=profile) if one.rule == "reference.depth"]
        assert [one.severity for one in found] == ([] if severity is None else [severity] * 2)
    unlinked, linked = [one for one in lint_skill(skill) if one.rule == "reference.depth"]
    assert "references/old is a directory" in unlinked.message
    assert (linked.location.line, linked.location.column) == (6, 5)


@pytest.mark.proves("format.directory.extraneous")
def test_a_file_for_people_is_named_in_boxxy_alone(skill: Path) -> None:
    for name in ("README.md", "CHANGELOG", "contributing.rst", "readme.py", "LICENSE.txt", "notes.md"):
        (skill / name).write_text("See notes.md")
    (skill / "docs").mkdir()
    (skill / "docs" / "README.md").write_text("x")
    found = lint_skill(skill, profile="boxxy")
    assert [one.message.partition(" ")[0] for one in found] == ["CHANGELOG", "README.md", "contributing.rst"]
    assert {one.severity for one in found} == {Severity.WARNING}
    for profile in PROFILES:
        assert profile == "boxxy" or lint_skill(skill, profile=profile) == []


def test_without_a_directory_only_the_text_is_looked_at() -> None:
    assert lint_skill(parse_document(f"{_HEAD}x"), profile="boxxy") == []
    assert [one.rule for one in lint_skill(parse_document(f"{_HEAD}[x](references/a/b.md)"), profile="boxxy")] == [
        "reference.depth"
    ]
