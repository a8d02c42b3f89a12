"""Compares the skills of a lock with their copies in the store and in the targets, byte for byte.

This module imports little: an installation that has to change nothing needs no other module.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess.distribution.installation.disk.staging import draft_beside, has_orphans
from prowess.distribution.installation.disk.store import SkillStore, tree_at
from prowess.distribution.installation.report import InstallReport, SkillReport
from prowess.distribution.installation.scope import read_former
from prowess.distribution.installation.states import is_registered
from prowess.distribution.installation.targets.copies import wanted_copies
from prowess.distribution.installation.targets.placement import near_stage, target_rows, view_targets
from prowess.errors import InvalidArgumentsError, UnsafePathError
from prowess.lockfile import LockedSkill, Lockfile, parse_lock
from prowess.lockfile.unmet_requirements import unmet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.distribution.installation.scope import InstallScope
    from prowess.lockfile.lock import LockedTarget


class InstalledCopy(Struct, frozen=True, kw_only=True):
    """One place in which a locked skill should be. `files` are those that differ, if the store still knows them."""

    path: str
    skill: LockedSkill
    state: Literal["intact", "changed", "missing"]
    files: tuple[str, ...] = ()


def installed_copies(scope: InstallScope) -> tuple[InstalledCopy, ...]:
    """Return each place of each locked skill: in the store, then in the targets. Hashes every file.

    Raises:
        LockfileError: the lock is no lock.
        StoreError: the lock cannot be read.
    """
    former = read_former(scope)
    lock = Lockfile() if former is None else parse_lock(former, scope.lock)
    store = SkillStore(scope.home)
    places = [(store.path(skill.tree, skill.name), skill) for skill in lock.skills]
    by_tree = {(skill.tree, skill.name): skill for skill in lock.skills}
    seen = dict.fromkeys(path for path, _ in places)
    for path, key in _in_targets(lock, scope):
        if path not in seen:
            seen[path] = None
            places.append((path, by_tree[key]))
    return tuple(_looked_at(path, skill, store) for path, skill in places)


def _in_targets(lock: Lockfile, scope: InstallScope) -> Iterator[tuple[str, tuple[str, str]]]:
    for target in lock.targets:
        try:
            copies = wanted_copies(target, lock, scope)
        except (InvalidArgumentsError, UnsafePathError):
            continue  # `prowess install` reports the target
        yield from ((copy.path, (copy.tree, copy.name)) for copy in copies)


def _looked_at(path: str, skill: LockedSkill, store: SkillStore) -> InstalledCopy:
    # A link of a target is judged by what it leads to: an agent reads nothing else.
    found = tree_at(os.path.realpath(path))
    if found == skill.tree:
        return InstalledCopy(path=path, skill=skill, state="intact")
    if found is None:
        return InstalledCopy(path=path, skill=skill, state="missing")
    is_directory = os.path.isdir(path)
    files = store.differing(skill.tree, skill.name, path) if is_directory else ()
    return InstalledCopy(path=path, skill=skill, state="changed", files=files)


def settled_report(
    scope: InstallScope, targets: Sequence[LockedTarget] = (), *, repair: bool = False
) -> InstallReport | None:
    """Return the report of an installation of what the lock names, if there is nothing to do; else None.

    None means only that a closer look is necessary: there is no lock, the lock does not have one of `targets`, it does
    not fit together, or something is not in place.

    Raises:
        LockfileError: the lock is no lock.
        StoreError: the lock cannot be read.
    """
    former = read_former(scope)
    if former is None:
        return None
    lock = parse_lock(former, scope.lock)
    if not set(targets) <= set(lock.targets) or unmet(lock) or missing_skills(lock, scope):
        return None
    view = view_targets(lock, scope, SkillStore(scope.home))
    if not view.is_settled(repair=repair) or not is_registered(scope, lock) or has_leftovers(scope):
        return None
    rows, problems = target_rows(view)
    skills = tuple(SkillReport(skill=skill, action="keep") for skill in lock.skills)
    return InstallReport(
        scope=scope.kind, lock=scope.lock, changed=False, skills=skills, targets=rows, problems=problems
    )


def missing_skills(lock: Lockfile, scope: InstallScope) -> list[LockedSkill]:
    """Return the skills to fetch: files are missing or not the locked ones, or nobody verified who signed them.

    Hashes every file.
    """
    store = SkillStore(scope.home)
    return [skill for skill in lock.skills if not (store.has(skill.tree, skill.name) and _is_proved(skill, store))]


def _is_proved(skill: LockedSkill, store: SkillStore) -> bool:
    return skill.signer is None or skill.signer in store.signers(skill.tree, skill.name)


def has_leftovers(scope: InstallScope) -> bool:
    """Whether a command that was killed, or one that is running, has files outside the store."""
    return has_orphans(scope.home) or any(map(os.path.lexists, (draft_beside(scope.lock), near_stage(scope))))
