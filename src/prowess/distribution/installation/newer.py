"""Which installed skills have something newer at their sources. Changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.distribution.installation.disk.staging import Stage
from prowess.distribution.installation.fetching import Fetcher
from prowess.distribution.installation.installing import installed
from prowess.distribution.installation.resolving import Resolving
from prowess.distribution.installation.scope import read_former
from prowess.distribution.permission.permission import Permission
from prowess.distribution.sources.protocol import Access
from prowess.lockfile import Lockfile, parse_lock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.distribution.installation.resolving import Mode
    from prowess.distribution.installation.scope import InstallScope
    from prowess.lockfile import LockedSkill


class NewerSkill(Struct, frozen=True, kw_only=True):
    """An installed skill, the version that an update would choose, and the newest one of its source.

    `has_changed` means that an update would bring other files. A version is None if the skill states none.
    """

    name: str
    package: str
    source: str
    requested: str | None
    installed: str | None
    allowed: str | None
    newest: str | None
    has_changed: bool

    @property
    def is_outdated(self) -> bool:
        """Whether there is something newer, allowed or not."""
        return self.has_changed or self.newest != self.installed

    def as_dict(self) -> dict[str, object]:
        """Return the form of `--json`."""
        return {
            "name": self.name,
            "package": self.package or None,
            "source": self.source,
            "requested": self.requested,
            "installed": self.installed,
            "allowed": self.allowed,
            "newest": self.newest,
            "outdated": self.is_outdated,
        }


def newer_skills(
    scope: InstallScope,
    names: Sequence[str] = (),
    access: Access | None = None,
    *,
    permission: Permission | None = None,
) -> tuple[tuple[NewerSkill, ...], tuple[str, ...]]:
    """Return the installed skills (those that are named, or all), and the hosts that were contacted.

    Raises:
        DistributionError: a skill is not installed, or its source does not have it any more.
        ResolutionError, UnavailableError, StoreError, LockfileError: as an update raises.
        PolicyDeniedError, ApprovalRequiredError, AuditError: a source must not be contacted.
    """
    former = read_former(scope)
    lock = Lockfile() if former is None else parse_lock(former, scope.lock)
    named = {installed(name, lock).key for name in names}

    def mode_of(skill: LockedSkill) -> Mode:
        return "released" if skill.key in named or not named else "preferred"

    asked = permission or Permission("packages.update", scope.kind)
    with Stage(scope.home) as stage, Fetcher(stage, access or Access(), asked) as fetcher:
        resolving = Resolving(lock, scope, fetcher)
        updated = {skill.key: skill for skill in resolving.resolved(mode_of=mode_of).skills}
        chosen = [skill for skill in lock.skills if skill.key in named or not named]
        found = tuple(
            NewerSkill(
                name=skill.name,
                package=skill.package,
                source=skill.source,
                requested=skill.requested,
                installed=skill.version,
                allowed=updated.get(skill.key, skill).version,
                newest=resolving.latest(skill),
                has_changed=updated.get(skill.key, skill).tree != skill.tree,
            )
            for skill in chosen
        )
        return found, fetcher.contacted
