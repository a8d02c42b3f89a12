"""A full disk, a home or a project that cannot be written: one sentence, and nothing is lost."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from prowess.distribution.installation.disk.staging import Stage
from prowess.distribution.installation.disk.store import SkillStore
from prowess.distribution.sources import Access, open_source
from prowess.errors import IntegrityError
from prowess.lockfile.source_reference import parse_reference
from tests.distribution.installation.projects import Commands, codes, make_project, snapshot, write_skill
from tests.distribution.small_disk import filled, read_only, small_disk
from tests.fork_server import run_at_once

if TYPE_CHECKING:
    from collections.abc import Iterator


_NOBODY = 65534
_SKILLS = tuple(f"skill-{number}" for number in range(6))


@pytest.fixture
def prowess(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Commands:
    monkeypatch.delenv("CI", raising=False)
    return Commands(make_project(tmp_path, *_SKILLS), monkeypatch, capfd)


@pytest.fixture(name="small_disk")
def _small_disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "small") as place:
        yield place


def test_a_full_disk_of_the_home_changes_nothing(
    prowess: Commands,
    small_disk: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PROWESS_HOME", str(small_disk / "home"))
    prowess.text("install", "../skills", "--skill", "skill-0", "--target", "claude-code")
    lock = prowess.lock.read_bytes()
    write_skill(tmp_path / "skills" / "skill-1", body="x" * 300_000)
    prowess.text("install", "../skills", "--skill", "skill-1", code=exit_codes.UNAVAILABLE)
    assert prowess.err.count("\n") == 1
    assert "No space left on device; nothing was changed" in prowess.err
    assert prowess.lock.read_bytes() == lock
    with filled(small_disk):
        assert prowess.report("install", "--frozen")["changed"] is False
    write_skill(tmp_path / "skills" / "skill-0", "1.1.0", script="print('skill-0')\n")
    for given in (
        ("install", "../skills", "--skill", "skill-2"),
        ("update",),
        ("remove", "skill-0"),
        ("rollback", "0"),
    ):
        for free in range(40):
            with filled(small_disk, free):
                code = run(list(given))
            err = capfd.readouterr().err
            if code == exit_codes.OK:
                break
            assert (err.count("\n"), "No space left on device" in err) == (1, True), err
            assert not (small_disk / "home" / "stage").exists()
            if prowess.lock.read_bytes() != lock:
                assert (code, "the next command tries again" in err) == (exit_codes.FAILED, True) or "was made" in err
                break
            assert (code, "nothing was changed; " in err) == (exit_codes.UNAVAILABLE, True), err
        assert free > 0
        prowess.text("install")
        lock = prowess.lock.read_bytes()
        assert set(os.listdir(prowess.directory / ".claude/skills")) == set(prowess.installed())
    assert prowess.installed() == {}


def test_a_full_disk_of_a_project_is_completed_later(prowess: Commands, small_disk: Path, tmp_path: Path) -> None:
    project = small_disk / "project"
    (project / ".git").mkdir(parents=True)
    os.chdir(project)
    source = str(tmp_path / "skills")
    prowess.text("install", source, "--skill", "skill-0")
    write_skill(tmp_path / "skills" / "skill-1", body="x" * 300_000)
    report = prowess.report("install", source, "--skill", "skill-1", "--target", "claude-code", code=exit_codes.FAILED)
    assert codes(report) == ["target_failed"]
    assert "No space left on device; the next command tries again" in report["problems"][0]["message"]
    assert not (project / ".prowess").exists()
    assert os.listdir(project / ".claude/skills") == ["skill-0"]
    write_skill(tmp_path / "skills" / "skill-1", body="short")
    prowess.text("install", source, "--skill", "skill-1")
    assert sorted(os.listdir(project / ".claude/skills")) == ["skill-0", "skill-1"]


def test_a_project_on_another_file_system_is_served_too(prowess: Commands, small_disk: Path, tmp_path: Path) -> None:
    project = small_disk / "project"
    (project / ".git").mkdir(parents=True)
    os.chdir(project)
    source = str(tmp_path / "skills")
    given = ("--target", "claude-code", "--target", "codex=link")
    prowess.text("install", source, "--skill", "skill-0", *given)
    write_skill(tmp_path / "skills" / "skill-0", "1.1.0")
    prowess.text("install", source, "--skill", "skill-0")
    for place in (".claude/skills", ".agents/skills"):
        assert '"1.1.0"' in (project / place / "skill-0/SKILL.md").read_text(encoding="utf-8")
    assert sorted(os.listdir(project)) == [".agents", ".claude", ".git", "prowess.lock"]
    (project / ".prowess.lock.draft").write_text("left by a killed command", encoding="utf-8")
    (project / ".prowess/target-stage/skill-0").mkdir(parents=True)
    prowess.text("install")
    assert sorted(os.listdir(project)) == [".agents", ".claude", ".git", "prowess.lock"]
    prowess.text("remove", "skill-0")
    assert not os.listdir(project / ".claude/skills")


def test_a_home_that_cannot_be_written_changes_nothing(prowess: Commands, tmp_path: Path) -> None:
    home = tmp_path / "home"
    os.environ["PROWESS_HOME"] = str(home)
    prowess.text("install", "../skills", "--skill", "skill-0", "--target", "claude-code")
    with read_only(home):
        before = snapshot(tmp_path)
        for given in (("install", "../skills", "--skill", "skill-1"), ("remove", "skill-0"), ("store", "prune")):
            prowess.text(*given, code=exit_codes.UNAVAILABLE)
            assert prowess.err.count("\n") == 1
            assert f"error: store {home}: " in prowess.err
            assert "Read-only file system; nothing was changed; make it writable" in prowess.err
        for frozen in ((), ("--frozen",)):
            assert prowess.report("install", *frozen)["changed"] is False
        assert snapshot(tmp_path) == before


def test_a_project_that_cannot_be_written_changes_nothing(prowess: Commands) -> None:
    prowess.text("install", "../skills", "--skill", "skill-0", "--target", "claude-code")
    before = snapshot(prowess.directory)
    with read_only(prowess.directory):
        given = (("install", "../skills", "--skill", "skill-1"), ("remove", "skill-0"), ("rollback", "0"))
        for command in given:
            prowess.text(*command, code=exit_codes.UNAVAILABLE)
            assert prowess.err.count("\n") == 1
            place = f"{prowess.directory}/.prowess.lock.draft"
            assert f"{place}: Read-only file system; nothing was changed; make it writable" in prowess.err
        assert prowess.report("install")["changed"] is False
        assert snapshot(prowess.directory) == before
    assert prowess.report("install")["changed"] is False
    prowess.text("remove", "skill-0")


def test_what_somebody_else_owns_is_named() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can be somebody else")
    with TemporaryDirectory() as above:  # others cannot enter the directories of pytest
        os.chmod(above, 0o755)
        Path(above, "project", ".git").mkdir(parents=True)
        write_skill(Path(above, "skills", "skill-0"))
        own = Path(above, "own")
        own.mkdir()
        os.chown(own, _NOBODY, _NOBODY)
        for home, path in (
            (f"{above}/missing/home", f"{above}/missing"),
            (str(own / "home"), f"{above}/project/prowess.lock"),
        ):
            ran = run_at_once(
                [(f"PROWESS_HOME={home}", "install", "../skills")], Path(above, "project"), os.environ, user=_NOBODY
            )[0]
            reason = f"{path}: Permission denied; nothing was changed; make it writable, then run this again\n"
            assert ran == (exit_codes.UNAVAILABLE, "", f"error: store {home}: {reason}")


def test_a_home_that_is_a_file_or_open_to_others_is_refused(
    prowess: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    for name, reason in (("file", "File exists"), ("file/below", "File exists"), ("open", "run `chmod 700")):
        monkeypatch.setenv("PROWESS_HOME", str(tmp_path / name))
        prowess.text("install", "../skills", "--skill", "skill-0", code=exit_codes.UNAVAILABLE)
        assert reason in prowess.err, prowess.err
        next_step = "" if name == "open" else "; choose another directory"
        assert prowess.err.endswith(f"; nothing was changed{next_step}\n")
        assert not prowess.lock.exists()


@pytest.mark.parametrize("is_damaged", [False, True])
def test_files_that_changed_between_writing_and_storing_are_not_left_in_the_store(
    tmp_path: Path, *, is_damaged: bool
) -> None:
    write_skill(tmp_path / "skills" / "pdf", script="print(1)\n")
    reference = parse_reference(str(tmp_path / "skills"))
    store = SkillStore(str(tmp_path / "home"))
    with Stage(store.home) as stage, open_source(reference, scratch=stage.directory(), access=Access()) as source:
        (offer,) = source.offers()
        skill = source.fetch(offer, stage.directory())
        if is_damaged:
            write_skill(Path(store.path(skill.tree, "pdf")))
        (Path(skill.directory) / "scripts" / "run.py").write_text("print(2)\n", "utf-8")
        with pytest.raises(IntegrityError):
            store.add(skill.directory, skill.manifest, "pdf", stage)
        assert not os.path.lexists(store.path(skill.tree, "pdf"))
        again = source.fetch(offer, stage.directory())
        store.add(again.directory, again.manifest, "pdf", stage)
    assert store.has(skill.tree, "pdf")
