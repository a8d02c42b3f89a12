from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from prowess.cli.dispatch import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Capture = pytest.CaptureFixture[str]


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    """A folder with a good skill, a bad one, and one in a group."""
    for path, name in (("good", "good"), ("bad", "other"), ("group/deep", "deep")):
        folder = tmp_path / "skills" / path
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: d\n---\nBody\n")
    return tmp_path / "skills"


@pytest.mark.proves("tooling.skills-ref.validate-ok", "tooling.skills-ref.names")
def test_one_valid_skill_is_one_line_and_no_summary(skills: Path, capsys: Capture) -> None:
    assert run(["validate", str(skills / "good")]) == 0
    assert capsys.readouterr() == (f"Valid skill: {skills / 'good'}\n", "")


@pytest.mark.proves("tooling.skills-ref.validate-fail", "tooling.skills-ref.names")
def test_one_invalid_skill_answers_as_the_reference_tool(skills: Path, capsys: Capture) -> None:
    assert run(["validate", str(skills / "bad" / "SKILL.md")]) == 1
    assert capsys.readouterr() == (
        "",
        f"Validation failed for {skills / 'bad'}:\n  - Directory name 'bad' must match skill name 'other'\n",
    )


@pytest.mark.proves("tooling.skills-ref.validate-batch")
def test_a_folder_gives_a_block_for_each_skill_and_a_summary(skills: Path, capsys: Capture) -> None:
    assert run(["validate", str(skills)]) == 1
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        f"Valid skill: {skills / 'good'}",
        f"Valid skill: {skills / 'group' / 'deep'}",
        "3 skills: 2 valid, 1 failed",
    ]
    assert err.splitlines() == [
        f"Validation failed for {skills / 'bad'}:",
        "  - Directory name 'bad' must match skill name 'other'",
    ]


@pytest.mark.proves("tooling.skills-ref.validate-batch")
def test_several_paths_are_checked_once_each_in_their_order(skills: Path, capsys: Capture) -> None:
    paths = [skills / "group", skills / "good", skills / "good" / "SKILL.md"]
    assert run(["validate", *map(str, paths)]) == 0
    out, _ = capsys.readouterr()
    assert out.splitlines() == [
        f"Valid skill: {skills / 'group' / 'deep'}",
        f"Valid skill: {skills / 'good'}",
        "2 skills: 2 valid, 0 failed",
    ]


def test_a_folder_of_one_skill_has_a_summary_too(skills: Path, capsys: Capture) -> None:
    assert run(["validate", str(skills / "group")]) == 0
    assert capsys.readouterr().out.endswith("\n1 skill: 1 valid, 0 failed\n")


def test_a_folder_without_any_skill_lacks_its_file(tmp_path: Path, capsys: Capture) -> None:
    assert run(["validate", str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"Validation failed for {tmp_path}:\n  - Missing required file: SKILL.md\n"


def test_the_working_directory_is_checked_by_its_name(
    skills: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(skills / "good")
    assert run(["validate", "."]) == 0
    assert run(["validate", "SKILL.md"]) == 0
    assert capsys.readouterr().out == "Valid skill: .\n" * 2


def test_quiet_prints_only_what_is_wrong(skills: Path, capsys: Capture) -> None:
    assert run(["validate", "--quiet", str(skills)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Validation failed for ")


@pytest.mark.proves("tooling.skills-ref.usage")
def test_a_path_that_does_not_exist_is_a_usage_error(skills: Path, capsys: Capture) -> None:
    assert run(["validate", str(skills / "absent")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Usage: prowess validate ")
    assert "does not exist" in err


def test_json_is_the_document_of_check(skills: Path, capsys: Capture) -> None:
    assert run(["validate", "--json", str(skills)]) == 1
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert err == ""
    assert document["summary"] == {"skills": 3, "errors": 1, "warnings": 0, "infos": 0}
    [found] = document["diagnostics"]
    assert (found["rule"], found["line"]) == ("name.matchesDirectory", 2)
    assert found["message"] == "Directory name 'bad' must match skill name 'other'"
    assert [(skill["name"], skill["valid"]) for skill in document["skills"]] == [
        ("other", False),
        ("good", True),
        ("deep", True),
    ]


def test_another_profile_judges_in_the_same_form(skills: Path, capsys: Capture) -> None:
    (skills / "good" / "SKILL.md").write_text("---\nname: good\ndescription: d\nlicense: [MIT]\n---\n")
    assert run(["validate", "--profile", "lenient", str(skills / "good")]) == 0
    assert run(["validate", "--profile", "spec", str(skills / "good")]) == 1
    assert capsys.readouterr().err.count("  - ") == 1


def test_an_unknown_profile_is_a_usage_error(skills: Path, capsys: Capture) -> None:
    assert run(["validate", "--profile", "speck", str(skills)]) == 2
    assert "spec" in capsys.readouterr().err


def test_a_skill_without_a_readable_name_is_called_as_its_directory(skills: Path, capsys: Capture) -> None:
    (skills / "bad" / "SKILL.md").write_text("no front matter\n")
    assert run(["validate", "--json", str(skills / "bad")]) == 1
    [skill] = json.loads(capsys.readouterr().out)["skills"]
    assert skill == {"path": str(skills / "bad"), "name": "bad", "valid": False}


def _nul(path: Path) -> None:
    path.write_bytes(b"---\nname: \0\n---\n")


def _latin(path: Path) -> None:
    path.write_bytes(b"---\nname: caf\xe9\n---\n")


def _deep(path: Path) -> None:
    path.write_bytes(b"---\nname: " + b"[" * 9000 + b"\n---\n")


def _folder(path: Path) -> None:
    path.mkdir()


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _huge(path: Path) -> None:
    path.write_bytes(b"---\nname: a\ndescription: d\n---\n" + b"x" * (3 << 20))


@pytest.mark.skipif(sys.platform == "win32", reason="links are made as POSIX makes them")
@pytest.mark.parametrize("make", [_nul, _latin, _deep, _folder, _loop, _huge])
def test_hostile_skills_never_give_a_traceback_and_never_stop_the_rest(
    skills: Path, make: Callable[[Path], None], capsys: Capture
) -> None:
    (skills / "bad" / "SKILL.md").unlink()
    make(skills / "bad" / "SKILL.md")
    assert run(["validate", str(skills)]) == 1
    out, err = capsys.readouterr()
    assert err.startswith(f"Validation failed for {skills / 'bad'}:\n  - ")
    assert out.endswith("3 skills: 2 valid, 1 failed\n")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are made as POSIX makes them")
def test_a_pipe_for_a_file_is_answered_at_once(skills: Path) -> None:
    (skills / "bad" / "SKILL.md").unlink()
    os.mkfifo(skills / "bad" / "SKILL.md")
    # In a process of its own, so that waiting for the pipe would end.
    command = [sys.executable, "-m", "prowess", "validate", str(skills)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stdout.endswith("3 skills: 2 valid, 1 failed\n")


@pytest.mark.skipif(sys.platform != "linux", reason="only there is a file name any bytes")
def test_a_directory_whose_name_is_no_text_or_several_lines_is_answered(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    for name in (b"\xff\xfe", b"a\n\x1b[2Jb"):
        folder = os.path.join(os.fsencode(tmp_path), name)
        os.mkdir(folder)
        with open(os.path.join(folder, b"SKILL.md"), "wb") as file:
            file.write(b"---\nname: a\ndescription: d\n---\n")
    for folder in sorted(os.listdir(os.fsencode(tmp_path))):
        path = os.fsdecode(os.path.join(os.fsencode(tmp_path), folder))
        for arguments in (["validate"], ["validate", "--json"], ["read-properties", "--json-full"], ["to-prompt"]):
            assert run([*arguments, path]) in {0, 1}
            assert b"\x1b" not in capsysbinary.readouterr().err


def test_what_was_not_looked_at_is_said(skills: Path, capsys: Capture) -> None:
    (skills / "/".join(["deep"] * 70)).mkdir(parents=True)
    assert run(["validate", str(skills)]) == 1
    assert "levels deep" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="such names exist on POSIX")
@pytest.mark.parametrize("command", ["validate", "check", "list", "read-properties"])
def test_a_name_with_a_line_break_cannot_write_the_line_of_another_skill(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], command: str
) -> None:
    skill = tmp_path / "skills" / "a\nValid skill: other"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: Bad\ndescription: d\nx: [\n---\n")
    paths = ["--root", str(tmp_path / "skills")] if command == "list" else [str(skill)]
    run([command, *paths])
    captured = capfd.readouterr()
    assert not [line for line in (captured.out + captured.err).splitlines() if line.startswith("Valid skill:")]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("directory", "SKILL.md is a directory"),
        ("link", "SKILL.md is a symbolic link"),
        ("size", "at most 2097152 are read"),
        ("bytes", "is not UTF-8"),
        ("pipe", "SKILL.md is not a regular file"),
    ],
)
def test_a_file_that_cannot_be_read_is_not_called_bad_yaml(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], kind: str, said: str
) -> None:
    skill = tmp_path / "a"
    skill.mkdir()
    file = skill / "SKILL.md"
    match kind:
        case "directory":
            file.mkdir()
        case "link":
            (tmp_path / "real.md").write_text("---\nname: a\ndescription: d\n---\n")
            file.symlink_to(tmp_path / "real.md")
        case "size":
            file.write_bytes(b"---\nname: a\n---\n" + b"x" * 2_097_152)
        case "bytes":
            file.write_bytes(b"---\nname: \xff\n---\n")
        case _:
            os.mkfifo(file)
    assert run(["validate", str(skill)]) == 1
    err = capfd.readouterr().err
    assert said in err
    assert "YAML" not in err
    assert "Missing required file" not in err
