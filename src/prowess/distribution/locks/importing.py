"""Imports locks of other tools: fetches each skill, checks it by that tool's own hash, and locks all of them or none.

    report = import_locks(scope, [read_foreign_lock(data, path)], InstallOptions())

A lock of another tool says where a skill came from, but often not at which state. If the source has other bytes by now,
the recorded hash does not fit, and nothing is imported, because another version was installed.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.files.contained import ContainedRoot
from prowess._internal.files.tree_digest import read_tree
from prowess.distribution.installation.change import change_lock
from prowess.distribution.installation.fetching import Fetcher
from prowess.distribution.installation.installing import InstallOptions, consent_of, proposed
from prowess.distribution.installation.report import Problem, unmet_problems
from prowess.distribution.permission.permission import Permission
from prowess.distribution.resolution.declared import declared_requirements
from prowess.errors import (
    ApprovalRequiredError,
    AuditError,
    DistributionError,
    IntegrityError,
    PolicyDeniedError,
    SkillError,
)
from prowess.lockfile.foreign.hashes import SkillFile, is_covered, matches
from prowess.lockfile.foreign.locale_order import UnknownOrderError
from prowess.lockfile.foreign.reading import read_foreign_lock
from prowess.lockfile.lock import LockedSkill, Lockfile
from prowess.lockfile.places import lock_bytes
from prowess.lockfile.source_reference import parse_reference

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from prowess.distribution.installation.change import Proposal
    from prowess.distribution.installation.disk.staging import Stage
    from prowess.distribution.installation.report import InstallReport
    from prowess.distribution.installation.scope import InstallScope
    from prowess.distribution.sources.protocol import Fetched, Offer, SkillSource
    from prowess.lockfile.foreign.entries import ForeignLock, ForeignSkill, RecordedHash
    from prowess.lockfile.source_reference import SourceReference

ANY_VERSION = "*"
_MOST_REASONS = 20


class ForeignFile(Struct, frozen=True, kw_only=True):
    """A lock of another tool, and the directory to which its local paths are relative."""

    lock: ForeignLock
    directory: str


def read_foreign_file(path: str) -> ForeignFile:
    """Read the lock of another tool from disk.

    Raises:
        LockfileError: the file's name tells no tool, or it is not in that tool's format.
        OSError: the file cannot be read.
    """
    if (data := lock_bytes(path)) is None:
        raise FileNotFoundError(2, os.strerror(2), path)
    return ForeignFile(lock=read_foreign_lock(data, path), directory=os.path.dirname(os.path.abspath(path)))


def import_locks(
    scope: InstallScope,
    files: Sequence[ForeignFile],
    options: InstallOptions,
    *,
    permission: Permission | None = None,
) -> InstallReport:
    """Install every skill of the locks of other tools, or none.

    Raises:
        DistributionError: a skill cannot be fetched, or the lock has nothing to check it by. Names every such skill.
        IntegrityError: a single skill has other bytes than the lock recorded.
        StoreError, LockfileError: as in `change_lock`.
    """
    asked = permission or Permission("packages.install", scope.kind)

    def propose(before: Lockfile, stage: Stage) -> Proposal:
        locked: dict[tuple[str, str], LockedSkill] = {}
        faults: list[SkillError] = []
        with Fetcher(stage, options.access, asked) as fetcher:
            for file in files:
                for skill in file.lock.skills:
                    try:
                        one = _imported(skill, file.directory, scope, fetcher)
                    except (PolicyDeniedError, ApprovalRequiredError, AuditError):
                        raise
                    except SkillError as fault:
                        faults.append(fault)
                        continue
                    if locked.setdefault(one.key, one) != one:
                        faults.append(DistributionError(f"two locks have different copies of skill {skill.name!r}"))
            _raise(faults)
            lock = _with_skills(before, locked.values())
            return replace(proposed(lock, fetcher), problems=(*_unmapped(files), *unmet_problems(lock)))

    return change_lock(scope, propose, permission=asked, judge=consent_of(scope, options), dry_run=options.dry_run)


def _with_skills(before: Lockfile, imported: Collection[LockedSkill]) -> Lockfile:
    """Return the lock with the imported skills. New ones are ordered after the present ones."""
    orders = {skill.key: skill.order for skill in before.skills}
    last = max(orders.values(), default=0)
    skills = {skill.key: skill for skill in before.skills}
    for skill in imported:
        last += skill.key not in orders
        skills[skill.key] = replace(skill, order=orders.get(skill.key, last))
    return Lockfile(skills=tuple(skills.values()), targets=before.targets)


def _unmapped(files: Sequence[ForeignFile]) -> Iterator[Problem]:
    for file in files:
        for what in file.lock.unmapped:
            message = f"{file.lock.format}: prowess.lock has no place for {what}"
            yield Problem(code="unmapped", skill=None, message=message, fix="")


def _raise(faults: Sequence[SkillError]) -> None:
    if len(faults) == 1:
        raise faults[0]
    if faults:
        more = f"; and {len(faults) - _MOST_REASONS} more" if len(faults) > _MOST_REASONS else ""
        reasons = "; ".join(map(str, faults[:_MOST_REASONS]))
        raise DistributionError(f"{len(faults)} skills cannot be imported, so none was: {reasons}{more}")


def _imported(skill: ForeignSkill, directory: str, scope: InstallScope, fetcher: Fetcher) -> LockedSkill:
    what = f"skill {skill.name!r} of {skill.source}"
    if not skill.can_be_checked:
        raise DistributionError(f"{what}: the lock recorded neither a commit nor a hash; install it anew")
    reference = parse_reference(skill.source, base=directory, has_version=False)
    fetcher.expect(reference, (skill.name,))
    source = fetcher.open(reference)
    offer = _offer_of(skill, source, reference)
    fetched = fetcher.fetch(source, offer)
    _check(skill, fetched, what)
    return LockedSkill(
        name=fetched.name,
        package=fetched.package or "",
        version=fetched.version,
        source=reference.relative_to(scope.directory),
        path=fetched.path or None,
        commit=fetched.commit,
        artifact=fetched.artifact,
        tree=fetched.tree,
        requires=_requires(skill, fetched.directory),
        requested=ANY_VERSION if skill.is_requested else None,
        unsigned=skill.unsigned,
    )


def _requires(skill: ForeignSkill, directory: str) -> tuple[str, ...]:
    """Return the requirements that the skill declares, and others that the lock of the other tool has."""
    declared = declared_requirements(directory)
    names = {requirement.name for requirement in declared}
    return (*map(str, declared), *(name for name in skill.requires if name not in names))


def _offer_of(skill: ForeignSkill, source: SkillSource, reference: SourceReference) -> Offer:
    state = skill.state if reference.kind in {"git", "oci"} else None
    offers = source.offers(state)
    found = [offer for offer in offers if skill.path is not None and offer.path == skill.path]
    found = found or [offer for offer in offers if offer.name == skill.name]
    if len(found) != 1:
        problem = f"has {len(found)} skills of this name" if found else "does not have it any more"
        raise DistributionError(f"skill {skill.name!r}: {reference.source} {problem}")
    return found[0]


def _check(skill: ForeignSkill, fetched: Fetched, what: str) -> None:
    """Compare the fetched files with all hashes of the lock."""
    if skill.artifact is not None and fetched.artifact != skill.artifact:
        raise IntegrityError(what, skill.artifact, fetched.artifact or "none")
    if skill.hashes:
        files = skill_files(fetched.directory)
        try:
            wrong = next((recorded for recorded in skill.hashes if not _fits(recorded, fetched, files)), None)
        except UnknownOrderError as fault:
            raise DistributionError(f"{what}: its hash depends on the order of names, and {fault}") from None
        if wrong is None and not skill.is_pinned and skill.artifact is None:
            _require_covered(skill, files, what)
        if wrong is not None:
            raise DistributionError(
                f"{what} has other files than were recorded ({wrong.kind} hash): update it with the tool that wrote "
                "the lock, and import again"
            )


def _require_covered(skill: ForeignSkill, files: Mapping[str, SkillFile], what: str) -> None:
    """Refuse a file that no hash depends on: nothing shows that it is the file that was installed."""
    for path in files:
        if not any(is_covered(recorded, path) for recorded in skill.hashes):
            raise DistributionError(f"{what}: no hash of the lock covers its file {path}; install it anew")


def _fits(recorded: RecordedHash, fetched: Fetched, files: Mapping[str, SkillFile]) -> bool:
    is_artifact = recorded.kind == "skills-site" and recorded.expected == fetched.artifact
    return is_artifact or matches(recorded, files)


def skill_files(directory: str) -> Mapping[str, SkillFile]:
    """Return the files of a skill by their path in it, `skill.oms.sig` included. Raises OSError."""
    manifest = read_tree(directory)
    records = (*manifest.files, *([manifest.signature] if manifest.signature else ()))
    files = {}
    with ContainedRoot(directory) as root:
        for record in records:
            with root.open(record.path) as file:
                data = file.read(record.size + 1)
                files[record.path] = SkillFile(data=data, executable=bool(file.stat.st_mode & stat.S_IXUSR))
    return files
