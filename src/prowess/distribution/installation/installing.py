"""Install, remove and roll back: each one proposes a lock, and `change_lock` carries it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prowess.distribution import installation
from prowess.distribution.installation.change import Proposal, change_lock
from prowess.distribution.installation.disk.store import SkillStore
from prowess.distribution.installation.fetching import Fetcher, fetch_locked
from prowess.distribution.installation.report import Problem
from prowess.distribution.installation.requests import ALL, SkillRequest
from prowess.distribution.installation.scope import read_former
from prowess.distribution.installation.states import earlier_state, states_of
from prowess.distribution.installation.targets.copies import require_target
from prowess.distribution.installation.verification import missing_skills
from prowess.distribution.permission.permission import Permission
from prowess.distribution.sources.protocol import Access
from prowess.errors import DistributionError
from prowess.lockfile import Lockfile
from prowess.lockfile.lock import LockedTarget  # noqa: TC001 -- msgspec resolves it
from prowess.lockfile.requirement import Requirement
from prowess.lockfile.unmet_requirements import unmet

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from prowess.distribution.installation.change import Judge
    from prowess.distribution.installation.disk.staging import Stage
    from prowess.distribution.installation.plan import InstallPlan
    from prowess.distribution.installation.report import InstallReport
    from prowess.distribution.installation.resolving import Mode
    from prowess.distribution.installation.scope import InstallScope
    from prowess.lockfile.lock import LockedSkill


class InstallOptions(Struct, frozen=True, kw_only=True):
    """How to install. `targets` are added to those of the lock. `accepted` are words of `plan.ACCEPTANCES`.

    `allow_unsigned` accepts, and records in the lock, that skills have no signature, also if they had one before. A
    policy that requires signatures still refuses them.
    """

    frozen: bool = False
    repair: bool = False
    dry_run: bool = False
    targets: tuple[LockedTarget, ...] = ()
    accepted: tuple[str, ...] = ()
    allow_unsigned: bool = False
    access: Access = Access()


def install(
    scope: InstallScope,
    requests: Sequence[SkillRequest],
    options: InstallOptions,
    *,
    permission: Permission | None = None,
) -> InstallReport:
    """Install the requested skills, and everything that the lock names and is not in place.

    Raises:
        SeveralSkillsError: a source has several skills, and none was named.
        DistributionError, UnavailableError, IntegrityError: a source does not have the skill, or other bytes.
        StoreError, LockfileError: as in `change_lock`.
    """
    for target in options.targets:
        require_target(target, scope)

    asked = permission or Permission("packages.install", scope.kind)

    def propose(before: Lockfile, stage: Stage) -> Proposal:
        _require_fitting(before)
        with Fetcher(stage, options.access, asked) as fetcher:
            lock = with_targets(_mirrored(before, scope, fetcher), options.targets)
            if options.frozen and (reason := _why_outdated(requests, before, lock, scope)) is not None:
                return Proposal(lock=before, refused=_outdated(reason))
            if not options.frozen:
                lock = _with_requests(lock, requests, scope, fetcher)
            return _completed(lock, scope, fetcher, allow_unsigned=options.allow_unsigned)

    return change_lock(
        scope,
        propose,
        permission=asked,
        judge=consent_of(scope, options),
        repair=options.repair,
        dry_run=options.dry_run,
    )


def consent_of(scope: InstallScope, options: InstallOptions) -> Judge:
    """Return a judge that asks for consent."""

    def judged(plan: InstallPlan, staged: Mapping[tuple[str, str], str]) -> None:
        installation.require_consent(plan, staged, scope, options.accepted, allow_unsigned=options.allow_unsigned)

    return judged


def proposed(
    lock: Lockfile, fetcher: Fetcher, locked: Collection[tuple[str, str]] = (), *, allow_unsigned: bool = False
) -> Proposal:
    """Return the proposal of a lock and of what was fetched for it, with signers (see `with_signers`)."""
    statuses: dict[tuple[str, str], str] = {}
    if fetcher.fetched:
        signed = installation.with_signers(lock, fetcher.fetched, locked, allow_unsigned=allow_unsigned)
        lock, statuses = signed.lock, signed.statuses
    named = {(skill.tree, skill.name) for skill in lock.skills}
    staged = {key: one for key, one in fetcher.fetched.items() if key in named}
    return Proposal(lock=lock, staged=staged, statuses=statuses, contacted=fetcher.contacted)


def _mirrored(before: Lockfile, scope: InstallScope, fetcher: Fetcher) -> Lockfile:
    """Return the lock, or that of the mirror if there is none yet."""
    if fetcher.mirror is None or read_former(scope) is not None:
        return before
    return fetcher.mirror.lock() or before


def _require_fitting(lock: Lockfile) -> None:
    faults = unmet(lock)
    if faults:
        what = "; ".join(str(fault) for fault in faults)
        raise DistributionError(f"the skills in the lock do not fit together ({what}); run `prowess lock`")


def _why_outdated(
    requests: Sequence[SkillRequest], before: Lockfile, after: Lockfile, scope: InstallScope
) -> str | None:
    """Return what the lock does not have, or None."""
    if read_former(scope) is None:
        return f"there is no lock at {scope.lock}"
    if after != before:
        return "the lock does not have the target"
    for request in requests:
        source = request.reference.relative_to(scope.directory)
        names = {skill.name for skill in before.skills if skill.source == source}
        absent = [name for name in request.names if name not in names and name != ALL]
        if absent or not names:
            return f"the lock does not have {', '.join(absent) or 'a skill'} of {source}"
    return None


def _outdated(reason: str) -> Problem:
    message = f"--frozen: {reason}; nothing was changed"
    return Problem(code="lock_outdated", skill=None, message=message, fix="prowess install --no-frozen")


def _with_requests(lock: Lockfile, requests: Sequence[SkillRequest], scope: InstallScope, fetcher: Fetcher) -> Lockfile:
    return installation.Resolving(lock, scope, fetcher).resolved(requests) if requests else lock


def update(
    scope: InstallScope, names: Sequence[str], options: InstallOptions, *, permission: Permission | None = None
) -> InstallReport:
    """Bring installed skills to the newest versions that all demands allow: those that are named, or all.

    Dependencies of a named skill may change too, if its new version demands that. Everything else stays as it is.

    Raises:
        DistributionError: a skill is not installed, or its source does not have it any more.
        ResolutionError: no versions meet all demands.
        UnavailableError, IntegrityError: as the sources raise.
        StoreError, LockfileError: as in `change_lock`.
    """
    asked = permission or Permission("packages.update", scope.kind)

    def propose(before: Lockfile, stage: Stage) -> Proposal:
        named = {installed(name, before).key for name in names}
        needed = _needs_of(named, before)

        def mode_of(skill: LockedSkill) -> Mode:
            if skill.key in named or not named:
                return "released"
            return "preferred" if skill.name in needed else "held"

        with Fetcher(stage, options.access, asked) as fetcher:
            return _completed(installation.Resolving(before, scope, fetcher).resolved(mode_of=mode_of), scope, fetcher)

    return change_lock(scope, propose, permission=asked, judge=consent_of(scope, options), dry_run=options.dry_run)


def resolve_lock(
    scope: InstallScope, options: InstallOptions, *, permission: Permission | None = None
) -> InstallReport:
    """Choose versions that meet all demands of the lock, and keep each locked one that does. Raises as `update`."""
    asked = permission or Permission("packages.update", scope.kind)

    def propose(before: Lockfile, stage: Stage) -> Proposal:
        with Fetcher(stage, options.access, asked) as fetcher:
            resolving = installation.Resolving(before, scope, fetcher)
            return _completed(resolving.resolved(mode_of=_preferred), scope, fetcher)

    return change_lock(scope, propose, permission=asked, judge=consent_of(scope, options), dry_run=options.dry_run)


def _preferred(skill: LockedSkill) -> Mode:
    """Let each locked skill change if the demands ask for it."""
    del skill
    return "preferred"


def _completed(lock: Lockfile, scope: InstallScope, fetcher: Fetcher, *, allow_unsigned: bool = False) -> Proposal:
    """Fetch the skills of a lock that are neither in the store nor fetched, and return the proposal."""
    chosen = set(fetcher.fetched)
    absent = [skill for skill in missing_skills(lock, scope) if (skill.tree, skill.name) not in chosen]
    fetch_locked(absent, scope, fetcher)
    locked = {(skill.tree, skill.name) for skill in absent}
    return proposed(lock, fetcher, locked, allow_unsigned=allow_unsigned)


def _needs_of(keys: set[tuple[str, str]], lock: Lockfile) -> set[str]:
    """Return the names of all dependencies of these skills, also the indirect ones."""
    found: set[str] = set()
    waiting = [skill for skill in lock.skills if skill.key in keys]
    while waiting:
        names = {Requirement.parse(one).name for one in waiting.pop().requires} - found
        found |= names
        waiting += [skill for skill in lock.skills if skill.name in names]
    return found


def with_targets(lock: Lockfile, targets: Iterable[LockedTarget]) -> Lockfile:
    """Return the lock with these targets; a target of the same agent is replaced."""
    chosen = {target.key: target for target in (*lock.targets, *targets)}
    return replace(lock, targets=tuple(sorted(chosen.values(), key=lambda target: target.key)))


def remove(
    scope: InstallScope, names: Sequence[str], *, targets: Sequence[str] = (), permission: Permission | None = None
) -> InstallReport:
    """Remove installed skills with the dependencies that nothing else needs, and targets by their agents.

    Raises:
        DistributionError: a skill is not installed, is required by another one, or has copies of several packages.
        StoreError, LockfileError: as in `change_lock`.
    """
    asked = permission or Permission("packages.remove", scope.kind)

    def propose(before: Lockfile, stage: Stage) -> Proposal:
        del stage
        gone = {installed(name, before).key for name in names}
        left = tuple(skill for skill in before.skills if skill.key not in gone)
        for skill in left:
            if needed := sorted({Requirement.parse(one).name for one in skill.requires} & {name for name, _ in gone}):
                fault = f"{needed[0]!r} is required by {skill.name!r}; remove both, or remove {skill.name!r} first"
                raise DistributionError(fault)
        for agent in targets:
            if agent not in {target.agent for target in before.targets}:
                raise DistributionError(f"the lock has no target {agent!r}")
        kept = tuple(target for target in before.targets if target.agent not in targets)
        return Proposal(lock=Lockfile(skills=_still_needed(left, before), targets=kept))

    return change_lock(scope, propose, permission=asked)


def installed(name: str, lock: Lockfile) -> LockedSkill:
    """Return the skill of a name, `name@package` or `package/name`."""
    bare, _, package = name.partition("@")
    if not package and "/" in name:
        package, _, bare = name.rpartition("/")
    found = lock.named(bare) if not package else tuple(filter(None, (lock.find(bare, package),)))
    if not found:
        raise DistributionError(f"{name!r} is not installed; `prowess list` shows the skills")
    if len(found) > 1:
        copies = ", ".join(f"{skill.name}@{skill.package}" for skill in found if skill.package)
        raise DistributionError(f"{name!r} is installed from several packages; name one: {copies}")
    return found[0]


def _still_needed(left: tuple[LockedSkill, ...], before: Lockfile) -> tuple[LockedSkill, ...]:
    """Return the skills without those dependencies that only removed skills required."""
    was_needed = {Requirement.parse(one).name for skill in before.skills for one in skill.requires}
    while True:
        needed = {Requirement.parse(one).name for skill in left for one in skill.requires}
        kept = tuple(skill for skill in left if skill.requested or skill.name in needed or skill.name not in was_needed)
        if len(kept) == len(left):
            return kept
        left = kept


def roll_back(scope: InstallScope, number: int | None, *, permission: Permission | None = None) -> InstallReport:
    """Make an earlier state of the lock the present one. Contacts nothing.

    Raises:
        DistributionError: there is no such state, or the store does not have its skills any more.
        StoreError, LockfileError: as in `change_lock`.
    """
    asked = permission or Permission("packages.rollback", scope.kind)

    def propose(before: Lockfile, stage: Stage) -> Proposal:
        del before, stage
        state = earlier_state(states_of(scope, read_former(scope)), number)
        lock = state.lockfile
        store = SkillStore(scope.home)
        for skill in lock.skills:
            if not store.has(skill.tree, skill.name):
                raise DistributionError(
                    f"state {state.number} has {skill.name!r}, which is damaged in the store or was pruned; "
                    "nothing was changed"
                )
        return Proposal(lock=lock, next_state=state.number)

    return change_lock(scope, propose, permission=asked)
