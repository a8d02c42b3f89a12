"""What a stranger laid in the way makes no project, and cannot be trusted by mistake."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from prowess.catalog import Catalog
from prowess.catalog.ownership import project_root, stranger, stranger_in_project
from prowess.catalog.trust import TrustStore
from tests.catalog.making import finding, names, write_skill

if TYPE_CHECKING:
    from pathlib import Path

SOMEBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    write_skill(root / ".claude" / "skills" / "one")
    (root / "work").mkdir()
    return root


def _give(path: Path) -> None:
    os.chown(path, SOMEBODY, SOMEBODY)


@as_root
def test_a_repository_of_another_user_above_makes_no_project(project: Path) -> None:
    assert project_root(str(project / "work")) == str(project)
    _give(project / ".git")
    assert project_root(str(project / "work")) == str(project / "work")
    assert Catalog.discover(cwd=project / "work", trust_project=True, enterprise_root="/nonexistent").entries() == ()


@pytest.mark.parametrize("mode", [0o777, 0o1777])
def test_a_repository_in_a_directory_that_everybody_can_write_to_makes_no_project(project: Path, mode: int) -> None:
    project.chmod(mode)
    assert project_root(str(project / "work")) == str(project / "work")


def test_further_up_ones_own_repository_is_found_past_it(tmp_path: Path, project: Path) -> None:
    (tmp_path / ".git").mkdir()
    project.chmod(0o777)
    assert project_root(str(project / "work")) == str(tmp_path)


@as_root
@pytest.mark.parametrize("place", ["", ".git", ".claude", ".claude/skills", ".claude/skills/one"])
@pytest.mark.parametrize("how", ["owner", "mode"])
def test_a_project_that_a_stranger_could_change_cannot_be_trusted(project: Path, place: str, how: str) -> None:
    weak = project / place
    if how == "owner":
        _give(weak)
    else:
        weak.chmod(0o777)
    store = TrustStore()
    with pytest.raises(PermissionError, match="cannot be trusted") as caught:
        store.trust(str(project))
    assert str(weak) in str(caught.value)
    assert store.listed() == ()


@as_root
def test_a_trusted_project_that_a_stranger_can_change_since_is_held_back(project: Path) -> None:
    TrustStore().trust(str(project))
    catalog = Catalog.discover(cwd=project, enterprise_root="/nonexistent")
    assert names(catalog.entries()) == ["one"]
    _give(project / ".claude" / "skills" / "one")
    catalog.refresh()
    assert catalog.entries() == ()
    assert "belongs to another user" in catalog.notices[0].message


@as_root
def test_a_folder_of_a_stranger_further_down_in_a_trusted_project_is_left_out(project: Path) -> None:
    TrustStore().trust(str(project))
    write_skill(project / "work" / ".agents" / "skills" / "two")
    _give(project / "work" / ".agents" / "skills")
    catalog = Catalog.discover(cwd=project / "work", enterprise_root="/nonexistent")
    assert names(catalog.entries()) == ["one"]
    assert "belongs to another user" in finding(catalog, "catalog.stranger").message
    asked_for = Catalog.discover(cwd=project / "work", trust_project=True, enterprise_root="/nonexistent")
    assert names(asked_for.entries()) == ["one", "two"]


@as_root
def test_of_a_link_both_ends_count(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    (tmp_path / "link").symlink_to("target")
    assert stranger(str(tmp_path / "link")) is None
    _give(tmp_path / "target")
    assert "belongs to another user" in str(stranger(str(tmp_path / "link")))
    os.chown(tmp_path / "target", 0, 0)
    os.chown(tmp_path / "link", SOMEBODY, SOMEBODY, follow_symlinks=False)
    assert "belongs to another user" in str(stranger(str(tmp_path / "link")))


def test_a_group_that_may_write_was_chosen(project: Path) -> None:
    project.chmod(0o775)
    assert stranger_in_project(str(project)) is None


def test_a_folder_that_cannot_be_read_is_not_believed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> list[str]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "listdir", refuse)
    assert "cannot be read (Permission denied)" in str(stranger_in_project(str(project)))


def test_where_there_are_no_owners_nobody_is_a_stranger(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project.chmod(0o777)
    monkeypatch.delattr(os, "geteuid")
    assert stranger(str(project)) is None
