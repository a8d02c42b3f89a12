from __future__ import annotations

import importlib.util
import io
import sys
from typing import TYPE_CHECKING

import pytest

from prowess.cli.commands import fmt
from prowess.cli.dispatch import run

if TYPE_CHECKING:
    from pathlib import Path

UNEVEN, EVEN = "---\nname:  a # c\ndescription: d\n---\nBody", "---\nname: a  # c\ndescription: d\n---\nBody\n"


@pytest.fixture
def skills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("a", UNEVEN), ("b", "---\nname: b\ndescription: x: y\n---\n"), ("c", "---\nname: c\n---\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "SKILL.md").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_files_are_laid_out_and_what_cannot_be_is_said(skills: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["fmt"]) == 1
    captured = capfd.readouterr()
    assert captured.out == ""
    wrong = "it cannot be formatted because of a fault in line 3 (frontmatter.syntax); see `prowess check`"
    assert captured.err.splitlines() == [
        f"error: b/SKILL.md was not formatted: {wrong}",
        "1 file formatted, 1 unchanged, 1 failed",
    ]
    laid_out = (skills / "a" / "SKILL.md").read_text(encoding="utf-8")
    assert laid_out.split() == EVEN.split()
    stamp = (skills / "a" / "SKILL.md").stat().st_mtime_ns
    assert run(["fmt", "a", "-q"]) == 0
    assert (skills / "a" / "SKILL.md").stat().st_mtime_ns == stamp


def test_check_and_diff_write_nothing(skills: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["fmt", "a", "c", "--check"]) == 1
    assert capfd.readouterr().out == "a/SKILL.md\n"
    assert run(["fmt", "c", "--check"]) == 0
    capfd.readouterr()
    assert run(["fmt", "a", "--diff"]) == 1
    assert "-name:  a # c" in capfd.readouterr().out.splitlines()
    assert (skills / "a" / "SKILL.md").read_text(encoding="utf-8") == UNEVEN
    (skills / "a" / "SKILL.md").chmod(0o444)
    assert run(["fmt", "a"]) == 1
    assert "it is read-only" in capfd.readouterr().err


@pytest.mark.usefixtures("skills")
def test_what_is_no_file_is_left_alone(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "l").mkdir()
    (tmp_path / "l" / "SKILL.md").symlink_to(tmp_path / "a" / "SKILL.md")
    assert run(["fmt", "l"]) == 1
    assert "symbolic link" in capfd.readouterr().err
    assert run(["fmt", "nowhere"]) == 2


def test_standard_input_goes_to_standard_output(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"---\r\nname:  a\r\n---\r\n"), encoding="utf-8"))
    assert run(["fmt", "-", "-q"]) == 0
    assert capfd.readouterr().out == "---\nname: a\n---\n"


def test_without_its_library_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert importlib.util.find_spec("ruamel") is not None
    monkeypatch.setattr(fmt, "find_spec", lambda _: None)
    assert run(["fmt"]) == 2
    assert "pip install 'prowess[fmt]'" in capfd.readouterr().err
