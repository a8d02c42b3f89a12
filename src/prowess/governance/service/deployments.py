"""Deployed skills of an organisation or one tenant: which releases there are, and new ones.

What makes, signs and verifies a release is in `prowess.distribution.deployment`; it is handed in as `ReleasePublisher`.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Annotated, Protocol

from msgspec import Meta, Struct

from prowess.governance.service.listing import NoSuchItemError, page_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.governance.service.listing import ListPage, ListQuery
    from prowess.governance.service.service_call import ServiceCall

_Name = Annotated[str, Meta(min_length=1, max_length=256)]
MOST_ARCHIVES = 100
MOST_RELEASES = 10**9


class DeployedSkill(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One skill of a release. `tree` is the digest of its directory. Without `environments`, every machine has it."""

    name: str
    version: str | None
    tree: str
    environments: tuple[str, ...] = ()
    deprecated: bool = False
    successor: str | None = None


class Deployment(Struct, frozen=True, kw_only=True):
    """One release. `present` states whether machines have it, or get it at once."""

    number: int
    tenant: str
    present: bool
    skills: tuple[DeployedSkill, ...]


class NewDeployment(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Skills to deploy, each as an archive that `prowess pack` writes; in JSON as base64.

    With `environments`, only machines of these environments get them.
    """

    archives: Annotated[tuple[bytes, ...], Meta(min_length=1, max_length=MOST_ARCHIVES)]
    environments: tuple[_Name, ...] = ()


class RevokedSkills(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Skills to take away from every machine, by name or tree digest."""

    skills: Annotated[tuple[_Name, ...], Meta(min_length=1, max_length=MOST_ARCHIVES)]


class DeprecatedSkill(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A deployed skill that people should no longer use, and the one to use in its place."""

    skill: _Name
    successor: _Name | None = None


class WantedRelease(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An earlier release to go back to; without a number, the one before the present one."""

    release: Annotated[int, Meta(ge=1, le=MOST_RELEASES)] | None = None


class DeploymentResult(Struct, frozen=True, kw_only=True):
    """The result for a release: the document of `prowess deploy --json`. `state` is published, pending or unchanged."""

    skills: tuple[DeployedSkill, ...]
    added: tuple[str, ...]
    replaced: tuple[str, ...]
    removed: tuple[str, ...]
    release: int
    state: str
    signed_by: tuple[str, ...]
    missing: int
    index: str | None = None


class ReleasePublisher(Protocol):
    """The deployment of one tenant (`*`: of the organisation) in the store, for those who sign.

    Raises:
        DistributionError: the change cannot be made; nothing was changed.
        InvalidSkillError: a check of a skill found errors.
        PolicyDeniedError, ApprovalRequiredError: the policy does not permit it.
        StoreError: the store cannot be used.
    """

    def add(self, archives: Sequence[bytes], environments: Sequence[str] = ()) -> DeploymentResult:
        """Add these skills; each replaces the one with its name."""

    def revoke(self, skills: Sequence[str]) -> DeploymentResult:
        """Take skills away, by name or by tree digest."""

    def deprecate(self, skill: str, successor: str | None) -> DeploymentResult:
        """Mark a deployed skill as deprecated."""

    def roll_back(self, number: int | None) -> DeploymentResult:
        """Make a new release with the content of release `number`, or of the one before the present one."""

    def releases(self) -> Sequence[Deployment]:
        """Return all releases, the present one first."""


class DeploymentService:
    """The deployment of the tenant of a call. With the tenant `*` it is that of the organisation.

    Raises:
        PolicyDeniedError: by each change, if no role of the actor, or the policy of the tenant, permits it.
        AuditError: by each change, if the act cannot be recorded; nothing was changed.
    """

    def __init__(self, call: ServiceCall, publisher: ReleasePublisher) -> None:
        self._call, self._publisher = call, publisher

    def list(self, query: ListQuery) -> ListPage[Deployment]:
        """Return releases, the present one first. Raises StoreError or DistributionError."""
        self._call.require_person()
        return page_of(self._publisher.releases(), query, lambda one: f"{MOST_RELEASES - one.number:010}")

    def get(self, number: int) -> Deployment:
        """Return a release. Raises NoSuchItemError if there is none with this number."""
        self._call.require_person()
        for one in self._publisher.releases():
            if one.number == number:
                return one
        raise NoSuchItemError(kind="release", id=str(number))

    def add(self, new: NewDeployment) -> DeploymentResult:
        """Deploy skills. Machines get them with their next look, sessions of replicas with their next call.

        Raises as `ReleasePublisher`.
        """
        self._call.require("deploy")
        digests = [hashlib.sha256(data).hexdigest() for data in new.archives]
        facts = {"archives": digests, "environments": list(new.environments)}
        with self._call.act("deploy", facts):
            return self._publisher.add(new.archives, new.environments)

    def revoke(self, revoked: RevokedSkills) -> DeploymentResult:
        """Take skills away from every machine. Raises as `add`."""
        self._call.require("deploy")
        with self._call.act("revoke", {"skills": list(revoked.skills)}):
            return self._publisher.revoke(revoked.skills)

    def deprecate(self, deprecated: DeprecatedSkill) -> DeploymentResult:
        """Mark a deployed skill as deprecated. Raises as `add`."""
        self._call.require("deploy")
        with self._call.act("deprecate", {"skill": deprecated.skill, "successor": deprecated.successor}):
            return self._publisher.deprecate(deprecated.skill, deprecated.successor)

    def roll_back(self, number: int | None = None) -> DeploymentResult:
        """Go back to an earlier release. Raises as `add`."""
        self._call.require("deploy")
        with self._call.act("rollback", {"release": number}):
            return self._publisher.roll_back(number)
