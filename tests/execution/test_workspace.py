from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from prowess.execution.workspace import usable_workspace

if TYPE_CHECKING:
    from pathlib import Path


def test_an_ordinary_directory_is_used_by_its_real_path(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert usable_workspace(str(tmp_path / "link")) == (str((tmp_path / "real").resolve()), None)


def test_a_directory_beside_the_prowess_home_is_fine(own_home: Path) -> None:
    (own_home / "project").mkdir()
    assert usable_workspace(str(own_home / "project"))[1] is None
    (own_home / ".prowess-notes").mkdir()
    assert usable_workspace(str(own_home / ".prowess-notes"))[1] is None


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("/", "root of the file system"),
        ("{home}", "home directory"),
        ("{home}/..", "home directory"),
        ("{home}/link", "home directory"),
        ("{home}/.prowess", "Prowess itself"),
        ("{home}/.prowess/audit", "Prowess itself"),
        ("{home}/absent", "not a directory"),
    ],
)
def test_what_would_hand_over_too_much_is_refused_with_the_reason(own_home: Path, where: str, why: str) -> None:
    (own_home / ".prowess" / "audit").mkdir(parents=True)
    (own_home / "link").symlink_to(own_home)
    path, notice = usable_workspace(where.format(home=own_home))
    assert path is None
    assert notice is not None
    assert why in notice.message
    assert notice.code == "workspace_refused"


def test_a_directory_that_holds_a_moved_prowess_home_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROWESS_HOME", str(tmp_path / "a" / "state"))
    (tmp_path / "a").mkdir()
    assert usable_workspace(str(tmp_path / "a"))[0] is None


@pytest.mark.parametrize(
    "name", ["/etc", "/etc/ssl", "/proc", "/proc/self", "/sys", "/dev", "/run", "/usr", "/usr/bin", "/var/lib"]
)
def test_the_system_is_no_workspace_also_where_it_is_named(name: str) -> None:
    if not os.path.isdir(name):
        pytest.skip(f"no {name} here")
    path, notice = usable_workspace(name)
    assert path is None
    assert notice is not None
    assert "it belongs to the system" in notice.message


@pytest.mark.parametrize(
    "place", [".claude", ".claude/skills", ".claude/skills/one", ".agents/skills", ".cache", ".cache/prowess"]
)
def test_what_agents_obey_and_the_cache_of_stages_are_no_workspace(
    own_home: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.delenv("PROWESS_HOME")
    (own_home / place).mkdir(parents=True)
    assert usable_workspace(str(own_home / place))[0] is None


def test_a_directory_that_personal_skills_are_linked_to_is_no_workspace(own_home: Path) -> None:
    (own_home / "work" / "skills").mkdir(parents=True)
    (own_home / ".agents").mkdir()
    (own_home / ".agents" / "skills").symlink_to(own_home / "work" / "skills")
    assert usable_workspace(str(own_home / "work" / "skills"))[0] is None
    assert usable_workspace(str(own_home / "work"))[0] is None


def test_a_project_with_skills_of_its_own_is_a_workspace(own_home: Path) -> None:
    (own_home / "project" / ".claude" / "skills").mkdir(parents=True)
    assert usable_workspace(str(own_home / "project"))[1] is None
