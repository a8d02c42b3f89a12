"""The deployment of an organisation, or of one tenant, in its store (`ReleasePublisher`).

The organisation's key signs every part of it. The policy of the tenant is asked about each change, as for a deployment
in a directory.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from prowess.distribution.deployment.deploy import (
    DeploymentKeys,
    deploy,
    deprecate,
    revoke,
    roll_back_deployment,
)
from prowess.distribution.deployment.permitted import SCOPE
from prowess.distribution.deployment.release_storage import SharedStorage
from prowess.distribution.deployment.repository import TIMESTAMP_DAYS, DeploymentRepository
from prowess.distribution.deployment.repository_creation import create_shared_repository
from prowess.distribution.permission.facts import CallRules
from prowess.distribution.permission.permission import Permission
from prowess.distribution.publishing.standard_check import standard_errors
from prowess.distribution.sources.archives.unpacking import unpack_archive
from prowess.distribution.sources.index.document import is_index_name
from prowess.errors import DistributionError
from prowess.format.reading import read_skill
from prowess.governance.deployers import record_deployer
from prowess.governance.service.deployments import DeployedSkill, Deployment, DeploymentResult
from prowess.governance.shared_decisions import SharedDecisions
from prowess.policy.policy_in_force import PolicyInForce
from prowess.store.shared.release_files import SharedReleaseFiles
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.distribution.deployment.release import ReleasedSkill, SkillRelease
    from prowess.distribution.deployment.repository import DeployReport
    from prowess.distribution.publishing.package import Check
    from prowess.governance.service.service_call import ServiceCall
    from prowess.signing.keys import PrivateKey
    from prowess.store.shared.database import SharedDatabase


class StoreReleases:
    """The deployment of the tenant of a call; with the tenant `*`, of the organisation.

    `check` returns errors of skills. Without the organisation's `key`, releases can be read.
    """

    def __init__(self, call: ServiceCall, key: PrivateKey | None, check: Check = standard_errors) -> None:
        self._call, self._key, self._check = call, key, check
        self._storage = SharedStorage(SharedReleaseFiles(call.database))

    def add(self, archives: Sequence[bytes], environments: Sequence[str] = ()) -> DeploymentResult:
        """See `ReleasePublisher`."""
        with _unpacked(archives) as directories:
            signing, repository = self._signing("packages.deploy"), self._repository()
            trees = (read_skill(directory).digest for directory in directories)
            record_deployer(self._call, [tree for tree in trees if tree is not None])
            return _result(deploy(directories, repository, signing, check=self._check, environments=environments))

    def revoke(self, skills: Sequence[str]) -> DeploymentResult:
        """See `ReleasePublisher`."""
        return _result(revoke(skills, self._repository(), self._signing("packages.revoke")))

    def deprecate(self, skill: str, successor: str | None) -> DeploymentResult:
        """See `ReleasePublisher`."""
        return _result(deprecate(skill, successor, self._repository(), self._signing("packages.deploy")))

    def roll_back(self, number: int | None) -> DeploymentResult:
        """See `ReleasePublisher`."""
        return _result(roll_back_deployment(number, self._repository(), self._signing("packages.rollback")))

    def releases(self) -> tuple[Deployment, ...]:
        """See `ReleasePublisher`."""
        repository = DeploymentRepository("", self._storage)
        if not repository.exists:
            return ()
        tenant = self._call.tenant
        return tuple(_shown(one, tenant, is_present=not at) for at, one in enumerate(repository.releases()))

    def refresh(self, days: int = TIMESTAMP_DAYS) -> None:
        """Renew the date of the deployment if it ends in less than so many days, so that machines go on to trust it."""
        repository = DeploymentRepository("", self._storage)
        if repository.exists and repository.ends_within(days):
            repository.refresh(self._required_key())

    def _repository(self) -> DeploymentRepository:
        return create_shared_repository(self._storage, self._required_key())

    def _required_key(self) -> PrivateKey:
        if self._key is None:
            reason = "the organisation's key is not here; run this where `prowess admin status` finds it"
            raise DistributionError(f"{self._storage.shown} cannot be signed: {reason}")
        return self._key

    def _signing(self, tool: str) -> DeploymentKeys:
        key = self._required_key()
        return DeploymentKeys([key], lambda: key, Permission(tool, SCOPE, partial(rules_of, self._call)))


def present_deployments(database: SharedDatabase) -> tuple[Deployment, ...]:
    """Return the present releases that hold for the tenant of a database: the organisation's, then its own.

    Raises:
        DistributionError: the deployment in the store is damaged.
        StoreError: the store cannot be used.
    """
    found = []
    for owner in dict.fromkeys((EVERY, database.tenant)):
        repository = DeploymentRepository("", SharedStorage(SharedReleaseFiles(database, owner)))
        release = repository.present() if repository.exists else None
        if release is not None:
            found.append(_shown(release, owner, is_present=True))
    return tuple(found)


def deployed_names(database: SharedDatabase) -> Iterator[str]:
    """Yield the names of the deployed skills of a tenant. Nothing is read before the first. Raises as above."""
    for release in present_deployments(database):
        yield from (skill.name for skill in release.skills)


def rules_of(call: ServiceCall) -> CallRules:
    """Return who decides about changes of packages by a call: the policy of its tenant, and that of this machine.

    Raises:
        StoreError: the store cannot be used.
        PolicyError: a policy, a block or an approval is damaged.
    """
    actor = call.actor
    who = {"user": (actor.user,), "role": actor.roles, "tenant": (call.tenant,)}
    policy = PolicyInForce(
        organisations=[SharedDecisions(call.database)],
        who=who if actor.team is None else {**who, "team": (actor.team,)},
    )
    policy.require()
    return CallRules(policy=policy, audit=call.log, typed_by=f"{actor.identified_by}:{actor.user}", caller=call.caller)


@contextmanager
def _unpacked(archives: Sequence[bytes]) -> Iterator[list[str]]:
    """Unpack archives into a private directory, and yield the folders of the skills, each named as its skill.

    An archive has one skill with SKILL.md at its root, or several, each in a folder.

    Raises:
        DistributionError, IntegrityError, UnsafePathError, LimitExceededError: an archive cannot be used.
        SkillParseError: it is no skill.
    """
    with TemporaryDirectory(prefix="prowess-deploy-") as place:
        found: list[str] = []
        for number, data in enumerate(archives):
            what = f"archive {number + 1}"
            unpack_archive(data, place, str(number), what=what)
            root = os.path.join(place, str(number))
            is_one = os.path.exists(os.path.join(root, "SKILL.md"))
            for folder in [root] if is_one else [os.path.join(root, name) for name in sorted(os.listdir(root))]:
                name = read_skill(folder).frontmatter.name
                if not name or not is_index_name(name):
                    raise DistributionError(
                        f"{what}: a skill in it cannot be deployed; its name is missing or not valid"
                    )
                named = os.path.join(place, f"{number}-{len(found)}", name)
                os.mkdir(os.path.dirname(named))
                os.rename(folder, named)
                found.append(named)
        yield found


def _shown(release: SkillRelease, tenant: str, *, is_present: bool) -> Deployment:
    return Deployment(
        number=release.number, tenant=tenant, present=is_present, skills=tuple(map(_skill, release.skills))
    )


def _skill(skill: ReleasedSkill) -> DeployedSkill:
    return DeployedSkill(
        name=skill.name,
        version=skill.version,
        tree=skill.tree,
        environments=skill.environments,
        deprecated=skill.deprecated,
        successor=skill.successor,
    )


def _result(report: DeployReport) -> DeploymentResult:
    release, before = report.release, report.before
    there = {skill.name: skill.tree for skill in before.skills}
    return DeploymentResult(
        skills=tuple(map(_skill, release.skills)),
        added=tuple(one.name for one in release.skills if one.name not in there),
        replaced=tuple(one.name for one in release.skills if there.get(one.name, one.tree) != one.tree),
        removed=tuple(one.name for one in before.skills if release.find(one.name) is None),
        release=release.number,
        state=report.state,
        signed_by=report.signed_by,
        missing=report.missing,
    )
