"""A project with a source of skills beside it, and what is installed in it, for the tests of installation."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from prowess._internal.files.tree_digest import read_tree
from prowess._internal.places import prowess_home
from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from prowess.lockfile import read_lock

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def write_skill(directory: Path, version: str = "1.0.0", *, body: str = "# Do it\n", script: str | None = None) -> Path:
    """Write a skill with a version and, if `script` is given, an executable script."""
    directory.mkdir(parents=True, exist_ok=True)
    head = f'---\nname: {directory.name}\ndescription: Does {directory.name}.\nmetadata:\n  version: "{version}"\n---\n'
    (directory / "SKILL.md").write_text(head + body, encoding="utf-8")
    if script is not None:
        (directory / "scripts").mkdir(exist_ok=True)
        (directory / "scripts" / "run.py").write_text(script, encoding="utf-8")
        (directory / "scripts" / "run.py").chmod(0o755)
    return directory


def make_project(place: Path, *names: str) -> Path:
    """Make the project `place/project`, and the skills `names` in `place/skills`."""
    (place / "project" / ".git").mkdir(parents=True)
    for name in names:
        write_skill(place / "skills" / name, script=f"print({name!r})\n")
    return place / "project"


class Commands:
    """Runs commands of `prowess` in one directory."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        monkeypatch.chdir(directory)
        self.directory = directory
        self._capfd = capfd
        self.err = ""

    def text(self, *arguments: str, code: int = exit_codes.OK) -> str:
        """Run a command; return its output. `err` then has its standard error."""
        self._capfd.readouterr()
        found = run(list(arguments))
        out, self.err = self._capfd.readouterr()
        assert found == code, (found, out, self.err)
        return out

    def report(self, *arguments: str, code: int = exit_codes.OK) -> dict[str, Any]:
        """Run a command with `--json`; return the document."""
        found: dict[str, Any] = json.loads(self.text(*arguments, "--json", code=code))
        return found

    @property
    def lock(self) -> Path:
        """The lock of the project."""
        return self.directory / "prowess.lock"

    def installed(self) -> dict[str, str | None]:
        """Return the locked versions by name. Each locked skill is in the store, with the locked bytes."""
        found = read_lock(str(self.lock)).skills
        for skill in found:
            stored = os.path.join(prowess_home(), "store", skill.tree, skill.name)
            assert read_tree(stored).digest == skill.tree
        return {skill.name: skill.version for skill in found}


def actions(report: dict[str, Any]) -> dict[str, str]:
    """Return the action of each skill in a report."""
    return {skill["name"]: skill["action"] for skill in report["skills"]}


def states(report: dict[str, Any], directory: Path) -> dict[str, str]:
    """Return the state of each path in a target, relative to `directory`."""
    return {os.path.relpath(target["path"], directory): target["state"] for target in report["targets"]}


def codes(report: dict[str, Any]) -> list[str]:
    """Return the codes of the problems in a report."""
    return [problem["code"] for problem in report["problems"]]


def snapshot(*places: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return mode, time of change and bytes of every file, directory and link below `places`."""
    found: dict[str, tuple[int, int, bytes]] = {}
    for place in places:
        for path in sorted(place.rglob("*")):
            state = path.lstat()
            data = os.readlink(path).encode() if path.is_symlink() else path.read_bytes() if path.is_file() else b""
            found[str(path)] = (state.st_mode, state.st_mtime_ns, data)
    return found
