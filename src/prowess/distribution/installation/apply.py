"""Carries out a planned change: store, then lock, then targets. Replacing the lock is the only moment of change.

Before that moment, nothing that anybody reads is different; after it, everything else follows from the lock. If the
command is killed, the next one finds the old lock or the new one, and brings the targets up to date.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from prowess.distribution.installation.disk.kept_signatures import keep_signatures
from prowess.distribution.installation.disk.staging import draft_beside, exclusive, nothing_changed
from prowess.distribution.installation.disk.store import SkillStore
from prowess.distribution.installation.report import InstallReport, Problem, SkillReport
from prowess.distribution.installation.states import record_state, register
from prowess.distribution.installation.targets.placement import place_copies, remove_near_stage
from prowess.errors import StoreError
from prowess.lockfile.places import lock_bytes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from prowess.distribution.installation.disk.staging import Stage
    from prowess.distribution.installation.plan import InstallPlan
    from prowess.distribution.installation.scope import InstallScope
    from prowess.distribution.sources.protocol import Fetched, Signature

_LOCK_MODE = 0o644  # of a project, whose lock is under version control
_PRIVATE_MODE = 0o600


class LockReplacedError(Exception):
    """Another command replaced the lock, or pruned the store, after this change was planned. Plan again."""


def apply_plan(
    plan: InstallPlan,
    scope: InstallScope,
    stage: Stage,
    *,
    staged: Collection[Fetched],
    signatures: Mapping[tuple[str, str], Sequence[Signature]],
    signers: Mapping[tuple[str, str], Collection[str]],
    stored: Collection[str] = (),
    repair: bool = False,
    next_state: int | None = None,
) -> InstallReport:
    """Carry out a plan, and report the end state as it was read back.

    `staged` are the fetched skills that are not in the store, `stored` the directories in the store of those that need
    not be fetched, `signatures` what sources had beside skills and the store does not have, and `signers` whose
    signatures were verified, both by tree and name. With `repair`, drifted copies are replaced too.
    `next_state` is the number of the state to which the lock is rolled back.

    Raises:
        LockReplacedError: the lock is not the one that the plan was made from, or `stored` was pruned.
        IntegrityError: a staged skill has other bytes than planned.
        StoreError: a file system fault; the lock was not changed.
    """
    store = SkillStore(scope.home)
    _ = stage.path  # before the exclusive lock, which opening a stage takes too
    with exclusive(scope.home, scope.directory):
        with nothing_changed(scope.home):
            remove_drafts(scope)
            if lock_bytes(scope.lock) != plan.former or not all(map(os.path.isdir, stored)):
                raise LockReplacedError
            if plan.lock.skills:
                register(scope, stage)
            for skill in staged:
                store.add(skill.directory, skill.manifest, skill.name, stage)
            for (tree, name), found in signatures.items():
                keep_signatures(store, tree, name, found, stage)
            for (tree, name), verified in signers.items():
                store.add_signers(tree, name, verified, stage)
            if plan.changes_lock:
                record_state(scope, plan.former, stage, next_state=next_state)
                stage.replace_file(scope.lock, plan.text, _mode_of(scope))
        if lock_bytes(scope.lock) != (plan.text if plan.changes_lock else plan.former):
            raise StoreError(scope.lock, "another program changed it while it was being replaced; run this again")
        targets, problems = place_copies(plan.lock, scope, store, stage, repair=repair)
    moved = any(target.state in {"placed", "replaced", "removed"} for target in targets)
    return InstallReport(
        scope=scope.kind,
        lock=scope.lock,
        changed=plan.changes_lock or bool(staged) or moved,
        skills=tuple(SkillReport(skill=change.skill, action=change.action) for change in plan.changes),
        targets=targets,
        problems=(*problems, *_not_stored(plan, store)),
    )


def _not_stored(plan: InstallPlan, store: SkillStore) -> Iterator[Problem]:
    for skill in plan.lock.skills:
        if not os.path.isfile(os.path.join(store.path(skill.tree, skill.name), "SKILL.md")):
            message = f"the lock names {skill.name!r}, but it is not in the store"
            yield Problem(code="not_stored", skill=skill.name, message=message, fix="prowess install")


def _mode_of(scope: InstallScope) -> int:
    return _PRIVATE_MODE if scope.kind == "personal" else _LOCK_MODE


def remove_drafts(scope: InstallScope) -> None:
    """Remove what a killed command left beside the lock and the targets. Raises OSError."""
    with suppress(FileNotFoundError):
        os.unlink(draft_beside(scope.lock))
    remove_near_stage(scope)
