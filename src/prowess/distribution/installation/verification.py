"""Compares what a lock names with what is in the store and in the targets, byte for byte. Changes nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess.distribution.installation.change import read_former
from prowess.distribution.installation.disk.store import SkillStore, tree_at
from prowess.distribution.installation.targets.copies import wanted_copies
from prowess.errors import InvalidArgumentsError, UnsafePathError
from prowess.lockfile import LockedSkill, Lockfile, parse_lock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.distribution.installation.scope import InstallScope


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
