"""`prowess read`: one file, byte for byte, of this skill alone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from prowess.cli import exit_codes
from prowess.cli.commands import read as read_command
from prowess.cli.dispatch import run
from tests.catalog.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "skills"
    skill = write_skill(root / "a")
    (skill / "references").mkdir()
    (skill / "references" / "guide.md").write_text("the guide\n")
    (skill / "assets").mkdir()
    (skill / "assets" / "x.bin").write_bytes(bytes(range(256)) * 5000)
    (skill / ".git").mkdir()
    (skill / ".git" / "config").write_text("secret")
    (tmp_path / "secret.txt").write_text("secret")
    (skill / "assets" / "out.md").symlink_to(tmp_path / "secret.txt")
    write_skill(root / "b", body="secret")
    return root


def test_the_bytes_come_out_as_they_are(root: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["read", "a", "assets/x.bin", "--root", str(root)]) == exit_codes.OK
    assert capfdbinary.readouterr() == (bytes(range(256)) * 5000, b"")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("../b/SKILL.md", "is refused"),
        ("/etc/hostname", "is refused"),
        ("assets/out.md", "is a symbolic link"),
        ("references\\guide.md", "is refused"),
        (".git/config", "has no file"),
        ("%2e%2e/b/SKILL.md", "has no file"),
    ],
)
def test_what_is_not_a_file_of_this_skill_is_refused(
    root: Path, path: str, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["read", "a", path, "--root", str(root)]) == exit_codes.FAILED
    printed = capfd.readouterr()
    assert printed.out == ""
    assert said in printed.err
    assert "secret\n" not in printed.err


def test_a_wrong_path_gets_suggestions(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for path in ("references/giude.md", "guide.md"):
        assert run(["read", "a", path, "--root", str(root)]) == exit_codes.FAILED
        assert "did you mean 'references/guide.md'?" in capfd.readouterr().err


def test_a_directory_is_listed_in_the_error(
    root: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["read", "a", ".", "--root", str(root)]) == exit_codes.FAILED
    assert "it holds SKILL.md, assets/, references/" in capfd.readouterr().err
    monkeypatch.setattr(read_command, "_MOST_ENTRIES", 1)
    run(["read", "a", ".", "--root", str(root)])
    assert "it holds SKILL.md, and 2 more" in capfd.readouterr().err


def test_a_file_that_may_not_be_read_is_unavailable(
    root: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = os.open

    def refusing(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if path == "guide.md":  # the tests may run as root, whom no mode stops
            raise PermissionError(13, "Permission denied")
        return honest(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", refusing)
    assert run(["read", "a", "references/guide.md", "--root", str(root)]) == exit_codes.UNAVAILABLE
    assert "Permission denied" in capfd.readouterr().err
