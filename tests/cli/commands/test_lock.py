"""`prowess lock` as people and pipelines call it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from prowess.cli.dispatch import run
from prowess.lockfile import LockedTarget, Lockfile, parse_lock, render_lock, write_lock
from tests.distribution.locks.repositories import LOCK, Repository
from tests.lockfile.locks import skill

if TYPE_CHECKING:
    from pathlib import Path

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    return tmp_path


def test_check_reads_the_lock_at_the_root_of_the_project(project: Path, capsys: Capture) -> None:
    write_lock(str(project / LOCK), Lockfile(skills=(skill("a"),), targets=(LockedTarget(agent="codex"),)))
    assert run(["lock", "check"]) == 0
    assert capsys.readouterr().out == f"{project / LOCK}: 1 skill, 1 target, all requirements fit\n"
    assert run(["lock", "check", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "lock": str(project / LOCK),
        "skills": 1,
        "targets": 1,
        "problems": [],
        "mended": None,
    }


def test_check_fails_for_a_change_by_hand_a_missing_lock_and_a_demand_that_nothing_fits(
    project: Path, capsys: Capture
) -> None:
    lock = project / LOCK
    assert run(["lock", "check", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["problems"][0]["code"] == "lock_missing"
    write_lock(str(lock), Lockfile(skills=(skill("a", requires=("b@^2",)), skill("b", "1.0.0"))))
    assert run(["lock", "check", str(lock)]) == 1
    assert "error: skill 'a' requires b@^2, but the lock has 1.0.0; run `prowess lock`" in capsys.readouterr().err
    text = lock.read_bytes().replace(b"1.0.0", b"1.0.1", 1)
    lock.write_bytes(text)
    assert run(["lock", "check"]) == 1
    assert f"{lock}:11:1: the block that ends here was changed" in capsys.readouterr().err
    assert lock.read_bytes() == text


def test_the_personal_lock_is_in_the_home(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setenv("PROWESS_HOME", str(project / "home"))
    (project / "home").mkdir()
    write_lock(str(project / "home" / LOCK), Lockfile())
    assert run(["lock", "check", "--scope", "personal", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["lock"] == str(project / "home" / LOCK)


def test_a_conflict_is_mended_and_what_does_not_fit_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    base = Lockfile(skills=(skill("a", "1.0.0", requires=("b@^1",)), skill("b", "1.0.0")))
    newer = Lockfile(skills=(base.skills[0], skill("b", "2.0.0")))
    newest = Lockfile(skills=(base.skills[0], skill("b", "2.1.0")))
    repository = Repository(tmp_path / "r", base, {"newer": newer, "newest": newest})
    monkeypatch.chdir(repository.root)
    repository.git("merge", "-q", "newer")
    repository.git("merge", "newest", fails=True)
    assert run(["lock", "check"]) == 1
    assert "run `prowess lock`" in capsys.readouterr().err
    assert run(["lock"]) == 4  # the sources of these skills do not exist
    out, err = capsys.readouterr()
    assert "merged from git's three stages: 2 skills" in out
    assert "skill 'a' requires b@^1, but the lock has 2.1.0" in err
    assert parse_lock(repository.text) == newest


def test_merge_writes_to_ours_and_reports_what_does_not_fit(tmp_path: Path, capsys: Capture) -> None:
    base, ours, theirs = (str(tmp_path / name) for name in ("base", "ours", "theirs"))
    (tmp_path / "base").touch()  # what git passes if both sides added the file
    write_lock(ours, Lockfile(skills=(skill("a", requires=("b@^1",)),)))
    write_lock(theirs, Lockfile(skills=(skill("b", "2.0.0"),)))
    (tmp_path / "ours").chmod(0o640)
    assert run(["lock", "merge", base, ours, theirs]) == 0
    assert "skill 'a' requires b@^1, but the lock has 2.0.0; run `prowess lock`" in capsys.readouterr().err
    assert [one.name for one in parse_lock((tmp_path / "ours").read_bytes()).skills] == ["a", "b"]
    assert (tmp_path / "ours").stat().st_mode & 0o777 == 0o640
    before = (tmp_path / "ours").read_bytes()
    (tmp_path / "theirs").write_bytes(render_lock(Lockfile())[:-3])
    assert run(["lock", "merge", base, ours, theirs]) == 1
    assert (tmp_path / "ours").read_bytes() == before
    assert run(["lock", "merge", base, ours, str(tmp_path / "none")]) == 1


def test_setup_git_names_the_command_that_git_will_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    repository = Repository(tmp_path / "r", Lockfile(), {})
    monkeypatch.chdir(repository.root)
    assert run(["lock", "setup-git", "--json"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert done["repository"] == str(repository.root)
    assert repository.git("config", "merge.prowess-lock.driver").strip() == done["driver"]
    assert run(["lock", "setup-git"]) == 0
    assert "already merges prowess.lock with" in capsys.readouterr().out
