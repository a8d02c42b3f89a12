"""What a lock names, compared with the store and the targets."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from prowess._internal.places import prowess_home
from prowess.distribution.installation.scope import InstallScope
from prowess.distribution.installation.verification import installed_copies
from tests.distribution.installation.projects import Commands, make_project

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def prowess(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Commands:
    monkeypatch.delenv("CI", raising=False)
    found = Commands(make_project(tmp_path, "alpha", "beta"), monkeypatch, capfd)
    found.text("install", "../skills", "--skill", "*", "--target", "claude-code", "--target", "codex=link")
    return found


def _states(prowess: Commands) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return state and differing files by place, without the intact ones."""
    copies = installed_copies(InstallScope.find("project", str(prowess.directory)))
    assert len(copies) == 6
    return {
        os.path.relpath(one.path, prowess.directory): (one.state, one.files) for one in copies if one.state != "intact"
    }


def test_each_place_of_each_locked_skill_is_compared(prowess: Commands) -> None:
    assert _states(prowess) == {}
    copy = prowess.directory / ".claude/skills/alpha"
    (copy / "scripts/run.py").write_text("changed", encoding="utf-8")
    (copy / "new.md").touch()
    (copy / "SKILL.md").unlink()
    (copy / "link").symlink_to("/etc/passwd")
    (prowess.directory / ".claude/skills/beta/SKILL.md").chmod(0o755)
    (prowess.directory / ".agents/skills/beta").unlink()
    assert _states(prowess) == {
        ".claude/skills/alpha": ("changed", ("SKILL.md", "link", "new.md", "scripts/run.py")),
        ".claude/skills/beta": ("changed", ("SKILL.md",)),
        ".agents/skills/beta": ("missing", ()),
    }


def test_each_flipped_byte_of_a_stored_file_is_found(prowess: Commands) -> None:
    store = os.path.join(prowess_home(), "store")
    for parent, _, files in os.walk(store):
        for name in sorted(set(files) - {".files"}):
            path = os.path.join(parent, name)
            with open(path, "rb") as file:
                data = file.read()
            os.chmod(path, 0o700 if name.endswith(".py") else 0o600)
            for place in range(len(data)):
                with open(path, "wb") as file:
                    file.write(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
                found = _states(prowess)
                assert {state for state, _ in found.values()} == {"changed"}
                assert {path for _, paths in found.values() for path in paths} == {
                    name if name == "SKILL.md" else f"scripts/{name}"
                }
                assert len(found) == 2  # in the store, and through the link
            with open(path, "wb") as file:
                file.write(data)
    assert _states(prowess) == {}


def test_a_listing_that_was_changed_is_not_believed(prowess: Commands) -> None:
    for parent, _, files in os.walk(os.path.join(prowess_home(), "store")):
        if ".files" in files:
            os.chmod(os.path.join(parent, ".files"), 0o600)
            with open(os.path.join(parent, ".files"), "ab") as file:
                file.write(b"x")
    (prowess.directory / ".claude/skills/beta/SKILL.md").write_text("mine", encoding="utf-8")
    assert _states(prowess) == {".claude/skills/beta": ("changed", ())}
