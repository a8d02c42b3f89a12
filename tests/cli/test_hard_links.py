"""A SKILL.md with a second hard link: no command takes it for a skill, and each tells why."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.fork_server import prowess

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.measured_once
@pytest.mark.parametrize(
    "command",
    [
        ("list", "--root", "skills"),
        ("load", "linked", "--root", "skills"),
        ("read", "linked", "SKILL.md", "--root", "skills"),
        ("run", "linked", "a.sh", "--root", "skills"),
        ("why", "linked", "--root", "skills"),
        ("check", "skills"),
        ("check", "skills/linked"),
        ("check", "skills/linked/SKILL.md"),
        ("show", "skills/linked"),
        ("fmt", "--check", "skills/linked"),
        ("validate", "skills/linked"),
        ("to-prompt", "skills/linked"),
        ("read-properties", "skills/linked"),
    ],
)
def test_every_command_refuses_a_hard_linked_document_and_tells_why(
    tmp_path: Path, own_home: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "skills" / "linked" / "scripts").mkdir(parents=True)
    (tmp_path / "skills" / "linked" / "scripts" / "a.sh").write_text("echo ran\n")
    (tmp_path / "elsewhere").write_text("---\nname: linked\ndescription: A secret. Use when asked.\n---\nBody.\n")
    os.link(tmp_path / "elsewhere", tmp_path / "skills" / "linked" / "SKILL.md")
    ran = subprocess.run([prowess(), *command], cwd=tmp_path, capture_output=True, text=True, check=False)
    told = ran.stdout + ran.stderr
    assert "second hard link" in told
    assert "A secret" not in told
    assert "Body." not in told
    assert command[0] == "list" or ran.returncode != 0
