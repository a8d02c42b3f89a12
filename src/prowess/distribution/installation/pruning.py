"""Removes skills from the store that no lock and no earlier state names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.distribution.installation.disk.staging import Stage, exclusive, nothing_changed
from prowess.distribution.installation.disk.store import SkillStore
from prowess.distribution.installation.scope import known_scopes
from prowess.distribution.installation.states import forget_states, states_of
from prowess.lockfile.places import lock_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.distribution.installation.scope import InstallScope


class Pruned(Struct, frozen=True, kw_only=True):
    """The removed trees of the store, the number of removed earlier states, and the size of the trees in bytes."""

    removed: tuple[str, ...]
    states: int
    bytes: int

    def as_dict(self) -> dict[str, object]:
        """Return the form of `--json`."""
        return {"removed": list(self.removed), "states": self.states, "bytes": self.bytes}


def prune_store(home: str, *, keep: int | None = None, dry_run: bool = False) -> Pruned:
    """Remove stored skills that no lock and no earlier state names. With `keep`, keep only the last `keep` states.

    Raises:
        LockfileError: a lock or a state cannot be read, so the skills that it names are not known. Nothing was removed.
        StoreError: the home cannot be written.
    """
    with Stage(home) as stage:
        if not os.path.isdir(home):
            return Pruned(removed=(), states=0, bytes=0)
        _ = stage.path  # before the exclusive lock, which opening a stage takes too
        with exclusive(home, home), nothing_changed(home):
            store = SkillStore(home)
            scopes = list(known_scopes(home))
            named = {pair for scope in scopes for pair in _named(scope, keep)}
            forgotten = 0 if keep is None else sum(forget_states(scope, keep, dry_run=dry_run) for scope in scopes)
            removed: list[str] = []
            size = 0
            for tree, name in store.unnamed(named):
                size += store.size(tree, name) if dry_run else store.remove(tree, name, stage)
                removed.append(f"{tree}/{name}" if name else tree)
    return Pruned(removed=tuple(removed), states=forgotten, bytes=size)


def _named(scope: InstallScope, keep: int | None) -> Iterator[tuple[str, str]]:
    """Yield tree and name of each skill that the lock or a state to keep names."""
    states = states_of(scope, lock_bytes(scope.lock))
    recorded = [state for state in states if state.is_recorded]
    left = recorded if keep is None else recorded[max(len(recorded) - keep, 0) :]
    for state in {*left, *(state for state in states if state.is_present)}:
        for skill in state.lockfile.skills:
            yield skill.tree, skill.name
