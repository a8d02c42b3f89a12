"""Two installers at once, a full disk, a home that cannot be written: one sentence, and nothing is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from prowess._internal.places import prowess_home
from prowess.cli import exit_codes
from prowess.distribution.installation.disk.staging import Stage
from prowess.distribution.installation.disk.store import SkillStore
from prowess.distribution.sources import Access, open_source, parse_reference
from prowess.errors import IntegrityError
from tests.distribution.installation.projects import Commands, codes, make_project, snapshot, write_skill

if TYPE_CHECKING:
    from collections.abc import Iterator


_SKILLS = tuple(f"skill-{number}" for number in range(6))


@pytest.fixture
def prowess(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Commands:
    monkeypatch.delenv("CI", raising=False)
    return Commands(make_project(tmp_path, *_SKILLS), monkeypatch, capfd)


def _process(arguments: tuple[str, ...], directory: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("prowess")), *arguments]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False, timeout=120)


def test_installers_at_once_lose_nothing(prowess: Commands) -> None:
    given = [("install", "../skills", "--skill", name, "--target", "claude-code") for name in _SKILLS]
    with ThreadPoolExecutor(len(given)) as pool:
        ran = list(pool.map(lambda arguments: _process(arguments, prowess.directory), given))
    assert [one.stderr for one in ran if one.returncode] == []
    assert set(prowess.installed()) == set(_SKILLS)
    report = prowess.report("install")
    assert (report["changed"], {target["state"] for target in report["targets"]}) == (False, {"current"})
    assert sorted(os.listdir(prowess.directory / ".claude/skills")) == sorted(_SKILLS)
    assert not os.path.exists(os.path.join(prowess_home(), "stage"))
    with ThreadPoolExecutor(len(given)) as pool:
        ran = list(pool.map(lambda name: _process(("remove", name), prowess.directory), _SKILLS))
    assert [one.stderr for one in ran if one.returncode] == []
    assert prowess.installed() == {}
    assert [one["number"] for one in prowess.report("rollback", "--list")["states"]] == [*range(2 * len(_SKILLS) + 1)]


def test_installers_with_two_homes_share_a_project(prowess: Commands, tmp_path: Path) -> None:
    def install(name: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PROWESS_HOME": str(tmp_path / f"home-{name}")}
        command = [str(Path(sys.executable).with_name("prowess")), "install", "../skills", "--skill", name]
        return subprocess.run(
            command, cwd=prowess.directory, env=environment, capture_output=True, text=True, check=False, timeout=120
        )

    with ThreadPoolExecutor(len(_SKILLS)) as pool:
        ran = list(pool.map(install, _SKILLS))
    assert [one.stderr for one in ran if one.returncode] == []
    prowess.text("install")
    assert set(prowess.installed()) == set(_SKILLS)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KiB."""
    place = tmp_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k,nr_inodes=200", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False, timeout=30).returncode:
        pytest.skip("file systems cannot be mounted here")
    yield place
    os.chdir("/")
    subprocess.run(["umount", str(place)], check=True, timeout=30)


def test_a_full_disk_of_the_home_changes_nothing(
    prowess: Commands, small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROWESS_HOME", str(small_disk / "home"))
    prowess.text("install", "../skills", "--skill", "skill-0", "--target", "claude-code")
    lock = prowess.lock.read_bytes()
    write_skill(tmp_path / "skills" / "skill-1", body="x" * 300_000)
    prowess.text("install", "../skills", "--skill", "skill-1", code=exit_codes.UNAVAILABLE)
    assert prowess.err.count("\n") == 1
    assert "No space left on device; nothing was changed" in prowess.err
    assert prowess.lock.read_bytes() == lock
    with open(small_disk / "filler", "wb") as filler:
        filler.truncate(0)
        while _written(filler.fileno()):
            pass
    for given in (("install", "../skills", "--skill", "skill-2"), ("remove", "skill-0"), ("rollback", "0")):
        prowess.text(*given, code=exit_codes.UNAVAILABLE)
        assert "No space left on device" in prowess.err
        assert prowess.lock.read_bytes() == lock
    assert prowess.report("install", "--frozen")["changed"] is False
    os.unlink(small_disk / "filler")
    prowess.text("install", "../skills", "--skill", "skill-2")
    assert set(prowess.installed()) == {"skill-0", "skill-2"}
    assert not (small_disk / "home" / "stage").exists()


def _written(descriptor: int) -> bool:
    try:
        os.write(descriptor, b"x" * 4096)
    except OSError:
        return False
    return True


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
    command = ["mount", "--bind", str(home), str(home)]
    os.environ["PROWESS_HOME"] = str(home)
    prowess.text("install", "../skills", "--skill", "skill-0", "--target", "claude-code")
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False, timeout=30).returncode:
        pytest.skip("file systems cannot be mounted here")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(home)], check=True, timeout=30)
        before = snapshot(tmp_path)
        for given in (("install", "../skills", "--skill", "skill-1"), ("remove", "skill-0"), ("store", "prune")):
            prowess.text(*given, code=exit_codes.UNAVAILABLE)
            assert prowess.err.count("\n") == 1
            assert f"error: store {home}: " in prowess.err
            assert "Read-only file system; nothing was changed" in prowess.err
        for frozen in ((), ("--frozen",)):
            assert prowess.report("install", *frozen)["changed"] is False
        assert snapshot(tmp_path) == before
    finally:
        subprocess.run(["umount", str(home)], check=True, timeout=30)


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
        assert prowess.err.endswith("; nothing was changed\n")
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
