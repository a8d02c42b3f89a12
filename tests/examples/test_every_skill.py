"""What holds for each example skill, whatever it does."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SKILLS = Path(__file__).resolve().parents[2] / "examples" / "skills"
NAMES = sorted(path.name for path in SKILLS.iterdir() if path.is_dir())
SCRIPTS = sorted(path for path in SKILLS.glob("*/scripts/*") if path.is_file() and os.access(path, os.X_OK))


def test_there_are_enough_examples() -> None:
    assert len(NAMES) >= 7
    assert "use-prowess" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_description_says_when_to_use_it(name: str) -> None:
    text = (SKILLS / name / "SKILL.md").read_text(encoding="ascii")
    assert "Use when" in " ".join(text.split("---")[1].split())
    assert re.search(r"^## Gotchas$", text, re.MULTILINE)
    assert re.search(r"^## When to use it$", text, re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_every_reference_is_linked_from_the_body(name: str) -> None:
    body = (SKILLS / name / "SKILL.md").read_text(encoding="utf-8")
    for path in sorted((SKILLS / name).glob("references/*")) + sorted((SKILLS / name).glob("assets/*")):
        assert f"({path.parent.name}/{path.name})" in body
    assert not list((SKILLS / name).glob("references/*/*"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: f"{path.parts[-3]}/{path.name}")
def test_a_script_explains_itself_and_never_asks(script: Path) -> None:
    command = [sys.executable, "-B"] if script.suffix == ".py" else ["sh"]
    shown = subprocess.run(
        [*command, str(script), "--help"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
    )
    assert "usage:" in shown.stdout
    assert "Example:" in shown.stdout
    assert shown.stderr == ""
    assert "Exit codes:" in script.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "script", sorted(SKILLS.glob("*/scripts/*.py")), ids=lambda path: f"{path.parts[-3]}/{path.name}"
)
def test_a_script_uses_the_standard_library_alone(script: Path) -> None:
    siblings = {path.stem for path in script.parent.glob("*.py")}
    tree = ast.parse(script.read_text(encoding="utf-8"))
    imported = {
        alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }
    imported |= {str(node.module).split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported <= set(sys.stdlib_module_names) | siblings
    assert not imported & {"socket", "urllib", "http", "ssl"}
