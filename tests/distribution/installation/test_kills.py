"""Commands killed at each system call that changes a file: the lock is the old or the new one, and nothing is left.

`PROWESS_KILLS=all` kills at every call, as root and as another user; by default a few calls of each command are tried.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files.tree_digest import read_tree
from prowess.cli import output
from prowess.lockfile import read_lock
from tests.distribution.installation.projects import Commands, write_skill
from tests.distribution.kills import Killed, require_strace

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.unmeasured  # processes under strace, killed or at once, write no usable coverage

_ALL = os.environ.get("PROWESS_KILLS") == "all"
_FEW = 4  # of each command
_USER = 65534
_TARGETS = {".claude/skills": False, ".agents/skills": True}
_TO_BOTH = ("--target", "claude-code", "--target", "codex=link")
# What is installed before, and the command that is killed.
_CASES = {
    "install": (
        ("alpha",),
        ("install", "../skills", "--skill", "*", "--target", "claude-code", "--target", "codex=link"),
    ),
    "update": (("alpha", "beta"), ("update", "alpha", "--accept", "scripts")),
    "remove": (("alpha", "beta"), ("remove", "alpha")),
    "rollback": (("alpha", "beta"), ("rollback",)),
    "repair": (("alpha", "beta"), ("install", "--repair")),
    "prune": (("alpha", "beta"), ("store", "prune", "--keep", "0")),
}


class Place:
    """A place that is restored before each run, because the store and the states have absolute paths."""

    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        self.kept, self.used = place / "kept", place / "used"
        self.home, self.project = self.used / "home", self.used / "project"
        self.used.mkdir()
        self.project.mkdir()
        (self.project / ".git").mkdir()
        self.environment = {key: value for key, value in os.environ.items() if key != "CI"}
        self.environment["PROWESS_HOME"] = str(self.home)
        for name in ("alpha", "beta"):
            write_skill(self.used / "skills" / name, script="print(0)\n")
        monkeypatch.setenv("PROWESS_HOME", str(self.home))
        monkeypatch.delenv("CI", raising=False)
        self.prowess = Commands(self.project, monkeypatch, capfd)

    def keep(self, user: int | None) -> None:
        """Keep the present state for `restore`. It belongs to `user`."""
        for path in (self.used, *self.used.rglob("*")):
            if user is not None:
                os.chown(path, user, user, follow_symlinks=False)
        _copy(self.used, self.kept)

    def restore(self) -> None:
        """Make everything as it was kept."""
        _remove(self.used)
        _copy(self.kept, self.used)
        os.chdir(self.project)

    def paths(self) -> set[str]:
        """Return every path in the project and the home, but for trees of the store."""
        places = (*self.project.rglob("*"), *self.home.rglob("*"))
        found = {str(path.relative_to(self.used)) for path in places}
        return {path for path in found if not path.startswith("home/store/")}

    def lock(self) -> bytes | None:
        """Return the text of the lock."""
        lock = self.project / "prowess.lock"
        return lock.read_bytes() if lock.exists() else None


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[Place]:
    require_strace()
    directory = mkdtemp()  # other users cannot enter the directories of pytest
    os.chmod(directory, 0o755)
    found = Place(Path(directory), monkeypatch, capfd)
    yield found
    os.chdir("/")
    _remove(Path(directory))


def _users() -> list[int | None]:
    return [None, _USER] if os.geteuid() == 0 and _ALL else [None]


@pytest.mark.parametrize("user", _users())
@pytest.mark.parametrize("case", _CASES)
def test_a_killed_command_leaves_the_old_lock_or_the_new_one_and_the_next_completes_it(
    place: Place, case: str, user: int | None, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    installed, arguments = _CASES[case]
    place.prowess.text("install", "../skills", *(word for name in installed for word in ("--skill", name)))
    if case != "install":
        place.prowess.text("install", *_TO_BOTH)
        write_skill(place.used / "skills" / "alpha", "1.1.0", script="print(1)\n")
    if case in {"rollback", "prune"}:
        place.prowess.text("update", "--accept", "scripts")
    if case == "repair":
        (place.project / ".claude/skills/alpha/SKILL.md").write_text("mine", encoding="utf-8")
    place.keep(user)
    old, old_paths = place.lock(), place.paths()
    command = Killed(arguments, place.project, place.environment, user=user)
    points = command.points(tmp_path / "log")
    new = place.lock()
    _complete(case, command)
    new_paths = place.paths()
    step = 1 if _ALL else max(len(points) // _FEW, 1)
    chosen = points[::step]
    assert len(chosen) >= _FEW
    with capfd.disabled():
        output.note(f"\n{case} (user {os.geteuid() if user is None else user}): {len(chosen)} of {len(points)} calls")
    for point in chosen:
        place.restore()
        command.kill_at(point)
        lock = place.lock()
        assert lock in {old, new}, point
        for folder in _TARGETS:
            _require_whole(place.project / folder, allowed=case == "repair")
        _complete(case, command)
        assert place.lock() == lock, point
        _require_installed(place)
        paths = place.paths()
        assert not (place.home / "stage").exists()
        if lock == new and case != "prune":
            assert paths == new_paths, point
        else:
            assert old_paths - paths <= old_paths - new_paths, point
            assert paths <= old_paths | new_paths, point


def _complete(case: str, command: Killed) -> None:
    """Run the next command; after it, there is nothing to do."""
    repair = ("--repair",) if case == "repair" else ()
    assert json.loads(command.run("install", "--json", *repair))["problems"] == []
    assert json.loads(command.run("install", "--json"))["changed"] is False


def _require_whole(folder: Path, *, allowed: bool) -> None:
    """Every skill in a target is one that was in a lock, whole; a copy that is being repaired may be the edited one."""
    for path in folder.iterdir() if folder.exists() else ():
        assert (path / "SKILL.md").exists()
        text = (path / "SKILL.md").read_text(encoding="utf-8")
        if not (allowed and text == "mine"):
            assert read_tree(str(path)).digest in _known_trees(path.name, text)


def _known_trees(name: str, text: str) -> set[str | None]:
    version = "1.1.0" if '"1.1.0"' in text else "1.0.0"
    with TemporaryDirectory() as directory:
        whole = write_skill(Path(directory) / name, version, script=f"print({version[2]})\n")
        return {read_tree(str(whole)).digest}


def _require_installed(place: Place) -> None:
    lock = read_lock(str(place.project / "prowess.lock"))
    names = {skill.name: skill.tree for skill in lock.skills}
    for skill in lock.skills:
        assert read_tree(str(place.home / "store" / skill.tree / skill.name)).digest == skill.tree
    for target in lock.targets:
        folder = place.project / (".claude/skills" if target.agent == "claude-code" else ".agents/skills")
        found = {path.name: read_tree(str(path)).digest for path in folder.iterdir()}
        assert found == names
        assert all(path.is_symlink() is (target.mode == "link") for path in folder.iterdir())


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target, symlinks=True)
    if os.geteuid() == 0:
        for path in (source, *source.rglob("*")):
            state = path.lstat()
            os.chown(target / path.relative_to(source), state.st_uid, state.st_gid, follow_symlinks=False)


def _remove(directory: Path) -> None:
    for parent, _, _ in os.walk(directory):
        os.chmod(parent, 0o700)
    shutil.rmtree(directory, ignore_errors=True)
