"""A FunctionTool is a Python function and a SkillTool is skills, everywhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from prowess.catalog import Catalog
from prowess.runtime import Session
from prowess.runtime.disclosure.skill_tool import SkillTool
from prowess.tools.functions.function_tool import FunctionTool

ROOT = Path(__file__).parents[2]


@pytest.mark.proves("runtime.function.names")
def test_a_function_makes_a_function_tool_and_skills_are_behind_the_skill_tool() -> None:
    session = Session(Catalog(ROOT / "examples/skills"), exposure="skill")

    @session.function
    def count(text: str) -> int:
        """Count the letters of a text."""
        return len(text)

    assert FunctionTool(count).spec.name == "count"
    skill, function = session.tools()
    assert (skill.name, function.name) == (SkillTool.spec.name, "count")
    assert '"csv-report": ' in skill.description
    # Nothing calls a function's tool a SkillTool, and no second class has either name.
    texts = {path: path.read_text(encoding="utf-8") for path in [*ROOT.glob("src/**/*.py"), *ROOT.glob("docs/*.md")]}
    for name in ("FunctionTool", "SkillTool"):
        assert sum(len(re.findall(rf"^class {name}\b", text, re.MULTILINE)) for text in texts.values()) == 1
    page = (ROOT / "docs/build/tools.md").read_text(encoding="utf-8")
    assert "SkillTool" not in page
    assert [path for path, text in texts.items() if re.search(r"\bSkillTool\b[^.\n]*\bfunctions?\b", text)] == []
