from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING

import pytest

from prowess import lint_skill, validate_skill
from prowess.format import PROFILES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.examples.conftest import Outcome

NAMES = (
    "csv-report",
    "git-changelog",
    "http-api-review",
    "json-schema-check",
    "log-triage",
    "release-notes",
    "use-prowess",
)


@pytest.mark.proves("tooling.authoring.self-skill")
@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_the_skill_about_skills_has_no_finding_in_any_profile(skills: Path, profile: str) -> None:
    assert validate_skill(skills / "use-prowess", profile=profile) == []
    assert lint_skill(skills / "use-prowess", profile=profile) == []


@pytest.mark.proves("tooling.authoring.self-skill")
@pytest.mark.parametrize("topic", ["Reading", "Validating", "Integrating", "Authoring", "Progressive disclosure"])
def test_the_skill_about_skills_has_a_section_on(skills: Path, topic: str) -> None:
    assert re.search(rf"^## {topic}", (skills / "use-prowess" / "SKILL.md").read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_no_example_has_a_finding_in_any_profile(skills: Path, name: str, profile: str) -> None:
    assert validate_skill(skills / name, profile=profile) == []
    assert lint_skill(skills / name, profile=profile) == []


def test_the_cost_of_each_step_is_printed_as_the_body_shows(
    run: Callable[..., Outcome], skills: Path, workspace: Path
) -> None:
    shutil.copytree(skills / "csv-report", workspace / "csv-report", ignore=shutil.ignore_patterns("__pycache__"))
    done = run("use-prowess", "cost.py", "csv-report")
    assert (done.code, done.stderr) == (0, "")
    shown = re.search(r"prints\n\n```text\n(.*?)```", (skills / "use-prowess" / "SKILL.md").read_text(), re.DOTALL)
    assert shown is not None
    assert done.stdout == shown[1]


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (None, 1, "not a skill folder"),
        ("no fence\n", 1, "no front matter"),
        ("---\nname: a\ndescription: b\n---\n" + "x" * 20_001, 3, ""),
    ],
)
def test_what_costs_too_much_or_is_no_skill_is_said(
    run: Callable[..., Outcome], workspace: Path, text: str | None, code: int, said: str
) -> None:
    (workspace / "a").mkdir()
    if text is not None:
        (workspace / "a" / "SKILL.md").write_text(text)
    done = run("use-prowess", "cost.py", "a")
    assert done.code == code
    assert said in done.stderr


def test_the_estimate_counts_characters_by_four(run: Callable[..., Outcome], workspace: Path) -> None:
    (workspace / "a").mkdir()
    (workspace / "a" / "SKILL.md").write_text("---\nname: a\ndescription: >-\n  one\n  two\n---\nabcde\n")
    rows = json.loads(run("use-prowess", "cost.py", "a", "--json").stdout)
    assert [(row["step"], row["characters"], row["tokens"]) for row in rows] == [
        ("always", 9, 3),
        ("when loaded", 5, 2),
    ]
