from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from prowess.cli.commands.new import TEMPLATES
from prowess.cli.dispatch import run
from prowess.format import PROFILES, read_skill, validate_skill
from prowess.lint import lint_skill

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.proves("tooling.authoring.new")
@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("name", ["sales-report", "a", "x" * 64])
def test_a_template_passes_every_profile_without_a_finding(tmp_path: Path, template: str, name: str) -> None:
    assert run(["new", name, "--template", template, "--into", str(tmp_path)]) == 0
    skill = tmp_path / name
    for profile in PROFILES:
        assert [*validate_skill(skill, profile=profile), *lint_skill(skill, profile=profile)] == [], profile


def test_a_full_template_has_files_of_every_kind_and_a_script_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["new", "sales-report", "--template", "full", "--json"]) == 0
    assert json.loads(capfd.readouterr().out) == {
        "name": "sales-report",
        "path": "./sales-report",
        "template": "full",
        "files": [
            "SKILL.md",
            "scripts/measure.py",
            "references/guide.md",
            "assets/report.md",
            "skill.manifest.yaml",
        ],
    }
    script = tmp_path / "sales-report" / "scripts" / "measure.py"
    (tmp_path / "notes.txt").write_text("one two\nthree\n")
    done = subprocess.run([script, "notes.txt"], check=True, capture_output=True, text=True)
    assert json.loads(done.stdout) == {"lines": 2, "words": 3, "characters": 14}
    assert subprocess.run([script, "gone.txt"], check=False, capture_output=True).returncode == 1
    skill = read_skill(tmp_path / "sales-report")
    assert skill.sidecar.tests is not None
    assert skill.sidecar.faults == ()


@pytest.mark.parametrize("kind", ["directory", "file", "dangling link"])
def test_nothing_is_overwritten(tmp_path: Path, capfd: pytest.CaptureFixture[str], kind: str) -> None:
    there = tmp_path / "mine"
    if kind == "directory":
        there.mkdir()
    elif kind == "file":
        there.write_text("mine")
    else:
        there.symlink_to(tmp_path / "nowhere")
    assert run(["new", "mine", "--into", str(tmp_path)]) == 1
    assert "exists already" in capfd.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    assert not (there / "SKILL.md").exists()


@pytest.mark.parametrize("name", ["../out", "A", "a b", "-a", "", "a/b", "x" * 65, "ü", "\x1b[31m"])
def test_a_name_that_is_none_is_a_wrong_command_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    assert run(["new", "--into", str(tmp_path / "skills"), "--", name]) == 2
    assert "\x1b" not in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("description", ["", "a\nname: b", "x" * 1025, "a\x1bb"])
def test_a_description_is_one_line(tmp_path: Path, description: str) -> None:
    assert run(["new", "a", "--into", str(tmp_path), "--description", description]) == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("description", ['It\'s: a "test" # not', "- x", "null", "{a: b}", "\N{SNOWMAN} &x *y !z"])
def test_a_description_is_read_back_as_given(tmp_path: Path, description: str) -> None:
    assert run(["new", "a", "--into", str(tmp_path), "--description", description]) == 0
    assert read_skill(tmp_path / "a", profile="spec").description == description


def test_without_a_terminal_nothing_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["new"]) == 2
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert run(["new", "a", "--into", str(tmp_path / "file")]) == 1
    assert "a exists already" in (told := capfd.readouterr().err) or "cannot be written" in told


def test_on_a_terminal_what_is_missing_is_asked_for(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    program = "import sys; from prowess.cli.main import main; sys.argv[1:] = ['new']; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdin=theirs, stdout=theirs, stderr=theirs, cwd=tmp_path
    )
    os.close(theirs)
    os.write(ours, b"Sales Report\nsales-report\nscripts\n\n")
    try:
        assert process.wait(timeout=20) == 0
    finally:
        process.kill()
        os.close(ours)
    assert (tmp_path / "sales-report" / "scripts" / "measure.py").exists()
    assert validate_skill(tmp_path / "sales-report") == []


@pytest.mark.parametrize("folder", [".prowess/skills", ".agents/skills", ".claude/skills", "skills"])
@pytest.mark.parametrize("below", ["", "src/deep"])
def test_a_skill_is_written_into_the_projects_folder_of_skills(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], folder: str, below: str
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / below).mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(tmp_path / below)

    assert run(["new", "mine"]) == 0

    assert (tmp_path / folder / "mine" / "SKILL.md").is_file()
    told = capfd.readouterr()
    assert f"{folder}/mine/SKILL.md" in told.out
    assert f"prowess check {'../../' if below else ''}{folder}/mine" in told.err
    if folder == "skills":
        assert "Try it: prowess load mine --root" in told.err
    else:
        trust = "prowess trust ../..\n" if below else "prowess trust\n"
        assert told.err.endswith(f"To let agents use the skills of this project, run once: {trust}")


def test_folders_count_in_the_order_of_the_catalog_and_the_nearest_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    for folder in ("skills", ".claude/skills", ".agents/skills", "inner/skills"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert run(["new", "one"]) == 0
    assert (tmp_path / ".agents" / "skills" / "one").is_dir()
    monkeypatch.chdir(tmp_path / "inner")
    assert run(["new", "two"]) == 0
    assert (tmp_path / "inner" / "skills" / "two").is_dir()
    assert run(["new", "three", "--into", "."]) == 0
    assert (tmp_path / "inner" / "three").is_dir()


def test_without_a_folder_it_is_told_how_to_use_what_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / ".claude" / "skills").mkdir(parents=True)  # above, and not of this project
    monkeypatch.chdir(tmp_path / "project")

    assert run(["new", "mine"]) == 0

    told = capfd.readouterr().err
    assert (tmp_path / "project" / "mine" / "SKILL.md").is_file()
    assert "Try it: prowess load mine --root .\n" in told  # the line can be copied: no full stop follows the path
    assert ".prowess/skills of a project" in told
    assert run(["load", "mine", "--root", ".", "--quiet"]) == 0


def test_a_wrong_name_gets_a_valid_one_as_suggestion(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["new", "Foo_Bar", "--into", str(tmp_path)]) == 2
    assert capfd.readouterr().err.endswith("; try foo-bar\n")
