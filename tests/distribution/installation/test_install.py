"""`prowess install`, `add`, `remove`, `rollback` and `store prune` with skills from a directory."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from prowess._internal.places import prowess_home
from prowess.cli import exit_codes
from prowess.lockfile import Lockfile, read_lock
from prowess.lockfile.places import write_lock
from tests.disk_steps import needs_proc, record_steps, steps_around
from tests.distribution.installation.projects import Commands, actions, codes, make_project, snapshot, write_skill

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def prowess(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Commands:
    monkeypatch.delenv("CI", raising=False)
    return Commands(make_project(tmp_path, "alpha", "beta"), monkeypatch, capfd)


def test_the_only_skill_of_a_source_is_installed_and_locked(prowess: Commands, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "skills" / "beta")
    report = prowess.report("install", "../skills")
    assert set(report) == {"scope", "lock", "changed", "contacted", "skills", "targets", "problems"}
    assert (report["scope"], report["lock"], report["changed"]) == ("project", str(prowess.lock), True)
    assert (report["contacted"], report["targets"], report["problems"]) == ([], [], [])
    (skill,) = report["skills"]
    assert set(skill) == {"name", "package", "version", "source", "tree", "action", "status", "signer"}
    assert (skill["name"], skill["version"], skill["source"]) == ("alpha", "1.0.0", "../skills")
    assert (skill["action"], skill["signer"]) == ("install", None)
    assert prowess.installed() == {"alpha": "1.0.0"}
    assert 'source = "../skills"' in prowess.lock.read_text(encoding="utf-8")


def test_several_skills_have_to_be_chosen(prowess: Commands) -> None:
    prowess.text("install", "../skills", code=exit_codes.USAGE)
    assert "has 2 skills: alpha, beta; name some with --skill, or all: --skill '*'" in prowess.err
    assert not prowess.lock.exists()
    assert prowess.report("install", "../skills", code=exit_codes.USAGE)["problems"]
    prowess.text("add", "../skills", "--skill", "beta")
    assert prowess.installed() == {"beta": "1.0.0"}
    assert actions(prowess.report("install", "../skills", "--skill", "*")) == {"alpha": "install", "beta": "keep"}
    prowess.text("install", "../skills", "--skill", "alhpa", code=exit_codes.FAILED)
    assert "has no skill 'alhpa'; did you mean 'alpha'?" in prowess.err


def test_two_sources_of_one_skill_and_package_are_refused(prowess: Commands, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "skills" / "beta")
    write_skill(tmp_path / "other" / "skills" / "alpha", body="Other.")
    prowess.text("install", "../skills", "../other/skills", code=exit_codes.FAILED)
    both = f"{tmp_path}/other/skills and {tmp_path}/skills"
    assert f"'alpha' of the package 'skills' is requested twice: {both}; a lock contains only one" in prowess.err
    assert not prowess.lock.exists()
    prowess.text("install", "../skills", "../skills")
    assert prowess.installed() == {"alpha": "1.0.0"}


def test_the_path_of_a_bare_repository_is_told_apart_from_a_directory(prowess: Commands, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", "--bare", str(tmp_path / "bare")], check=True)
    prowess.text("install", "../bare", code=exit_codes.FAILED)
    assert "bare has no skill; for a git repository, write git+file://PATH" in prowess.err


def test_what_is_stored_is_read_only_and_private(prowess: Commands) -> None:
    prowess.text("install", "../skills", "--skill", "alpha")
    for parent, directories, files in os.walk(os.path.join(prowess_home(), "store")):
        in_skill = "/sha256" in parent and os.path.basename(parent) in {"alpha", "scripts"}
        for name in (*directories, *files):
            mode = stat.S_IMODE(os.lstat(os.path.join(parent, name)).st_mode)
            assert not mode & 0o077
            assert not (in_skill and mode & 0o222)


@needs_proc
def test_a_lock_is_on_the_disk_before_it_replaces_the_old_one_and_its_name_after(
    prowess: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = record_steps(monkeypatch)
    prowess.text("install", "../skills", "--skill", "alpha")
    assert steps_around(steps, str(prowess.lock)) == (True, True)


def test_without_source_what_the_lock_names_is_fetched_and_checked(prowess: Commands, tmp_path: Path) -> None:
    prowess.text("install", "../skills", "--skill", "*")
    text = prowess.lock.read_bytes()
    _remove(os.path.join(prowess_home(), "store"))
    assert actions(prowess.report("install", "--frozen")) == {"alpha": "install", "beta": "install"}
    assert prowess.lock.read_bytes() == text
    _remove(os.path.join(prowess_home(), "store"))
    write_skill(tmp_path / "skills" / "beta", "1.0.0", body="Something else.\n")
    assert codes(prowess.report("install", code=exit_codes.FAILED)) == ["digest_changed"]
    assert "skill 'beta' of ../skills has the digest sha256:" in prowess.err
    assert not os.path.exists(os.path.join(prowess_home(), "store"))
    shutil.rmtree(tmp_path / "skills")
    report = prowess.report("install", code=exit_codes.UNAVAILABLE)
    assert codes(report) == ["unavailable"]
    assert "the lock names ../skills for alpha: put it there, or use a mirror with --from DIR" in prowess.err
    assert prowess.lock.read_bytes() == text


def test_a_damaged_file_in_the_store_is_replaced(prowess: Commands) -> None:
    (skill,) = prowess.report("install", "../skills", "--skill", "alpha")["skills"]
    file = os.path.join(prowess_home(), "store", skill["tree"], "alpha", "SKILL.md")
    os.chmod(file, 0o600)
    with open(file, "ab") as stored:
        stored.write(b"!")
    assert actions(prowess.report("install")) == {"alpha": "install"}
    assert prowess.installed() == {"alpha": "1.0.0"}
    assert actions(prowess.report("install")) == {"alpha": "keep"}


def test_a_hundred_installs_with_nothing_to_do_change_no_byte(prowess: Commands, tmp_path: Path) -> None:
    prowess.text("install", "../skills", "--skill", "*", "--target", "claude-code", "--target", "codex=link")
    before = snapshot(tmp_path)
    home = snapshot(*_home())
    for number in range(100):
        given = [("install",), ("install", "--frozen"), ("install", "--target", "claude-code")][number % 3]
        assert prowess.report(*given)["changed"] is False
    assert snapshot(tmp_path) == before
    assert snapshot(*_home()) == home


def test_frozen_changes_no_lock(prowess: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    assert codes(prowess.report("install", "--frozen", code=exit_codes.FAILED)) == ["lock_outdated"]
    prowess.text("install", "../skills", "--skill", "alpha")
    before = prowess.lock.read_bytes()
    for given in (
        ("../skills", "--skill", "beta"),
        ("../other",),
        ("--target", "claude-code"),
    ):
        prowess.text("install", "--frozen", *given, code=exit_codes.FAILED)
        assert prowess.err.startswith("--frozen: ")
    monkeypatch.setenv("CI", "true")
    prowess.text("install", "../skills", "--skill", "beta", code=exit_codes.FAILED)
    assert prowess.lock.read_bytes() == before
    prowess.text("install", "../skills", "--skill", "alpha")
    prowess.text("install", "../skills", "--skill", "beta", "--no-frozen")
    assert prowess.installed() == {"alpha": "1.0.0", "beta": "1.0.0"}


def test_a_dry_run_writes_nothing(prowess: Commands, tmp_path: Path) -> None:
    before = snapshot(tmp_path)
    report = prowess.report("install", "../skills", "--skill", "alpha", "--target", "claude-code", "--dry-run")
    assert (report["changed"], actions(report)) == (True, {"alpha": "install"})
    assert snapshot(tmp_path) == before
    assert "Would install alpha 1.0.0" in prowess.text("install", "../skills", "--skill", "alpha", "--dry-run")


def test_installing_again_takes_the_new_version(prowess: Commands, tmp_path: Path) -> None:
    prowess.text("install", "../skills", "--skill", "*")
    write_skill(tmp_path / "skills" / "beta", "1.1.0")
    assert actions(prowess.report("install")) == {"alpha": "keep", "beta": "keep"}
    assert "Updated beta 1.1.0" in prowess.text("install", "../skills", "--skill", "beta")
    assert prowess.installed() == {"alpha": "1.0.0", "beta": "1.1.0"}
    assert "order = 2" in prowess.lock.read_text(encoding="utf-8").split("[[skill]]")[2]


def test_a_personal_lock_is_in_the_home(prowess: Commands) -> None:
    report = prowess.report("install", "../skills", "--skill", "alpha", "--scope", "personal")
    assert report["lock"] == os.path.join(prowess_home(), "prowess.lock")
    assert stat.S_IMODE(os.stat(report["lock"]).st_mode) == 0o600
    assert not prowess.lock.exists()
    assert actions(prowess.report("remove", "alpha", "--scope", "personal")) == {"alpha": "remove"}


def test_only_installed_names_are_removed(prowess: Commands) -> None:
    prowess.text("install", "../skills", "--skill", "*")
    before = prowess.lock.read_bytes()
    for name in ("../skills", "gamma", "alpha@elsewhere", "./alpha"):
        prowess.text("remove", name, code=exit_codes.FAILED)
        assert f"{name!r} is not installed" in prowess.err
    assert prowess.lock.read_bytes() == before
    assert "Removed alpha 1.0.0" in prowess.text("remove", "alpha@skills")
    assert prowess.installed() == {"beta": "1.0.0"}
    prowess.text("remove", code=exit_codes.USAGE)


def test_rollback_goes_through_numbered_states_offline(prowess: Commands, tmp_path: Path) -> None:
    prowess.text("rollback", code=exit_codes.FAILED)
    assert "there is no earlier state" in prowess.err
    prowess.text("install", "../skills", "--skill", "alpha")
    write_skill(tmp_path / "skills" / "alpha", "2.0.0")
    prowess.text("install", "../skills", "--skill", "alpha", "--accept", "major")
    prowess.text("install", "../skills", "--skill", "beta")
    shutil.rmtree(tmp_path / "skills")
    assert [(one["number"], one["present"]) for one in prowess.report("rollback", "--list")["states"]] == [
        (0, False),
        (1, False),
        (2, False),
        (3, True),
    ]
    assert actions(prowess.report("rollback")) == {"alpha": "keep", "beta": "remove"}
    assert prowess.installed() == {"alpha": "2.0.0"}
    prowess.text("rollback")
    assert prowess.installed() == {"alpha": "1.0.0"}
    assert "*   1  alpha 1.0.0" in prowess.text("rollback", "--list")
    prowess.text("rollback", "3")
    assert prowess.installed() == {"alpha": "2.0.0", "beta": "1.0.0"}
    prowess.text("rollback", "0")
    assert prowess.installed() == {}
    prowess.text("rollback", "9", code=exit_codes.FAILED)
    assert "there is no state 9" in prowess.err
    prowess.text("rollback", code=exit_codes.FAILED)
    assert "state 0 is the first one; `prowess rollback --list` shows the later ones" in prowess.err
    prowess.text("rollback", "3")
    prowess.text("install", "--target", "claude-code")
    assert "*   4  alpha 2.0.0, beta 1.0.0; for claude-code=copy" in prowess.text("rollback", "--list")


def test_a_change_after_a_rollback_can_be_undone(prowess: Commands) -> None:
    prowess.text("install", "../skills", "--skill", "alpha")
    prowess.text("install", "../skills", "--skill", "beta")
    prowess.text("rollback")
    prowess.text("remove", "alpha")
    prowess.text("rollback")
    assert prowess.installed() == {"alpha": "1.0.0"}


def test_prune_removes_what_no_state_names(prowess: Commands, tmp_path: Path) -> None:
    prowess.text("install", "../skills", "--skill", "*")
    write_skill(tmp_path / "skills" / "alpha", "2.0.0")
    prowess.text("install", "../skills", "--skill", "alpha", "--accept", "major")
    assert prowess.report("store", "prune") == {"removed": [], "states": 0, "bytes": 0}
    assert prowess.report("store", "prune", "--keep", "3")["states"] == 0  # there are fewer
    old = [tree for tree in os.listdir(os.path.join(prowess_home(), "store")) if tree not in prowess.lock.read_text()]
    planned = prowess.report("store", "prune", "--keep", "0", "--dry-run")
    assert planned["removed"] == old
    assert len(os.listdir(os.path.join(prowess_home(), "store"))) == 3
    assert prowess.report("store", "prune", "--keep", "0") == planned
    assert (len(planned["removed"]), planned["states"]) == (1, 2)
    assert len(os.listdir(os.path.join(prowess_home(), "store"))) == 2
    assert prowess.installed() == {"alpha": "2.0.0", "beta": "1.0.0"}
    assert prowess.report("install")["changed"] is False


def test_prune_removes_nothing_if_a_lock_cannot_be_read(prowess: Commands) -> None:
    prowess.text("install", "../skills", "--skill", "*")
    prowess.text("remove", "alpha")
    prowess.lock.write_text("<<<<<<< HEAD\n", encoding="utf-8")
    prowess.text("store", "prune", "--keep", "0", code=exit_codes.FAILED)
    assert len(os.listdir(os.path.join(prowess_home(), "store"))) == 2


def test_a_skill_that_nobody_asked_for_and_nothing_needed_stays(prowess: Commands) -> None:
    prowess.text("install", "../skills", "--skill", "*")
    lock = read_lock(str(prowess.lock))
    skills = tuple(replace(one, requested=None) if one.name == "alpha" else one for one in lock.skills)
    write_lock(str(prowess.lock), Lockfile(skills=skills))  # as other tools' locks are imported
    prowess.text("remove", "beta")
    assert prowess.installed() == {"alpha": "1.0.0"}


def test_a_lock_that_another_program_replaces_at_the_same_time_is_named(
    prowess: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    carried_out = os.replace

    def replaced(draft: str, path: str) -> None:
        carried_out(draft, path)
        if path == str(prowess.lock):
            prowess.lock.write_bytes(b"of another program")

    monkeypatch.setattr(os, "replace", replaced)
    prowess.text("install", "../skills", "--skill", "alpha", code=exit_codes.UNAVAILABLE)
    assert "another program changed it while it was being replaced; run this again" in prowess.err


def test_a_lock_that_was_changed_by_hand_is_never_overwritten(prowess: Commands) -> None:
    prowess.text("install", "../skills", "--skill", "alpha")
    edited = prowess.lock.read_text(encoding="utf-8").replace("1.0.0", "1.0.1")
    prowess.lock.write_text(edited, encoding="utf-8")
    for given in (("install",), ("install", "../skills", "--skill", "beta"), ("remove", "alpha"), ("rollback", "0")):
        prowess.text(*given, code=exit_codes.FAILED)
        assert "its seal does not fit" in prowess.err
    assert prowess.lock.read_text(encoding="utf-8") == edited


def _home() -> list[Path]:
    from pathlib import Path

    return [Path(prowess_home())]


def _remove(directory: str) -> None:
    for parent, _, _ in os.walk(directory):
        os.chmod(parent, 0o700)
    shutil.rmtree(directory)


def test_a_project_that_is_not_trusted_is_told_when_something_is_installed(prowess: Commands) -> None:
    prowess.text("install", "../skills", "--skill", "alpha")
    assert prowess.err == (
        f"the project is not trusted, so its skills are held back; run `prowess trust {prowess.directory}`\n"
    )
    prowess.text("install")
    assert prowess.err == ""
    prowess.text("trust", str(prowess.directory))
    prowess.text("install", "../skills", "--skill", "beta")
    assert prowess.err == ""
    assert "alpha" in prowess.text("list")


@pytest.mark.unmeasured  # coverage imports some of these modules
def test_an_installation_with_nothing_to_do_imports_nothing_of_sources_signatures_and_policies(
    prowess: Commands,
) -> None:
    prowess.text("install", "../skills", "--skill", "*", "--target", "claude-code")
    script = "import sys; from prowess.cli.dispatch import run; run(['install', '--frozen']); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert "nothing to do" in ran.stdout
    rooms = {"prowess.distribution.sources", "prowess.signing", "prowess.policy", "prowess.format.parsing"}
    libraries = {"anyio", "cryptography", "httpx2", "importlib.resources", "subprocess", "urllib.parse"}
    assert {*ran.stdout.split()} & (rooms | libraries) == set()


@pytest.mark.parametrize("version", ["1.0.0 ", "1.0.0\\u2028", "1.0.0\\ud800"])
def test_a_version_that_a_lock_cannot_have_is_refused_in_one_sentence(
    prowess: Commands, tmp_path: Path, version: str
) -> None:
    prowess.text("publish", "../skills/alpha", "--to", "../registry")
    index = tmp_path / "registry" / ".well-known" / "agent-skills" / "index.json"
    index.write_text(index.read_text("utf-8").replace('"version": "1.0.0"', f'"version": "{version}"'), "utf-8")
    prowess.text("install", "../registry", code=exit_codes.FAILED)
    assert "cannot be locked: version: " in prowess.err
    assert not prowess.lock.exists()
