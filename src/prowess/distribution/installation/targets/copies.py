"""Targets: the directories in which other agents read the installed skills, as copies or through links.

What was put there is recorded, so that a copy that somebody edited, or a skill that was there before, is told from an
unchanged copy. Only unchanged copies are replaced or removed; others are *drifted* and kept until they are repaired.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess.catalog.other_agents.places import other_agent
from prowess.distribution.installation.disk.store import tree_at
from prowess.errors import InvalidArgumentsError, UnsafePathError
from prowess.lockfile.lock import CopyMode  # noqa: TC001 -- msgspec resolves it

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prowess.distribution.installation.disk.store import SkillStore
    from prowess.distribution.installation.scope import InstallScope
    from prowess.lockfile import LockedTarget, Lockfile

MISSING, FOREIGN = "missing", "foreign"
Record = dict[str, tuple[str, ...]]  # path to everything that this scope may have put there


class TargetCopy(Struct, frozen=True, kw_only=True):
    """A skill as a target should have it: its path, and what is there then, `copy <tree>` or `link <tree>`."""

    agent: str
    mode: CopyMode
    path: str
    name: str
    tree: str

    @property
    def content(self) -> str:
        """What is at the path if the copy is current."""
        return f"{self.mode} {self.tree}"


class TargetStep(Struct, frozen=True, kw_only=True):
    """One path of a target: what should be there (None: nothing), what is there, and whether it may be changed.

    `state` is the state before the step: current, missing, outdated, or drifted.
    """

    copy: TargetCopy | None
    path: str
    found: str
    state: Literal["current", "missing", "outdated", "drifted"]


def target_folder(agent_name: str, scope: InstallScope) -> str:
    """Return the directory in which an agent reads the skills of a project or a person.

    Raises:
        InvalidArgumentsError: there is no such agent, or it reads none in this scope.
        UnsafePathError: the directory is a link that leads out of the project, or into its `.git`.
    """
    agent = other_agent(agent_name)
    personal = [place for place in agent.places if place.startswith("~/")]
    own = [place for place in agent.places if not place.startswith(("~/", "/"))]
    if scope.kind == "personal":
        if not personal:
            raise InvalidArgumentsError((f"{agent.title} reads no personal skills; use --scope project",))
        return agent.personal_path(personal[0])
    if not own:
        raise InvalidArgumentsError((f"{agent.title} reads no skills of a project; use --scope personal",))
    folder = os.path.join(scope.directory, own[0])
    if (fault := folder_fault(folder, scope)) is not None:
        raise UnsafePathError(folder, fault)
    return folder


def folder_fault(folder: str, scope: InstallScope) -> str | None:
    """Return why nothing may be changed in a directory of a project, or None."""
    real = f"{os.path.realpath(folder)}/"
    if scope.kind == "personal":
        return None
    if not real.startswith(f"{scope.directory}/"):
        return "it is a link that leads out of the project"
    if ".git" in real[len(scope.directory) :].lower().split("/"):
        return "it is a link that leads into the repository of git, which runs files there"
    return None


def require_target(target: LockedTarget, scope: InstallScope) -> None:
    """Raise InvalidArgumentsError or UnsafePathError if skills cannot be put there in this way."""
    target_folder(target.agent, scope)
    agent = other_agent(target.agent)
    if target.mode == "link" and agent.links == "ignored":
        raise InvalidArgumentsError((f"{agent.title} ignores links; use --target {target.agent}=copy",))


def wanted_copies(target: LockedTarget, lock: Lockfile, scope: InstallScope) -> tuple[TargetCopy, ...]:
    """Return what a target should have, by name. Of equal names, the one that was installed last counts.

    Raises:
        InvalidArgumentsError, UnsafePathError: as in `target_folder`.
    """
    last = {skill.name: skill for skill in sorted(lock.skills, key=lambda one: (one.name, one.order, one.package))}
    folder = target_folder(target.agent, scope)
    return tuple(
        TargetCopy(agent=target.agent, mode=target.mode, path=os.path.join(folder, name), name=name, tree=skill.tree)
        for name, skill in last.items()
    )


def steps_to(wanted: Iterable[TargetCopy], record: Record, store: SkillStore) -> Iterator[TargetStep]:
    """Yield what each path of the targets has and should have: those that are wanted, then those to remove."""
    seen = dict[str, TargetCopy]()
    for copy in wanted:
        # Two agents may read one directory; then the first one decides.
        decisive = seen.setdefault(copy.path, copy)
        found = found_at(copy.path, store)
        if found == decisive.content:
            yield TargetStep(copy=copy, path=copy.path, found=found, state="current")
        elif found == MISSING:
            yield TargetStep(copy=copy, path=copy.path, found=found, state="missing")
        else:
            ours = found in record.get(copy.path, ()) or found.startswith("link ")  # nobody edits a link
            yield TargetStep(copy=copy, path=copy.path, found=found, state="outdated" if ours else "drifted")
    for path, contents in record.items():
        if path not in seen and (found := found_at(path, store)) != MISSING:
            yield TargetStep(copy=None, path=path, found=found, state="outdated" if found in contents else "drifted")


def found_at(path: str, store: SkillStore) -> str:
    """Return what is at a path: `copy <digest>`, `link <tree>` of the store, `missing` or `foreign`."""
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return MISSING
    if stat.S_ISLNK(mode):
        tree = store.tree_of(os.readlink(path))
        return FOREIGN if tree is None else f"link {tree}"
    return f"copy {tree_at(path)}" if stat.S_ISDIR(mode) else FOREIGN
