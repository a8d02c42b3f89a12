"""The list of public skills, and the tool that turns it back into files."""

from __future__ import annotations

import json
import subprocess
import zipfile
from typing import TYPE_CHECKING

import pytest

from tools import public_skills

if TYPE_CHECKING:
    from pathlib import Path


def git(place: Path, *command: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.invalid", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, "-C", place, *command], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def checkouts(tmp_path: Path) -> Path:
    """One repository, `someone/skills`, with a skill that has a program and a link, and a copy of its SKILL.md."""
    place = tmp_path / "checkouts" / "someone" / "skills"
    skill = place / "skills" / "one"
    (skill / "scripts").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: one\ndescription: d\n---\n")
    (skill / "scripts" / "run.sh").write_text("#!/bin/sh\n")
    (skill / "scripts" / "run.sh").chmod(0o755)
    (skill / "same.md").symlink_to("SKILL.md")
    (place / "copy").mkdir()
    (place / "copy" / "SKILL.md").write_text("---\nname: one\ndescription: d\n---\n")
    git(place.parent, "init", "--quiet", place.name)
    git(place, "add", ".")
    git(place, "commit", "--quiet", "-m", "Skills")
    return tmp_path / "checkouts"


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    folder = tmp_path / "packages"
    folder.mkdir()
    with zipfile.ZipFile(folder / "a_package-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("a_package/skills/two/SKILL.md", "---\nname: two\ndescription: d\n---\n")
    return folder


def pin(tmp_path: Path, checkouts: Path | None, packages: Path | None) -> Path:
    path = tmp_path / "list.json"
    sources = public_skills.pin(checkouts=checkouts, packages=packages, most=30, sources=[])
    public_skills.write_list(sources, path)
    return path


def test_the_list_names_a_thousand_skills_of_thirty_repositories_each_once() -> None:
    sources = public_skills.pinned()
    repositories = [source for source in sources if not source.wheel]
    assert len({source.name for source in sources}) == len(sources)
    assert len(repositories) >= 30
    assert sum(len(source.skills) for source in sources) >= 1000
    assert all(len(bytes.fromhex(source.version)) == 20 for source in repositories)
    assert all(len(bytes.fromhex(digest)) == 32 for source in sources for digest in source.skills.values())


def test_what_is_pinned_is_built_again_with_its_modes_and_links(
    tmp_path: Path, checkouts: Path, packages: Path
) -> None:
    listed = pin(tmp_path, checkouts, packages)
    assert [source.folder for source in public_skills.pinned(listed)] == ["someone/skills", "packages/a-package"]
    folder = tmp_path / "built"
    arguments = [
        "build",
        str(folder),
        "--list",
        str(listed),
        "--checkouts",
        str(checkouts),
        "--packages",
        str(packages),
    ]
    assert public_skills.main(arguments) == 0
    assert public_skills.main(["verify", str(folder), "--list", str(listed)]) == 0
    built = public_skills.skill_directories(folder, public_skills.pinned(listed))
    assert all((directory / "SKILL.md").is_file() for directory in built)


def test_a_copy_of_a_skill_is_pinned_once(tmp_path: Path, checkouts: Path) -> None:
    (source,) = public_skills.pinned(pin(tmp_path, checkouts, None))
    assert len(source.skills) == 1


def test_a_commit_that_is_not_here_is_fetched(tmp_path: Path, checkouts: Path) -> None:
    listed = pin(tmp_path, checkouts, None)
    folder = tmp_path / "built"
    url = f"file://{checkouts}/{{repository}}"
    assert public_skills.main(["build", str(folder), "--list", str(listed), "--from", url]) == 0
    assert public_skills.verify(folder, public_skills.pinned(listed)) == []


def test_files_that_differ_from_the_list_are_refused(
    tmp_path: Path, checkouts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = pin(tmp_path, checkouts, None)
    data = json.loads(listed.read_text())
    (directory,) = data["sources"][0]["skills"]
    data["sources"][0]["skills"][directory] = "0" * 64
    listed.write_text(json.dumps(data))
    built = ["build", str(tmp_path / "built"), "--list", str(listed), "--checkouts", str(checkouts)]
    assert public_skills.main(built) == 1
    assert "refused" in capsys.readouterr().err


@pytest.mark.parametrize("what", ["text", "mode", "link", "more"])
def test_a_built_skill_that_was_changed_is_named(tmp_path: Path, checkouts: Path, what: str) -> None:
    listed = pin(tmp_path, checkouts, None)
    sources = public_skills.pinned(listed)
    sources[0].skills.clear()
    sources[0].skills["skills/one"] = public_skills.digest_of(
        public_skills.files_on_disk(checkouts / "someone/skills/skills/one")
    )
    folder = tmp_path / "built"
    public_skills.build(folder, checkouts=checkouts, packages=None, url="", sources=sources)
    skill = folder / "someone" / "skills" / "skills" / "one"
    assert public_skills.verify(folder, sources) == []
    if what == "text":
        (skill / "SKILL.md").write_text("other")
    elif what == "mode":
        (skill / "scripts" / "run.sh").chmod(0o644)
    elif what == "link":
        (skill / "same.md").unlink()
        (skill / "same.md").symlink_to("scripts/run.sh")
    else:
        (skill / "more.md").write_text("")
    assert public_skills.verify(folder, sources) == ["someone/skills/skills/one"]


def test_a_wheel_cannot_write_beside_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    with zipfile.ZipFile(packages / "a-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("two/SKILL.md", "---\nname: two\ndescription: d\n---\n")
        wheel.writestr("two/../../../escaped.md", "x")
    listed = pin(tmp_path, None, packages)
    built = ["build", str(tmp_path / "deep" / "built"), "--list", str(listed), "--packages", str(packages)]
    assert public_skills.main(built) == 1
    assert "is no path below a skill" in capsys.readouterr().err
    assert not list(tmp_path.rglob("escaped.md"))
