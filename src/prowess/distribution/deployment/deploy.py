"""Changes of a deployment: deploy, revoke and roll back. Each is a new release, signed by those who may."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess.distribution.deployment.release import ReleasedSkill
from prowess.distribution.publishing.directory_registry import require_publishable
from prowess.distribution.publishing.package import read_checked_packages
from prowess.distribution.publishing.packing import pack
from prowess.errors import DistributionError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prowess.distribution.deployment.release import SkillRelease
    from prowess.distribution.deployment.repository import DeploymentRepository, DeployReport
    from prowess.distribution.permission.permission import Permission
    from prowess.distribution.publishing.package import Check
    from prowess.signing.keys import PrivateKey


class DeploymentKeys:
    """The keys of one command. `online` is called if the online key is needed and not among `keys`.

    `permission` asks the policy for the call `packages.deploy`, `.revoke` or `.rollback` about the changed skills.
    """

    __slots__ = ("keys", "online", "permission")

    def __init__(self, keys: Sequence[PrivateKey], online: Callable[[], PrivateKey], permission: Permission) -> None:
        self.keys, self.online, self.permission = keys, online, permission


def deploy(
    directories: Sequence[str],
    to: DeploymentRepository,
    signing: DeploymentKeys,
    *,
    check: Check,
    environments: Sequence[str] = (),
) -> DeployReport:
    """Add these skills to a deployment; each replaces the one with its name. Without any, sign the pending release.

    `check` returns the errors of the skills; with one error nothing is signed. With `environments`, only hosts in one
    of them get these skills.

    Raises:
        InvalidSkillError: `check` returned errors.
        DistributionError: two of them have one name; or see `DeploymentRepository.release`.
    """
    if not directories:
        return to.release(None, {}, signing.keys, signing.online, signing.permission)
    added: dict[str, ReleasedSkill] = {}
    artifacts: dict[str, bytes] = {}
    for package in read_checked_packages(directories, check):
        require_publishable(package)
        data = pack(package.contents.files)
        skill = ReleasedSkill(
            name=package.name,
            version=package.version,
            tree=package.contents.tree,
            artifact=hashlib.sha256(data).hexdigest(),
            size=len(data),
            environments=tuple(sorted(set(environments))),
        )
        added[skill.name], artifacts[skill.file] = skill, data

    def change(before: SkillRelease) -> SkillRelease:
        kept = [skill for skill in before.skills if skill.name not in added]
        return replace(before, skills=(*kept, *added.values()))

    places = dict(zip(added, directories, strict=True))
    return to.release(change, artifacts, signing.keys, signing.online, signing.permission, directories=places)


def revoke(wanted: Sequence[str], to: DeploymentRepository, signing: DeploymentKeys) -> DeployReport:
    """Take skills away from every host, by name or by tree digest.

    Raises:
        DistributionError: one of them is not deployed; or see `DeploymentRepository.release`.
    """

    def change(before: SkillRelease) -> SkillRelease:
        for text in wanted:
            if not any(text in (skill.name, skill.tree) for skill in before.skills):
                raise DistributionError(f"{text} is not deployed in {to.directory}; nothing was changed")
        kept = tuple(skill for skill in before.skills if skill.name not in wanted and skill.tree not in wanted)
        return replace(before, skills=kept)

    return to.release(change, {}, signing.keys, signing.online, signing.permission)


def deprecate(skill: str, successor: str | None, to: DeploymentRepository, signing: DeploymentKeys) -> DeployReport:
    """Mark a deployed skill as deprecated. Hosts keep it.

    Raises:
        DistributionError: it, or its successor, is not deployed; or see `DeploymentRepository.release`.
    """

    def change(before: SkillRelease) -> SkillRelease:
        for name in (skill, *([] if successor is None else [successor])):
            if before.find(name) is None:
                raise DistributionError(f"{name} is not deployed in {to.directory}; nothing was changed")
        return replace(
            before,
            skills=tuple(
                replace(one, deprecated=True, successor=successor) if one.name == skill else one
                for one in before.skills
            ),
        )

    return to.release(change, {}, signing.keys, signing.online, signing.permission)


def roll_back_deployment(number: int | None, to: DeploymentRepository, signing: DeploymentKeys) -> DeployReport:
    """Make a new release with the content of release `number`, or of the one before the present one.

    Raises:
        DistributionError: there is no such release; or see `DeploymentRepository.release`.
    """
    present = to.present()
    if number is None:
        if present is None or present.number == 1:
            raise DistributionError(f"{to.directory} has no release before the present one")
        number = present.number - 1
    former = to.former(number)
    return to.release(
        lambda before: replace(before, skills=former.skills), {}, signing.keys, signing.online, signing.permission
    )
