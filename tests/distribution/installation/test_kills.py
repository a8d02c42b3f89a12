"""Commands killed at each system call that changes a file: the lock is the old or the new one, and nothing is left."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files.tree_digest import read_tree
from prowess.lockfile import read_lock, stored_tree
from tests.distribution.installation.projects import write_skill
from tests.distribution.kills import USERS, Place, opened_place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.unmeasured  # processes under strace, killed or at once, write no usable coverage

_FEW = 2  # of each command
_TARGETS = {".claude/skills": False, ".agents/skills": True}
_TO_BOTH = ("--target", "claude-code", "--target", "codex=link")
# What is installed before, and the command that is killed.
_CASES = {
    "install": (("alpha",), ("install", "../skills", "--skill", "*", *_TO_BOTH)),
    "update": (("alpha", "beta"), ("update", "alpha", "--accept", "scripts")),
    "remove": (("alpha", "beta"), ("remove", "alpha")),
    "rollback": (("alpha", "beta"), ("rollback",)),
    "repair": (("alpha", "beta"), ("install", "--repair")),
    "prune": (("alpha", "beta"), ("store", "prune", "--keep", "0")),
}


class Project:
    """A project and a home in a place that can be restored."""

    def __init__(self, place: Place) -> None:
        self.place, self.directory, self.skills = place, place.used / "project", place.used / "skills"
        (self.directory / ".git").mkdir(parents=True)
        for name in ("alpha", "beta"):
            write_skill(self.skills / name, script="print(0)\n")

    def run(self, *arguments: str) -> str:
        """Run a command in the project, and return its output."""
        return self.place.run(*arguments, directory=self.directory)

    def complete(self, case: str) -> None:
        """Run the next command; after it, there is nothing to do."""
        repair = ("--repair",) if case == "repair" else ()
        assert json.loads(self.run("install", "--json", *repair))["problems"] == []
        assert json.loads(self.run("install", "--json"))["changed"] is False

    def paths(self) -> set[str]:
        """Return every path in the project and the home, but for trees of the store."""
        places = (*self.directory.rglob("*"), *self.place.home.rglob("*"))
        found = {str(path.relative_to(self.place.used)) for path in places}
        # The next audited call removes what a killed one left, and not each command that completes is one.
        return {path for path in found if not path.startswith(("home/store/", "home/audit/.head.json."))}

    def lock(self) -> bytes | None:
        """Return the text of the lock."""
        lock = self.directory / "prowess.lock"
        return lock.read_bytes() if lock.exists() else None


@pytest.fixture
def project() -> Iterator[Project]:
    with opened_place() as place:
        yield Project(place)


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("case", _CASES)
def test_a_killed_command_leaves_the_old_lock_or_the_new_one_and_the_next_completes_it(
    project: Project, case: str, user: int | None, tmp_path: Path
) -> None:
    installed, arguments = _CASES[case]
    project.run("install", "../skills", *(word for name in installed for word in ("--skill", name)))
    if case != "install":
        project.run("install", *_TO_BOTH)
        write_skill(project.skills / "alpha", "1.1.0", script="print(1)\n")
    if case in {"rollback", "prune"}:
        project.run("update", "--accept", "scripts")
    if case == "repair":
        (project.directory / ".claude/skills/alpha/SKILL.md").write_text("mine", encoding="utf-8")
    project.place.keep(user)
    old, old_paths = project.lock(), project.paths()
    kills = project.place.kills(*arguments, directory=project.directory, few=_FEW)
    new = project.lock()
    project.complete(case)
    new_paths = project.paths()
    whole = _whole_trees(tmp_path)
    for point in kills:
        lock = project.lock()
        assert lock in {old, new}, point
        for folder in _TARGETS:
            _require_whole(project.directory / folder, whole, allowed=case == "repair")
        project.complete(case)
        assert project.lock() == lock, point
        _require_installed(project)
        paths = project.paths()
        assert not (project.place.home / "stage").exists()
        if lock == new and case != "prune":
            assert paths == new_paths, point
        else:
            assert old_paths - paths <= old_paths - new_paths, point
            assert paths <= old_paths | new_paths, point


def _whole_trees(place: Path) -> set[str | None]:
    """Return the digests of all skills that are in any lock."""
    return {
        read_tree(str(write_skill(place / version / name, version, script=f"print({version[2]})\n"))).digest
        for version in ("1.0.0", "1.1.0")
        for name in ("alpha", "beta")
    }


def _require_whole(folder: Path, whole: set[str | None], *, allowed: bool) -> None:
    """Every skill in a target is one that was in a lock, whole; a copy that is being repaired may be the edited one."""
    for path in folder.iterdir() if folder.exists() else ():
        if not (allowed and (path / "SKILL.md").read_text(encoding="utf-8") == "mine"):
            assert read_tree(str(path)).digest in whole


def _require_installed(project: Project) -> None:
    lock = read_lock(str(project.directory / "prowess.lock"))
    names = {skill.name: skill.tree for skill in lock.skills}
    for skill in lock.skills:
        assert read_tree(stored_tree(str(project.place.home), skill.tree, skill.name)).digest == skill.tree
    for target in lock.targets:
        folder = project.directory / (".claude/skills" if target.agent == "claude-code" else ".agents/skills")
        found = {path.name: read_tree(str(path)).digest for path in folder.iterdir()}
        assert found == names
        assert all(path.is_symlink() is (target.mode == "link") for path in folder.iterdir())
