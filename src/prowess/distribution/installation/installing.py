"""Install, remove and roll back: each one proposes a lock, and `change_lock` carries it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prowess.distribution import installation
from prowess.distribution.installation.change import Proposal, change_lock, missing_skills, read_former
from prowess.distribution.installation.disk.store import SkillStore
from prowess.distribution.installation.fetching import Fetcher, fetch_locked
from prowess.distribution.installation.plan import with_skills
from prowess.distribution.installation.report import Problem
from prowess.distribution.installation.requests import ALL, SkillRequest, chosen_offers
from prowess.distribution.installation.states import earlier_state, states_of
from prowess.distribution.installation.targets.copies import require_target
from prowess.distribution.sources.protocol import Access
from prowess.errors import DistributionError
from prowess.lockfile import Lockfile
from prowess.lockfile.lock import LockedSkill, LockedTarget
from prowess.lockfile.unmet import unmet

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from prowess.distribution.installation.change import Judge
    from prowess.distribution.installation.disk.staging import Stage
    from prowess.distribution.installation.report import InstallReport
    from prowess.distribution.installation.scope import InstallScope
    from prowess.distribution.sources.protocol import Fetched, Offer

ANY_VERSION = "*"


class InstallOptions(Struct, frozen=True, kw_only=True):
    """How to install. `targets` are added to those of the lock."""

    frozen: bool = False
    repair: bool = False
    dry_run: bool = False
    targets: tuple[LockedTarget, ...] = ()
    access: Access = Access()


def install(
    scope: InstallScope, requests: Sequence[SkillRequest], options: InstallOptions, *, judge: Judge | None = None
) -> InstallReport:
    """Install the requested skills, and everything that the lock names and is not in place.

    Raises:
        SeveralSkillsError: a source has several skills, and none was named.
        DistributionError, UnavailableError, IntegrityError: a source does not have the skill, or other bytes.
        StoreError, LockfileError: as in `change_lock`.
    """
    for target in options.targets:
        require_target(target, scope)

    def propose(before: Lockfile, stage: Stage) -> Proposal:
        _require_fitting(before)
        lock = with_targets(before, options.targets)
        with Fetcher(stage, options.access) as fetcher:
            if options.frozen and (reason := _why_outdated(requests, before, lock, scope)) is not None:
                return Proposal(lock=before, refused=_outdated(reason))
            if not options.frozen:
                lock = with_skills(lock, _newest(requests, scope, fetcher))
            chosen = set(fetcher.fetched)
            absent = [skill for skill in missing_skills(lock, scope) if (skill.tree, skill.name) not in chosen]
            fetch_locked(absent, scope, fetcher)
            return proposed(lock, fetcher, {(skill.tree, skill.name) for skill in absent})

    return change_lock(scope, propose, judge=judge, repair=options.repair, dry_run=options.dry_run)


def proposed(lock: Lockfile, fetcher: Fetcher, locked: Collection[tuple[str, str]] = ()) -> Proposal:
    """Return the proposal of a lock and of what was fetched for it, with signers (see `with_signers`)."""
    statuses: dict[tuple[str, str], str] = {}
    if fetcher.fetched:
        signed = installation.with_signers(lock, fetcher.fetched, locked)
        lock, statuses = signed.lock, signed.statuses
    return Proposal(lock=lock, staged=fetcher.staged, statuses=statuses, contacted=fetcher.contacted)


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


def _newest(requests: Sequence[SkillRequest], scope: InstallScope, fetcher: Fetcher) -> Iterable[LockedSkill]:
    for request in requests:
        source = fetcher.open(request.reference)
        for offer in chosen_offers(request, source.offers(request.reference.version)):
            yield locked_skill(fetcher.fetch(source, offer), offer, request, scope)


def locked_skill(fetched: Fetched, offer: Offer, request: SkillRequest, scope: InstallScope) -> LockedSkill:
    """Return the block of the lock for a fetched skill that a person asked for."""
    return LockedSkill(
        name=fetched.name,
        package=fetched.package or "",
        version=fetched.version,
        source=request.reference.relative_to(scope.directory),
        path=fetched.path or None,
        commit=fetched.commit,
        artifact=fetched.artifact,
        tree=fetched.tree,
        requires=offer.requires or (),
        requested=request.reference.version or ANY_VERSION,
    )


def with_targets(lock: Lockfile, targets: Iterable[LockedTarget]) -> Lockfile:
    """Return the lock with these targets; a target of the same agent is replaced."""
    chosen = {target.key: target for target in (*lock.targets, *targets)}
    return replace(lock, targets=tuple(sorted(chosen.values(), key=lambda target: target.key)))


def remove(
    scope: InstallScope, names: Sequence[str], *, targets: Sequence[str] = (), judge: Judge | None = None
) -> InstallReport:
    """Remove installed skills with the dependencies that nothing else needs, and targets by their agents.

    Raises:
        DistributionError: a skill is not installed, is required by another one, or has copies of several packages.
        StoreError, LockfileError: as in `change_lock`.
    """

    def propose(before: Lockfile, stage: Stage) -> Proposal:
        del stage
        gone = {_installed(name, before).key for name in names}
        left = tuple(skill for skill in before.skills if skill.key not in gone)
        for skill in left:
            if needed := sorted({_name_of(one) for one in skill.requires} & {name for name, _ in gone}):
                fault = f"{needed[0]!r} is required by {skill.name!r}; remove both, or remove {skill.name!r} first"
                raise DistributionError(fault)
        for agent in targets:
            if agent not in {target.agent for target in before.targets}:
                raise DistributionError(f"the lock has no target {agent!r}")
        kept = tuple(target for target in before.targets if target.agent not in targets)
        return Proposal(lock=Lockfile(skills=_still_needed(left, before), targets=kept))

    return change_lock(scope, propose, judge=judge)


def _installed(name: str, lock: Lockfile) -> LockedSkill:
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
    was_needed = {_name_of(one) for skill in before.skills for one in skill.requires}
    while True:
        needed = {_name_of(one) for skill in left for one in skill.requires}
        kept = tuple(skill for skill in left if skill.requested or skill.name in needed or skill.name not in was_needed)
        if len(kept) == len(left):
            return kept
        left = kept


def _name_of(requirement: str) -> str:
    return requirement.partition("@")[0].strip()


def roll_back(scope: InstallScope, number: int | None, *, judge: Judge | None = None) -> InstallReport:
    """Make an earlier state of the lock the present one. Contacts nothing.

    Raises:
        DistributionError: there is no such state, or the store does not have its skills any more.
        StoreError, LockfileError: as in `change_lock`.
    """

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

    return change_lock(scope, propose, judge=judge)
