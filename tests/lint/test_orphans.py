"""Files that nothing mentions: which of them are nobody's business."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.lint import lint_skill
from tests.lint.case import body

if TYPE_CHECKING:
    from pathlib import Path


def _orphans(root: Path, *files: str) -> list[str]:
    skill = root / "pdf-tables"
    for name in files:
        path = skill / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n", encoding="utf-8")
    (skill / "SKILL.md").write_text(f"---\nname: pdf-tables\n{body('Nothing.')}", encoding="utf-8")
    found = [one.message for one in lint_skill(skill) if one.rule == "reference.orphan"]
    return [message.partition(" is not mentioned in the skill;")[0] for message in found]


@pytest.mark.parametrize(
    "path",
    [
        "scripts/a.test.js",
        "scripts/a.spec.ts",
        "scripts/A.Spec.ts",
        "scripts/a_test.go",
        "scripts/test_a.py",
        "scripts/tests/a.py",
        "scripts/test/a.py",
        "scripts/fixtures/a.json",
        "scripts/node_modules/a/index.js",
        "scripts/__init__.py",
        "scripts/package-lock.json",
        "scripts/.env.example",
        "references/LICENSE-fonts.txt",
        "references/CHANGELOG.md",
        "assets/NOTICE",
        "README.md",
        "AGENTS.md",
        "skill-card.md",
        "BENCHMARK.md",
        "references/BENCHMARK.md",
        "assets/skill.oms.sig",
    ],
)
def test_tests_and_plumbing_need_no_mention(tmp_path: Path, path: str) -> None:
    assert _orphans(tmp_path, path, "scripts/other.py") == ["scripts/other.py"]


@pytest.mark.parametrize(
    "path",
    ["scripts/spec.ts", "scripts/testing.py", "scripts/contest.py", "references/specs.md", "references/latest.md"],
)
def test_a_name_that_only_looks_like_one_of_them_does(tmp_path: Path, path: str) -> None:
    assert _orphans(tmp_path, path) == [path]


@pytest.mark.parametrize(
    ("text", "module", "orphans"),
    [
        ("from scripts.numbers import total", "scripts/numbers.py", []),
        ("import scripts.deep.numbers", "scripts/deep/numbers.py", []),
        ("from deep.numbers import total", "scripts/deep/numbers.py", []),
        ("from scripts.numbers_of import total", "scripts/numbers.py", ["scripts/numbers.py"]),
        ("from other.numbers import total", "scripts/numbers.py", ["scripts/numbers.py"]),
    ],
)
def test_who_imports_a_module_by_its_folders_mentions_it(
    tmp_path: Path, text: str, module: str, orphans: list[str]
) -> None:
    script = tmp_path / "pdf-tables" / "scripts" / "README.py"  # for people, so that nothing has to mention it
    script.parent.mkdir(parents=True)
    script.write_text(f"{text}\n", encoding="utf-8")
    assert _orphans(tmp_path, module) == orphans
