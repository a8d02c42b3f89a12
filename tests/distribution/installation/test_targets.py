"""Targets: installed skills in the directories of other agents, as copies and as links."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from prowess._internal.places import prowess_home
from prowess.cli import exit_codes
from prowess.distribution.installation.disk import exchange as exchanging
from prowess.lockfile import LockedTarget, Lockfile, render_lock
from tests.distribution.installation.projects import Commands, codes, make_project, states, write_skill

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def prowess(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Commands:
    monkeypatch.delenv("CI", raising=False)
    return Commands(make_project(tmp_path, "alpha", "beta"), monkeypatch, capfd)


@pytest.fixture(params=["one step", "two renames"])
def one_step_or_two(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a system that cannot exchange two names."""
    if request.param == "two renames":
        monkeypatch.setattr(exchanging, "_exchanged", lambda one, other: False)


@pytest.mark.usefixtures("one_step_or_two")
def test_skills_are_copied_and_linked_and_follow_every_change(prowess: Commands, tmp_path: Path) -> None:
    here = prowess.directory
    report = prowess.report("install", "../skills", "--skill", "*", "--target", "claude-code", "--target", "codex=link")
    assert set(report["targets"][0]) == {"agent", "path", "mode", "state"}
    assert states(report, here) == {
        ".claude/skills/alpha": "placed",
        ".claude/skills/beta": "placed",
        ".agents/skills/alpha": "placed",
        ".agents/skills/beta": "placed",
    }
    copy, link = here / ".claude/skills/alpha", here / ".agents/skills/alpha"
    assert (copy / "scripts/run.py").stat().st_mode & 0o700 == 0o700
    assert not copy.is_symlink()
    assert os.readlink(link).startswith(os.path.join(prowess_home(), "store"))
    write_skill(tmp_path / "skills" / "alpha", "1.1.0", body="New.\n")
    report = prowess.report("install", "../skills", "--skill", "alpha")
    assert states(report, here)[".claude/skills/alpha"] == "replaced"
    for place in (copy, link):
        assert (place / "SKILL.md").read_text(encoding="utf-8").endswith("New.\n")
    assert [(one["agent"], one["mode"]) for one in report["targets"][::2]] == [
        ("claude-code", "copy"),
        ("codex", "link"),
    ]
    prowess.text("rollback")
    assert "New." not in (copy / "SKILL.md").read_text(encoding="utf-8")
    prowess.text("remove", "alpha")
    assert sorted(os.listdir(here / ".claude/skills")) == sorted(os.listdir(here / ".agents/skills")) == ["beta"]


def test_an_edited_copy_is_kept_until_it_is_repaired(prowess: Commands, tmp_path: Path) -> None:
    prowess.text("install", "../skills", "--skill", "*", "--target", "claude-code")
    edited = prowess.directory / ".claude/skills/alpha/SKILL.md"
    edited.write_text("mine", encoding="utf-8")
    write_skill(tmp_path / "skills" / "alpha", "1.1.0")
    for given in (("install",), ("install", "../skills", "--skill", "alpha")):
        report = prowess.report(*given, code=exit_codes.FAILED)
        assert states(report, prowess.directory)[".claude/skills/alpha"] == "drifted"
        assert codes(report) == ["drifted"]
        assert report["problems"][0]["fix"] == "prowess install --repair"
    assert edited.read_text(encoding="utf-8") == "mine"
    report = prowess.report("install", "--repair")
    assert states(report, prowess.directory)[".claude/skills/alpha"] == "replaced"
    assert 'version: "1.1.0"' in edited.read_text(encoding="utf-8")
    edited.write_text("mine again", encoding="utf-8")
    report = prowess.report("remove", "alpha", code=exit_codes.FAILED)
    assert edited.read_text(encoding="utf-8") == "mine again"
    assert states(report, prowess.directory)[".claude/skills/alpha"] == "drifted"
    prowess.text("install", "--repair")
    assert not edited.exists()


def test_a_skill_that_was_there_before_is_not_replaced(prowess: Commands) -> None:
    own = write_skill(prowess.directory / ".claude/skills/alpha", "0.1.0")
    (prowess.directory / ".claude/skills/other").mkdir()
    report = prowess.report("install", "../skills", "--skill", "*", "--target", "claude-code", code=exit_codes.FAILED)
    assert states(report, prowess.directory) == {".claude/skills/alpha": "drifted", ".claude/skills/beta": "placed"}
    assert "0.1.0" in (own / "SKILL.md").read_text(encoding="utf-8")
    prowess.text("remove", "alpha", "beta")
    assert sorted(os.listdir(prowess.directory / ".claude/skills")) == ["alpha", "other"]


def test_a_copy_that_is_as_it_should_be_is_taken_over(prowess: Commands, tmp_path: Path) -> None:
    prowess.text("install", "../skills", "--skill", "alpha", "--target", "claude-code")
    shutil.rmtree(os.path.join(prowess_home(), "states"))
    report = prowess.report("install")
    assert states(report, prowess.directory) == {".claude/skills/alpha": "current"}
    write_skill(tmp_path / "skills" / "alpha", "1.1.0")
    report = prowess.report("install", "../skills", "--skill", "alpha")
    assert states(report, prowess.directory) == {".claude/skills/alpha": "replaced"}


def test_a_deleted_copy_comes_back(prowess: Commands) -> None:
    prowess.text("install", "../skills", "--skill", "alpha", "--target", "claude-code", "--target", "codex=link")
    shutil.rmtree(prowess.directory / ".claude")
    (prowess.directory / ".agents/skills/alpha").unlink()
    assert set(states(prowess.report("install"), prowess.directory).values()) == {"placed"}


def test_a_mode_changes_only_if_it_is_asked_for(prowess: Commands) -> None:
    copy = prowess.directory / ".claude/skills/alpha"
    prowess.text("install", "../skills", "--skill", "alpha", "--target", "claude-code")
    prowess.text("install", "../skills", "--skill", "beta")
    assert not copy.is_symlink()
    prowess.text("install", "--target", "claude-code=link")
    assert copy.is_symlink()
    prowess.text("install")
    assert copy.is_symlink()
    prowess.text("install", "--target", "claude-code=copy")
    assert copy.is_dir()
    assert not copy.is_symlink()
    prowess.text("remove", "--target", "claude-code")
    assert not copy.exists()
    prowess.text("remove", "--target", "claude-code", code=exit_codes.FAILED)


def test_a_target_that_cannot_be_is_refused_before_anything_changes(prowess: Commands, tmp_path: Path) -> None:
    for given, message in (
        ("claude-code=move", "write AGENT, AGENT=copy or AGENT=link"),
        ("claude-cod", "did you mean 'claude-code'?"),
        ("docker-agent", "reads no skills of a project; use --scope personal"),
    ):
        code = exit_codes.USAGE if "=move" in given else exit_codes.FAILED
        prowess.text("install", "../skills", "--skill", "*", "--target", given, code=code)
        assert message in prowess.err
    personal = ("install", "../skills", "--skill", "*", "--scope", "personal", "--target", "docker-agent=link")
    prowess.text(*personal, code=exit_codes.FAILED)
    assert "ignores links; use --target docker-agent=copy" in prowess.err
    (tmp_path / "outside").mkdir()
    (prowess.directory / ".claude").symlink_to(tmp_path / "outside")
    prowess.text("install", "../skills", "--skill", "*", "--target", "claude-code", code=exit_codes.FAILED)
    assert "leads out of the project" in prowess.err
    assert not prowess.lock.exists()
    assert not os.listdir(tmp_path / "outside")


def test_a_personal_target_follows_the_variable_that_moves_it(
    prowess: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    report = prowess.report("install", "../skills", "--skill", "*", "--scope", "personal", "--target", "claude-code")
    assert report["targets"][0]["path"] == str(tmp_path / "config/skills/alpha")


def test_two_agents_that_read_one_directory_share_the_copies(prowess: Commands) -> None:
    report = prowess.report("install", "../skills", "--skill", "alpha", "--target", "codex", "--target", "cursor")
    assert [one["state"] for one in report["targets"]] == ["placed", "placed"]
    assert prowess.report("install")["changed"] is False
    prowess.text("remove", "--target", "codex")
    assert (prowess.directory / ".agents/skills/alpha/SKILL.md").exists()


def test_an_unknown_target_in_a_lock_is_a_problem_and_the_others_are_served(prowess: Commands) -> None:
    prowess.text("install", "../skills", "--skill", "alpha", "--target", "claude-code")
    _replace_target(prowess, "claude-code", "agent-of-2030")
    report = prowess.report("install", code=exit_codes.FAILED)
    assert codes(report) == ["target_unknown"]
    assert report["problems"][0]["fix"] == "prowess remove --target agent-of-2030"
    prowess.text("remove", "--target", "agent-of-2030")
    assert prowess.report("install")["problems"] == []


def test_a_record_that_was_damaged_keeps_what_is_there(prowess: Commands, tmp_path: Path) -> None:
    prowess.text("install", "../skills", "--skill", "alpha", "--target", "claude-code")
    (states_of_project,) = os.listdir(os.path.join(prowess_home(), "states"))
    record = os.path.join(prowess_home(), "states", states_of_project, "targets.json")
    for damage in ("{", json.dumps([1]), json.dumps({"a": 1})):
        with open(record, "w", encoding="utf-8") as file:
            file.write(damage)
        write_skill(tmp_path / "skills" / "alpha", "1.1.0")
        report = prowess.report("install", "../skills", "--skill", "alpha", code=exit_codes.FAILED)
        assert codes(report) == ["drifted"]
        prowess.text("rollback", code=exit_codes.OK)


def _replace_target(prowess: Commands, old: str, new: str) -> None:
    from prowess.lockfile import LockedTarget, Lockfile, read_lock, render_lock

    lock = read_lock(str(prowess.lock))
    targets = tuple(LockedTarget(agent=new if one.agent == old else one.agent, mode=one.mode) for one in lock.targets)
    prowess.lock.write_bytes(render_lock(Lockfile(skills=lock.skills, targets=targets)))


@pytest.mark.parametrize("link", [".git", ".GIT/hooks", "inner/.git"])
def test_a_target_that_leads_into_the_repository_of_git_is_refused(prowess: Commands, link: str) -> None:
    (prowess.directory / link).mkdir(parents=True, exist_ok=True)
    (prowess.directory / ".claude").mkdir()
    (prowess.directory / ".claude" / "skills").symlink_to(prowess.directory / link)
    before = sorted((prowess.directory / link).iterdir())
    prowess.text("install", "../skills", "--skill", "*", "--target", "claude-code", code=exit_codes.FAILED)
    assert "leads into the repository of git" in prowess.err
    prowess.lock.write_bytes(render_lock(Lockfile(targets=(LockedTarget(agent="claude-code"),))))  # of somebody else
    prowess.text("install", "../skills", "--skill", "*", code=exit_codes.FAILED)
    assert sorted((prowess.directory / link).iterdir()) == before


def test_nothing_is_removed_from_a_directory_to_which_a_target_was_turned(tmp_path: Path, prowess: Commands) -> None:
    prowess.text("install", "../skills", "--skill", "*", "--target", "claude-code")
    os.rename(prowess.directory / ".claude", tmp_path / "personal")
    (prowess.directory / ".claude").symlink_to(tmp_path / "personal")
    kept = sorted((tmp_path / "personal").rglob("*"))
    prowess.text("remove", "--target", "claude-code")
    assert sorted((tmp_path / "personal").rglob("*")) == kept
