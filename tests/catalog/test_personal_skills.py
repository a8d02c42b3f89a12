"""Personal skills belong to one user: another user of the same machine, project and cache finds no trace of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from tests.catalog.making import write_skill

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Prowess = Callable[..., tuple[int, str]]

SECRET = "zephyr-payroll"


@pytest.fixture
def prowess(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Prowess:
    """Return a function that runs a command as a user in a shared project; it gives the exit code and both streams."""
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    write_skill(project / ".prowess" / "skills" / "shared")
    write_skill(tmp_path / "anna" / ".prowess" / "skills" / SECRET, description="Pays zephyr.", body="Zephyr only.\n")
    write_skill(tmp_path / "bo" / ".prowess" / "skills" / "own")
    monkeypatch.chdir(project)

    def as_user(user: str, *arguments: str) -> tuple[int, str]:
        monkeypatch.setenv("HOME", str(tmp_path / user))
        monkeypatch.setenv("PROWESS_HOME", str(tmp_path / user / ".prowess"))
        status = run(list(arguments))
        printed = capfd.readouterr()
        return status, printed.out + printed.err

    return as_user


@pytest.mark.proves("governance.layers.personal.private")
def test_no_command_of_one_user_shows_a_personal_skill_of_another(prowess: Prowess) -> None:
    status, text = prowess("anna", "list", "--trust-project")
    assert (status, SECRET in text, "shared" in text) == (exit_codes.OK, True, True)
    for arguments in (
        ["list", "--trust-project"],
        ["list", "--trust-project", "--json"],
        ["why", "zephyr"],
        ["load", "zephyr"],
        ["read", "zephyr", "SKILL.md"],
        ["completion", "bash"],
    ):
        assert SECRET not in prowess("bo", *arguments)[1], arguments
    for command in (["why", SECRET], ["load", SECRET], ["read", SECRET, "SKILL.md"]):
        status, text = prowess("bo", *command)
        assert status == exit_codes.FAILED
        assert "Pays zephyr" not in text
        assert "Zephyr only" not in text


@pytest.mark.proves("governance.layers.personal.private")
def test_what_the_commands_of_a_user_keep_can_be_read_by_no_other_user(prowess: Prowess, tmp_path: Path) -> None:
    home = tmp_path / "anna" / ".prowess"
    assert prowess("anna", "index", "--trust-project")[0] == exit_codes.OK
    assert prowess("anna", "check", str(home / "skills"))[0] == exit_codes.OK
    kept = [path for path in home.rglob("*") if path.is_file() and home / "skills" not in path.parents]
    assert any(path.suffix == ".sqlite" for path in kept)
    for path in kept:
        places = [place for place in (path, *path.parents) if place.is_relative_to(home) and place != home]
        assert any(not place.stat().st_mode & 0o077 for place in places), path
