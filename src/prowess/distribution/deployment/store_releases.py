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
from prowess.distribution.deployment.repository import DeploymentRepository
from prowess.distribution.deployment.repository_creation import create_shared_repository
from prowess.distribution.permission.facts import CallRules
from prowess.distribution.permission.permission import Permission
from prowess.distribution.sources.archives.unpacking import unpack_archive
from prowess.distribution.sources.index.document import is_index_name
from prowess.errors import DistributionError
from prowess.format.reading import read_skill
from prowess.governance.service.deployments import DeployedSkill, Deployment, DeploymentResult
from prowess.governance.shared_decisions import SharedDecisions
from prowess.governance.store_approvals import StoreApprovals
from prowess.policy.blocks.blocked import Blocks
from prowess.policy.policy import Policy
from prowess.policy.policy_in_force import PolicyInForce
from prowess.store.shared.release_files import SharedReleaseFiles
from prowess.store.shared.votes import SharedVoteStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.distribution.deployment.release import ReleasedSkill, SkillRelease
    from prowess.distribution.deployment.repository import DeployReport
    from prowess.distribution.publishing.package import Check
    from prowess.governance.service.service_call import ServiceCall
    from prowess.signing.keys import PrivateKey


class StoreReleases:
    """The deployment of the tenant of a call; with the tenant `*`, of the organisation.

    `check` returns errors of skills. Without the organisation's `key`, releases can be read.
    """

    def __init__(self, call: ServiceCall, key: PrivateKey | None, check: Check) -> None:
        self._call, self._key, self._check = call, key, check
        self._storage = SharedStorage(SharedReleaseFiles(call.database))

    def add(self, archives: Sequence[bytes], environments: Sequence[str] = ()) -> DeploymentResult:
        """See `ReleasePublisher`."""
        with _unpacked(archives) as directories:
            signing, repository = self._signing("packages.deploy"), self._repository()
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
        return tuple(self._shown(one, is_present=not at) for at, one in enumerate(repository.releases()))

    def refresh(self) -> None:
        """Renew the date of the deployment, if there is one, so that machines go on to trust it."""
        repository = DeploymentRepository("", self._storage)
        if repository.exists:
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

    def _shown(self, release: SkillRelease, *, is_present: bool) -> Deployment:
        skills = tuple(map(_skill, release.skills))
        return Deployment(number=release.number, tenant=self._call.tenant, present=is_present, skills=skills)


def rules_of(call: ServiceCall) -> CallRules:
    """Return who decides about changes of packages by a call: the policy of its tenant, and that of this machine.

    Raises:
        StoreError: the store cannot be used.
        PolicyError: a policy, a block or an approval is damaged.
    """
    rules = SharedDecisions(call.database).rules()
    actor = call.actor
    who = {"user": (actor.user,), "role": actor.roles, "tenant": (call.tenant,)}
    policy = PolicyInForce(
        Policy(files=rules.files, blocks=Blocks([rules.blocks])),
        who=who if actor.team is None else {**who, "team": (actor.team,)},
        statements=StoreApprovals(SharedVoteStore(call.database), call.database.url),
    )
    policy.require()
    return CallRules(policy=policy, audit=call.log, typed_by=f"{actor.identified_by}:{actor.user}", caller=call.caller)


@contextmanager
def _unpacked(archives: Sequence[bytes]) -> Iterator[list[str]]:
    """Unpack archives of skills into a private directory, each in a folder with the name of the skill.

    Raises:
        DistributionError, IntegrityError, UnsafePathError, LimitExceededError: an archive cannot be used.
        SkillParseError: it is no skill.
    """
    with TemporaryDirectory(prefix="prowess-deploy-") as place:
        found = []
        for number, data in enumerate(archives):
            what, draft = f"archive {number + 1}", os.path.join(place, f"{number}.draft")
            os.mkdir(draft)
            unpack_archive(data, draft, "skill", what=what)
            name = read_skill(os.path.join(draft, "skill")).frontmatter.name
            if not name or not is_index_name(name):
                raise DistributionError(f"{what} is no skill that can be deployed: its name is missing or not valid")
            folder = os.path.join(place, str(number), name)
            os.mkdir(os.path.dirname(folder))
            os.rename(os.path.join(draft, "skill"), folder)
            found.append(folder)
        yield found


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
