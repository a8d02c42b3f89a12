"""A project's skills wait for a person; every doubt means no."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from prowess.catalog import Catalog, TrustStore
from prowess.errors import SkillNotFoundError
from tests.catalog.making import names, write_skill

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    write_skill(root / ".prowess" / "skills" / "theirs")
    write_skill(root / ".claude" / "skills" / "more")
    return root


@pytest.mark.proves("client.discovery.trust")
def test_skills_of_an_untrusted_project_are_held_back_with_one_notice(project: Path) -> None:
    catalog = Catalog.discover(cwd=project)
    assert catalog.all_entries() == ()
    (notice,) = catalog.notices
    assert notice.code == "project_untrusted"
    assert "2 skills" in notice.message
    assert f"prowess trust {project}" in notice.message
    with pytest.raises(SkillNotFoundError) as absent:
        catalog.get("theirs")
    assert "not trusted" in (absent.value.reason or "")
    found = catalog.why("theirs")
    assert found.winner is None
    assert [(copy.state, copy.rule, copy.advice) for copy in found.copies] == [
        ("held_back", "catalog.trust", f"prowess trust {project}")
    ]


@pytest.mark.proves("governance.layers.project.shared")
def test_a_trusted_project_offers_its_skills_at_the_next_refresh(project: Path) -> None:
    catalog = Catalog.discover(cwd=project)
    assert names(catalog.entries()) == []
    before = catalog.generation
    TrustStore().trust(str(project))
    catalog.refresh()
    assert names(catalog.entries()) == ["more", "theirs"]
    assert catalog.notices == ()
    assert catalog.generation > before
    TrustStore().revoke(str(project))
    catalog.refresh()
    assert catalog.entries() == ()


def test_trust_for_one_catalog_leaves_no_trace(project: Path) -> None:
    assert names(Catalog.discover(cwd=project, trust_project=True).entries()) == ["more", "theirs"]
    assert Catalog.discover(cwd=project).entries() == ()
    assert not os.path.exists(TrustStore().path)


def test_a_named_root_is_trusted_by_being_named(project: Path) -> None:
    assert names(Catalog(project / ".prowess" / "skills").entries()) == ["theirs"]


def test_a_skill_that_is_also_personal_is_not_held_back(project: Path, own_home: Path) -> None:
    (own_home / ".prowess").mkdir()
    (own_home / ".prowess" / "skills").symlink_to(project / ".prowess" / "skills")
    catalog = Catalog.discover(cwd=project)
    assert names(catalog.entries()) == ["theirs"]
    assert "1 skill of" in catalog.notices[0].message


def test_a_project_with_nothing_to_hold_back_gives_no_notice(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert Catalog.discover(cwd=tmp_path).notices == ()


def test_many_held_back_names_are_counted_and_some_shown(project: Path) -> None:
    for number in range(10):
        write_skill(project / ".prowess" / "skills" / f"s{number}")
    (notice,) = Catalog.discover(cwd=project).notices
    assert "12 skills" in notice.message
    assert "and 7 more" in notice.message


def test_a_repository_cannot_trust_itself(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = {"version": 1, "trusted": [{"path": str(project), "since": "2026-01-01T00:00:00+00:00"}]}
    (project / "trust.json").write_text(json.dumps(store))
    (project / ".prowess" / "trust.json").write_text(json.dumps(store))
    monkeypatch.chdir(project)
    assert Catalog.discover().entries() == ()


def test_trust_counts_for_the_real_path_alone(project: Path, tmp_path: Path) -> None:
    store = TrustStore()
    (tmp_path / "link").symlink_to(project)
    assert store.trust(str(tmp_path / "link")) == str(project)
    assert store.is_trusted(str(project))
    assert store.is_trusted(str(tmp_path / "link"))
    assert not store.is_trusted(str(tmp_path))
    assert not store.is_trusted(str(project / ".prowess"))
    (tmp_path / "link").unlink()
    (tmp_path / "other").mkdir()
    (tmp_path / "link").symlink_to("other")
    assert not store.is_trusted(str(tmp_path / "link"))


def test_the_store_is_private_and_lies_outside_the_project(project: Path, own_home: Path) -> None:
    store = TrustStore()
    store.trust(str(project))
    assert store.path == str(own_home / ".prowess" / "trust.json")
    assert stat.S_IMODE(os.stat(store.path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(own_home / ".prowess").st_mode) == 0o700


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"version": 2, "trusted": []}',
        b'{"version": 1}',
        b'{"version": 1, "trusted": [{"path": "/x"}]}',
        b'{"version": 1, "trusted": [{"path": 1, "since": "x"}]}',
        b'{"version": 1, "trusted": {"path": "/x"}}',
        b"[" * 100_000,
    ],
)
@pytest.mark.proves("client.discovery.trust-store")
def test_a_damaged_store_means_no_trust_one_notice_and_no_change(project: Path, content: bytes) -> None:
    store = TrustStore()
    store.trust(str(project))
    with open(store.path, "wb") as file:
        file.write(content)
    catalog = Catalog.discover(cwd=project)
    assert catalog.entries() == ()
    assert [notice.code for notice in catalog.notices] == ["trust_unreadable", "project_untrusted"]
    assert not store.is_trusted(str(project))
    assert store.listed() == ()
    with pytest.raises(OSError, match="repair or remove it"):
        store.trust(str(project))
    with pytest.raises(OSError, match="repair or remove it"):
        store.revoke(str(project))
    with open(store.path, "rb") as file:
        assert file.read() == content


def test_a_store_that_others_could_have_written_is_not_believed(project: Path, tmp_path: Path) -> None:
    store = TrustStore()
    store.trust(str(project))
    for mode in (0o666, 0o660, 0o620, 0o602):
        os.chmod(store.path, mode)
        assert not store.is_trusted(str(project))
        assert "others can write it" in (store.problem or "")
        assert Catalog.discover(cwd=project).entries() == ()
        with pytest.raises(OSError, match="others can write it"):
            store.trust(str(project))
    os.chmod(store.path, 0o644)  # to read is no harm
    assert store.is_trusted(str(project))
    os.chmod(store.path, 0o600)
    assert TrustStore().problem is None
    if os.getuid() == 0:
        os.chown(store.path, 12345, -1)
        assert "belongs to user 12345" in (store.problem or "")
    os.unlink(store.path)
    os.mkdir(store.path)
    assert store.problem is not None
    os.rmdir(store.path)
    os.mkfifo(store.path, 0o600)
    assert "not a regular file" in (store.problem or "")
    os.unlink(store.path)
    (tmp_path / "file").write_text("x")
    assert TrustStore(str(tmp_path / "file" / "trust.json")).problem is not None


def test_another_directory_in_the_place_of_a_trusted_one_is_not_trusted(tmp_path: Path) -> None:
    store = TrustStore(str(tmp_path / "trust.json"))
    project = tmp_path / "project"
    project.mkdir()
    store.trust(str(project))
    assert store.is_trusted(str(project))
    project.rename(tmp_path / "moved")
    assert not store.is_trusted(str(project))
    project.mkdir()
    assert not store.is_trusted(str(project))
    store.trust(str(project))
    assert store.is_trusted(str(project))


def test_a_row_without_an_inode_is_about_the_path(tmp_path: Path) -> None:
    path = tmp_path / "trust.json"
    row = {"path": os.path.realpath(tmp_path), "since": "2026-01-01T00:00:00+00:00"}
    path.write_text(json.dumps({"version": 1, "trusted": [row]}))
    path.chmod(0o600)
    assert TrustStore(str(path)).is_trusted(str(tmp_path))
    path.write_text(json.dumps({"version": 1, "trusted": [{**row, "inode": "x"}]}))
    assert not TrustStore(str(path)).is_trusted(str(tmp_path))


def test_a_store_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "trust.json"
    path.touch(0o600)
    os.truncate(path, 5 * 1024 * 1024)
    assert "too large" in (TrustStore(str(path)).problem or "")


def test_only_a_directory_can_be_trusted(tmp_path: Path) -> None:
    with pytest.raises(NotADirectoryError):
        TrustStore().trust(str(tmp_path / "none"))


def test_trust_can_be_taken_back_from_a_project_that_is_gone(tmp_path: Path) -> None:
    store = TrustStore()
    assert store.revoke(str(tmp_path)) is False
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    store.trust(str(tmp_path / "a"))
    store.trust(str(tmp_path / "b"))
    store.trust(str(tmp_path / "b"))
    assert store.listed() == (str(tmp_path / "a"), str(tmp_path / "b"))
    (tmp_path / "a").rmdir()
    assert store.revoke(str(tmp_path / "a")) is True
    assert store.revoke(str(tmp_path / "a")) is False
    assert store.listed() == (str(tmp_path / "b"),)


def test_processes_that_decide_at_once_lose_nothing(tmp_path: Path) -> None:
    directories = [tmp_path / f"p{number}" for number in range(12)]
    for directory in directories:
        directory.mkdir()
    program = (
        "import sys; from prowess.catalog.trust import TrustStore; [TrustStore().trust(path) for path in sys.argv[1:]]"
    )

    def decide(part: int) -> None:
        paths = [str(path) for path in directories[part::3]]
        subprocess.run([sys.executable, "-c", program, *paths], check=True, timeout=30)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(decide, range(3)))
    assert TrustStore().listed() == tuple(sorted(str(path) for path in directories))
