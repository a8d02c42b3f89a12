"""The table in `examples/broken/README.md` says what is wrong with each skill; the check finds exactly that."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from prowess.errors import SkillParseError
from prowess.format import read_skill, validate_skill
from prowess.lint import lint_skill

BROKEN = Path(__file__).parents[2] / "examples" / "broken"
_ROW = re.compile(r"^\| \[(?P<name>[^]]+)\]\((?P=name)\) \|[^|]*\| (?P<rules>[^|]*) \|$", re.MULTILINE)
TABLE = {
    row["name"]: re.findall("`([^`]+)`", row["rules"]) for row in _ROW.finditer((BROKEN / "README.md").read_text())
}


def test_the_table_has_every_skill() -> None:
    assert set(TABLE) == {path.parent.name for path in BROKEN.glob("*/SKILL.md")}
    assert len(TABLE) == 10


@pytest.mark.parametrize("name", sorted(TABLE))
def test_a_broken_skill_is_broken_as_the_table_says(name: str) -> None:
    found = [*validate_skill(BROKEN / name), *lint_skill(BROKEN / name)]
    assert list(dict.fromkeys(one.rule for one in found)) == TABLE[name]


@pytest.mark.parametrize(
    ("name", "loads"),
    [
        ("anchors-and-tags", False), ("colon-in-description", True), ("dead-links", True), ("empty-fields", False),
        ("leaves-the-skill", True), ("not-utf-8", False), ("tools-as-list", True), ("unclosed-frontmatter", False),
        ("unknown-fields", True), ("wrong-name", True),
    ],
)  # fmt: skip
def test_what_can_be_used_all_the_same_is_loaded(name: str, loads: bool) -> None:  # noqa: FBT001 -- a column of the table
    if loads:
        assert read_skill(BROKEN / name).description
        return
    with pytest.raises(SkillParseError):
        read_skill(BROKEN / name)


def test_a_skill_whose_tools_cannot_be_read_may_use_none() -> None:
    assert read_skill(BROKEN / "tools-as-list").frontmatter.allowed_tools == ()
