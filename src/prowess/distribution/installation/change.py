"""One change of a lock: proposed, planned, judged, applied and reported. Files are written only if they change.

    def proposed(lock: Lockfile, stage: Stage) -> Proposal: ...     # reads and fetches only
    report = change_lock(scope, proposed, permission=permission, judge=consent)

If another command replaces the lock meanwhile, everything is done again from the new lock.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prowess.distribution import installation
from prowess.distribution.installation.apply import LockReplacedError, apply_plan
from prowess.distribution.installation.disk.kept_signatures import kept_signatures
from prowess.distribution.installation.disk.staging import Stage, nothing_changed
from prowess.distribution.installation.disk.store import SkillStore
from prowess.distribution.installation.plan import plan_change
from prowess.distribution.installation.report import InstallReport, Problem, SkillReport
from prowess.distribution.installation.scope import read_former
from prowess.distribution.installation.states import is_registered
from prowess.distribution.installation.targets.placement import target_rows, view_targets
from prowess.distribution.installation.verification import has_leftovers
from prowess.distribution.sources.protocol import Fetched  # noqa: TC001 -- msgspec resolves it
from prowess.errors import StoreError
from prowess.lockfile import Lockfile, parse_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from prowess.distribution.installation.plan import InstallPlan
    from prowess.distribution.installation.scope import InstallScope
    from prowess.distribution.permission.permission import Permission

    Judge = Callable[[InstallPlan, Mapping[tuple[str, str], str]], None]

_ATTEMPTS = 10


class Proposal(Struct, frozen=True, kw_only=True):
    """A proposed lock, and the skills that were fetched for it.

    `staged` has the fetched skills by tree and name, `statuses` the status of the signature of each, and `contacted`
    the hosts that were contacted. With `refused`, the change is not made, and the report has this problem.
    `next_state` is the number of the earlier state that `lock` is.
    """

    lock: Lockfile
    staged: dict[tuple[str, str], Fetched] = {}
    statuses: dict[tuple[str, str], str] = {}
    contacted: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    refused: Problem | None = None
    next_state: int | None = None


def change_lock(
    scope: InstallScope,
    propose: Callable[[Lockfile, Stage], Proposal],
    *,
    permission: Permission,
    judge: Judge | None = None,
    repair: bool = False,
    dry_run: bool = False,
) -> InstallReport:
    """Carry out the proposal for the present lock, and return the report.

    `judge` is called with the plan and the staged directories before anything is changed; it raises to refuse. Then
    `permission` is asked for each change, but not if the lock and the store stay as they are. With `dry_run`, no file
    is written, and `permission` is not asked for the change.

    Raises:
        LockfileError: the lock is no lock.
        StoreError: a file system fault; the lock was not changed.
        PolicyDeniedError, ApprovalRequiredError, AuditError: the change is not permitted.
    """
    for _ in range(_ATTEMPTS):
        former = read_former(scope)
        before = Lockfile() if former is None else parse_lock(former, scope.lock)
        with Stage(scope.home) as stage:
            with nothing_changed(scope.home):
                proposal = propose(before, stage)
            if proposal.refused is not None:
                return InstallReport(scope=scope.kind, lock=scope.lock, changed=False, problems=(proposal.refused,))
            store = SkillStore(scope.home)
            staged = {key: one for key, one in proposal.staged.items() if not store.has_copy(one.manifest, one.name)}
            signatures = {
                key: one.signatures
                for key, one in proposal.staged.items()
                if not set(one.signatures) <= set(kept_signatures(store, *key))
            }
            signers = _new_signers(proposal, store)
            absent = [skill for skill in proposal.lock.skills if (skill.tree, skill.name) in staged]
            plan = plan_change(former, before, proposal.lock, absent)
            view = view_targets(plan.lock, scope, store)
            settled = view.is_settled(repair=repair) and is_registered(scope, plan.lock) and not has_leftovers(scope)
            is_change = plan.changes_lock or bool(staged)
            directories = {key: one.directory for key, one in staged.items()}
            if judge is not None and is_change:
                judge(plan, directories)
            if dry_run or (settled and not (plan.changes_lock or staged or signatures or signers)):
                targets, problems = target_rows(view)
                return InstallReport(
                    scope=scope.kind,
                    lock=scope.lock,
                    changed=dry_run and bool(plan.changes_lock or staged or view.pending(repair=repair)),
                    contacted=proposal.contacted,
                    skills=_skill_reports(plan, proposal),
                    targets=targets,
                    problems=(*proposal.problems, *problems),
                )
            places = [store.path(skill.tree, skill.name) for skill in plan.lock.skills]
            apply = partial(
                apply_plan,
                plan,
                scope,
                stage,
                staged=staged.values(),
                signatures=signatures,
                signers=signers,
                stored=list(filter(os.path.isdir, places)),
                repair=repair,
                next_state=proposal.next_state,
            )
            try:
                report = (
                    permission.carry_out(installation.changes_of(plan, directories, scope, permission, signers), apply)
                    if is_change
                    else apply()
                )
            except LockReplacedError:
                continue
            return replace(
                report,
                contacted=proposal.contacted,
                skills=_skill_reports(plan, proposal),
                problems=(*proposal.problems, *report.problems),
            )
    raise StoreError(scope.lock, "other commands keep replacing it; run this one again")


def _new_signers(proposal: Proposal, store: SkillStore) -> dict[tuple[str, str], set[str]]:
    """Return the signers that were verified for the fetched skills and are not recorded in the store."""
    found: dict[tuple[str, str], set[str]] = {}
    for skill in proposal.lock.skills:
        key = (skill.tree, skill.name)
        if key in proposal.staged and skill.signer is not None and skill.signer not in store.signers(*key):
            found.setdefault(key, set()).add(skill.signer)
    return found


def _skill_reports(plan: InstallPlan, proposal: Proposal) -> tuple[SkillReport, ...]:
    return tuple(
        SkillReport(skill=change.skill, action=change.action, status=proposal.statuses.get(change.skill.key))
        for change in plan.changes
    )
